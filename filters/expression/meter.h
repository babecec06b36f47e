// The bounds of one evaluation: the steps that it takes and the bytes that it makes.
//
// Lives for one evaluation; the arena outlives it. Once a bound is hit, it stays hit, and the evaluation fails
// whatever its operators absorb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "proxy/base/arena.h"

namespace sluice::filters {

class Meter {
 public:
  /// Each node of an expression is a step, and so are kBytesPerStep bytes that an operation walks over.
  static constexpr std::uint64_t kMostSteps = 65536;
  static constexpr std::size_t kBytesPerStep = 256;
  /// The bytes of strings and lists that an evaluation may make.
  static constexpr std::size_t kMostMadeBytes = 1024 * 1024;

  explicit Meter(base::Arena& arena) : arena_(arena) {}

  /// Counts a step that walks over `bytes`. Returns false if that is too much.
  bool step(std::size_t bytes = 0) {
    steps_ += 1 + bytes / kBytesPerStep;
    return steps_ <= kMostSteps;
  }
  /// Returns room for `size` bytes, or null if that is too much.
  char* bytes(std::size_t count) { return static_cast<char*>(allocate(count, 1)); }
  /// Returns room for `count` objects, which are not initialised, or null.
  template <typename T>
  T* array(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }
  bool isExhausted() const { return steps_ > kMostSteps || made_ > kMostMadeBytes; }

 private:
  void* allocate(std::size_t size, std::size_t alignment) {
    if (size > kMostMadeBytes || (made_ += size) > kMostMadeBytes) {
      made_ = kMostMadeBytes + 1;
      return nullptr;
    }
    return arena_.allocate(size, alignment);
  }

  base::Arena& arena_;
  std::uint64_t steps_ = 0;
  std::size_t made_ = 0;
};

}  // namespace sluice::filters
