#include <brotli/decode.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

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

  /// The unit in which memory is allocated. The library does not report how many bytes it frees, so the first unit of
  /// an allocation holds its size.
  union Unit {
    std::size_t count;
    std::max_align_t aligned;
  };

  static void* take(void* memory, std::size_t size) {
    const std::size_t count = 1 + (size + sizeof(Unit) - 1) / sizeof(Unit);
    Unit* const piece = std::allocator<Unit>().allocate(count);
    piece->count = count;
    *static_cast<std::size_t*>(memory) += count * sizeof(Unit);
    return piece + 1;
  }
  static void give(void* memory, void* what) {
    if (what == nullptr) return;
    Unit* const piece = static_cast<Unit*>(what) - 1;
    *static_cast<std::size_t*>(memory) -= piece->count * sizeof(Unit);
    std::allocator<Unit>().deallocate(piece, piece->count);
  }

  std::size_t memory_ = 0;
  std::unique_ptr<BrotliDecoderState, Destroy> state_;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Coding> makeBrotliCoding() { return std::make_unique<BrotliCoding>(); }

}  // namespace sluice::content
