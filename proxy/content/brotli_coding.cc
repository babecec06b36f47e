#include <brotli/decode.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "proxy/content/coding.h"

namespace sluice::content {
namespace {

class BrotliCoding final : public Coding {
 public:
  BrotliCoding() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
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

 private:
  struct Destroy {
    void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
  };

  std::unique_ptr<BrotliDecoderState, Destroy> state_;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Coding> makeBrotliCoding() { return std::make_unique<BrotliCoding>(); }

}  // namespace sluice::content
