#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "proxy/content/coding.h"

namespace sluice::content {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipWrapper = 16;

class ZlibCoding final : public Coding {
 public:
  explicit ZlibCoding(ZlibFormat format) : format_(format) {
    const int bits = format == ZlibFormat::kGzip ? kWindowBits + kGzipWrapper : kWindowBits;
    if (inflateInit2(&stream_, bits) != Z_OK) std::abort();
  }
  ~ZlibCoding() override { inflateEnd(&stream_); }

  bool decode(std::string_view& in, std::span<char>& out) override {
    if (format_ == ZlibFormat::kDeflate && !takeHeader(in)) return true;
    while (headerFed_ < headerSize_) {
      std::string_view header(header_.data() + headerFed_, headerSize_ - headerFed_);
      const std::size_t before = header.size();
      if (!inflateSome(header, out)) return false;
      if (header.size() == before) return true;
      headerFed_ += before - header.size();
    }
    while (!in.empty()) {
      if (complete_ && !beginMember()) return false;
      const std::size_t before = in.size() + out.size();
      if (!inflateSome(in, out)) return false;
      if (in.size() + out.size() == before) return true;
    }
    // Output that zlib held back for lack of room comes without input.
    return complete_ || out.empty() || inflateSome(in, out);
  }

  bool complete() const override { return complete_; }
  std::size_t memory() const override { return kMemory; }

 private:
  /// Reads the first two bytes of a deflated body, which show whether it is wrapped (RFC 1950 section 2.2). Returns
  /// false until both have arrived.
  bool takeHeader(std::string_view& in) {
    if (headerSize_ == header_.size()) return true;
    while (headerSize_ < header_.size() && !in.empty()) {
      header_[headerSize_++] = in.front();
      in.remove_prefix(1);
    }
    if (headerSize_ < header_.size()) return false;
    const unsigned first = static_cast<unsigned char>(header_[0]);
    const unsigned second = static_cast<unsigned char>(header_[1]);
    const bool wrapped = (first & 15U) == Z_DEFLATED && (first >> 4U) <= 7 && (first * 256 + second) % 31 == 0;
    if (!wrapped && inflateReset2(&stream_, -kWindowBits) != Z_OK) std::abort();
    return true;
  }

  bool beginMember() {
    if (format_ != ZlibFormat::kGzip || inflateReset(&stream_) != Z_OK) return false;
    complete_ = false;
    return true;
  }

  /// Makes one call of inflate(), which takes as much as it can.
  bool inflateSome(std::string_view& in, std::span<char>& out) {
    // zlib only reads this, but declares it const with ZLIB_CONST alone.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(std::min<std::size_t>(in.size(), kMostAtOnce));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), kMostAtOnce));
    const std::size_t offered = stream_.avail_in;
    const std::size_t room = stream_.avail_out;
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    in.remove_prefix(offered - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    complete_ = outcome == Z_STREAM_END;
    return complete_ || outcome == Z_OK || outcome == Z_BUF_ERROR;
  }

  /// The window of 32 KiB, and the memory that zlib's zconf.h states for inflate().
  static constexpr std::size_t kMemory = std::size_t{40} * 1024;
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

  const ZlibFormat format_;
  z_stream stream_{};
  std::array<char, 2> header_{};
  std::size_t headerSize_ = 0;
  std::size_t headerFed_ = 0;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Coding> makeZlibCoding(ZlibFormat format) { return std::make_unique<ZlibCoding>(format); }

}  // namespace sluice::content
