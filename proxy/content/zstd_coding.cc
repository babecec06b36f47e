#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "proxy/content/coding.h"

namespace sluice::content {
namespace {

constexpr int kMostWindowLog = 23;
constexpr std::size_t kMagicSize = 4;

class ZstdCoding final : public Coding {
 public:
  ZstdCoding() : stream_(ZSTD_createDStream()) {
    if (!stream_) std::abort();
    if (ZSTD_isError(ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMostWindowLog)) != 0) std::abort();
  }

  bool decode(std::string_view& in, std::span<char>& out) override {
    for (;;) {
      if (in.empty() && drained_) return true;
      if (!checkMagic(in)) return false;
      const std::size_t before = in.size() + out.size();
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t outcome = ZSTD_decompressStream(stream_.get(), &to, &from);
      in.remove_prefix(from.pos);
      out = out.subspan(to.pos);
      if (ZSTD_isError(outcome) != 0) return false;
      complete_ = outcome == 0;
      drained_ = complete_ || !out.empty();
      if (complete_) magicSeen_ = 0;
      if (!complete_ || in.size() + out.size() == before) return true;
    }
  }

  bool complete() const override { return complete_; }
  std::size_t memory() const override { return ZSTD_sizeof_DStream(stream_.get()); }

 private:
  struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  /// Returns true while the input may begin a frame of RFC 8878, by its magic number (sections 3.1.1 and 3.1.2). The
  /// library may have been built to read its older formats too, whose windows no limit bounds.
  bool checkMagic(std::string_view in) {
    for (std::size_t i = 0; magicSeen_ < kMagicSize && i < in.size(); ++i) {
      const auto byte = static_cast<std::uint32_t>(static_cast<unsigned char>(in[i]));
      magic_ = (magicSeen_ == 0 ? 0 : magic_) | byte << (8 * magicSeen_);
      const std::uint32_t known = 0xFFFFFFFFU >> (8 * (kMagicSize - ++magicSeen_));
      const bool frame = magic_ == (ZSTD_MAGICNUMBER & known);
      const bool skippable = (magic_ & ZSTD_MAGIC_SKIPPABLE_MASK) == (ZSTD_MAGIC_SKIPPABLE_START & known);
      if (!frame && !skippable) return false;
    }
    return true;
  }

  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::uint32_t magic_ = 0;
  std::size_t magicSeen_ = 0;  // bytes of the current frame's magic number
  bool drained_ = true;        // no output waits for room; the library fails after many calls without progress
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Coding> makeZstdCoding() { return std::make_unique<ZstdCoding>(); }

}  // namespace sluice::content
