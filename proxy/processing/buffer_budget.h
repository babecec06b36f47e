// The bytes that the bodies held for processors may take in all of the process: limits.processorBufferTotal.
//
// One for the process; all workers take from it. Whoever is refused does without: nobody waits, so nobody waits for
// each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace sluice::processing {

class BufferBudget {
 public:
  explicit BufferBudget(std::uint64_t most) : most_(most) {}

  void setMost(std::uint64_t most) { most_.store(most, std::memory_order_relaxed); }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  bool take(std::uint64_t bytes) {
    const std::uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes <= most_.load(std::memory_order_relaxed)) return true;
    giveBack(bytes);
    return false;
  }
  void giveBack(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> most_;
  std::atomic<std::uint64_t> used_{0};
};

/// What one holder of a body has taken; given back with it.
class BufferShare {
 public:
  explicit BufferShare(BufferBudget& budget) : budget_(&budget) {}
  BufferShare(BufferShare&& other) noexcept : budget_(other.budget_), taken_(std::exchange(other.taken_, 0)) {}
  BufferShare(const BufferShare&) = delete;
  BufferShare& operator=(const BufferShare&) = delete;
  ~BufferShare() { release(); }

  /// There is room for `bytes` in all; in steps of kUnit, so that few touch what all workers share.
  bool reach(std::uint64_t bytes) {
    if (bytes <= taken_) return true;
    const std::uint64_t more = (bytes - taken_ + kUnit - 1) / kUnit * kUnit;
    if (!budget_->take(more)) return false;
    taken_ += more;
    return true;
  }
  void release() {
    if (taken_ > 0) budget_->giveBack(std::exchange(taken_, 0));
  }

 private:
  static constexpr std::uint64_t kUnit = 64 * 1024;

  BufferBudget* budget_;
  std::uint64_t taken_ = 0;
};

}  // namespace sluice::processing
