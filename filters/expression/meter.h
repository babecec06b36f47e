// The bounds of the work that the expressions of one request cause: the steps that they take and the bytes that they
// make.
//
// ExpressionWork lives as long as the request, a Meter for one evaluation; the arena outlives both. One thread. Once a
// bound is hit, it stays hit, and the evaluation fails whatever its operators absorb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "proxy/base/arena.h"
#include "proxy/processing/call.h"

namespace sluice::filters {

/// The work of all steps of one request so far, or of one attempt in steps of a Backend. A step is the work of one
/// instruction of a pattern on one byte, which takes some nanoseconds.
struct ExpressionWork {
  /// The steps after which other exchanges of the worker have their turn: about a millisecond.
  static constexpr std::uint64_t kTurn = std::uint64_t{128} * 1024;

  /// Returns true, once, if others should have their turn now.
  bool endTurn() {
    if (steps < turnEnds) return false;
    turnEnds = steps + kTurn;
    return true;
  }

  std::uint64_t steps = 0;
  std::size_t made = 0;
  std::uint64_t turnEnds = kTurn;
};

/// Returns the work of the request that the step works on.
inline ExpressionWork& workOf(const processing::Call& call) {
  static constexpr char kOwner = 0;  // its address stands for the processors of all uses
  return call.shared<ExpressionWork>(&kOwner);
}

class Meter {
 public:
  /// The steps of each node of an expression, and of each piece that a text is taken apart into.
  static constexpr std::uint64_t kNodeSteps = 4;
  static constexpr std::uint64_t kPieceSteps = 6;
  /// The bytes that an operation walks over in a step.
  static constexpr std::size_t kBytesPerStep = 4;
  /// The bytes of strings and lists that an evaluation may make, and all of a request together.
  static constexpr std::size_t kMostMadeBytes = 1024 * 1024;
  static constexpr std::size_t kMostMadeInAll = 4 * kMostMadeBytes;

  /// `mostSteps` is limits.stepWork.
  Meter(base::Arena& arena, ExpressionWork& work, std::uint64_t mostSteps)
      : arena_(arena), work_(work), mostSteps_(mostSteps) {}

  /// Counts a node, or an operation, that walks over `bytes`. Returns false if that is too much.
  bool step(std::size_t bytes = 0) { return spend(kNodeSteps + bytes / kBytesPerStep); }
  /// Counts so many steps. Returns false if that is too much.
  bool spend(std::uint64_t steps) {
    work_.steps += steps;
    return work_.steps <= mostSteps_;
  }
  /// Returns room for `size` bytes, or null if that is too much.
  char* bytes(std::size_t count) { return static_cast<char*>(allocate(count, 1)); }
  /// Returns room for `count` objects, which are not initialised, or null.
  template <typename T>
  T* array(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }
  /// Returns true if the request has taken all that its expressions may take together.
  bool isSpent() const { return work_.steps > mostSteps_ || work_.made > kMostMadeInAll; }
  bool isExhausted() const { return isSpent() || made_ > kMostMadeBytes; }

 private:
  void* allocate(std::size_t size, std::size_t alignment) {
    if (size > kMostMadeBytes || (made_ += size) > kMostMadeBytes) {
      made_ = kMostMadeBytes + 1;
      return nullptr;
    }
    if ((work_.made += size) > kMostMadeInAll) return nullptr;
    return arena_.allocate(size, alignment);
  }

  base::Arena& arena_;
  ExpressionWork& work_;
  const std::uint64_t mostSteps_;
  std::size_t made_ = 0;
};

}  // namespace sluice::filters
