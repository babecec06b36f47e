#include <brotli/decode.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "proxy/content/coding.h"

namespace sluice::content {
namespace {

class BrotliCoding final : public Coding {
 public:
  BrotliCoding() : state_(BrotliDecoderCreateInstance(&BrotliCoding::take, &BrotliCoding::give, &memory_)) {
    if (!state_) std::abort();
  }

  bool decode(std::string_view& in, std::span<char>& out) override {
    if (complete_) return in.empty();
    std::size_t inSize = in.size();
    std::size_t outSize = out.size();
    const auto* next = reinterpret_cast<const std::uint8_t*>(in.data());
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    const BrotliDecoderResult outcome =
        BrotliDecoderDecompressStream(state_.get(), &inSize, &next, &outSize, &to, nullptr);
    in.remove_prefix(in.size() - inSize);
    out = out.subspan(out.size() - outSize);
    complete_ = outcome == BROTLI_DECODER_RESULT_SUCCESS;
    return outcome != BROTLI_DECODER_RESULT_ERROR && (!complete_ || in.empty());
  }

  bool complete() const override { return complete_; }
  std::size_t memory() const override { return memory_; }

 private:
  struct Destroy {
    void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
  };

  // The library does not say how much it gives back: that stands before what it got.
  static constexpr std::size_t kBefore = alignof(std::max_align_t);

  static void* take(void* memory, std::size_t size) {
    auto* const begin = static_cast<char*>(std::malloc(kBefore + size));
    if (begin == nullptr) std::abort();
    std::memcpy(begin, &size, sizeof(size));
    *static_cast<std::size_t*>(memory) += size;
    return begin + kBefore;
  }
  static void give(void* memory, void* what) {
    if (what == nullptr) return;
    char* const begin = static_cast<char*>(what) - kBefore;
    std::size_t size = 0;
    std::memcpy(&size, begin, sizeof(size));
    *static_cast<std::size_t*>(memory) -= size;
    std::free(begin);
  }

  std::size_t memory_ = 0;
  std::unique_ptr<BrotliDecoderState, Destroy> state_;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Coding> makeBrotliCoding() { return std::make_unique<BrotliCoding>(); }

}  // namespace sluice::content
