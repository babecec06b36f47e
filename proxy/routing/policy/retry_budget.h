// A retry budget bounds how many requests may be retries, so that they do not bury a Backend which fails (GEP-3388).
// There is one for each rule that retries, and for each Backend that a policy constrains, in the whole process. It
// survives reloads; any thread.
//
// A request costs one atomic increment. Only a request that wants to be retried looks back at that count, behind a
// mutex, and assumes that the requests since the last look were evenly spread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "proxy/base/clock.h"

namespace sluice::routing {

class RetryBudget;

/// A retry in progress. It is charged to its budget, which outlives it, until it is destroyed.
class ActiveRetry {
 public:
  ActiveRetry(ActiveRetry&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)) {}
  ActiveRetry& operator=(ActiveRetry&& other) noexcept {
    std::swap(budget_, other.budget_);
    return *this;
  }
  ~ActiveRetry();

 private:
  friend class RetryBudget;
  explicit ActiveRetry(const RetryBudget& budget);

  const RetryBudget* budget_;
};

/// How many retries a budget allows.
struct RetryBounds {
  std::uint32_t percent = 0;  // of the requests
  std::uint32_t least = 0;    // in each `minInterval`, whatever the percentage is
  /// If it is set, it replaces `least`: retries are allowed while fewer than so many are in progress.
  std::optional<std::uint32_t> minConcurrent = std::nullopt;
  /// If it is set, no more than so many are in progress at a time, whatever the other bounds allow.
  std::optional<std::uint32_t> maxConcurrent = std::nullopt;

  friend bool operator==(const RetryBounds&, const RetryBounds&) = default;
};

class RetryBudget {
 public:
  /// Retries may be a share of the requests of the last `interval`; some are allowed in each `minInterval` in any case.
  explicit RetryBudget(base::Duration interval = std::chrono::seconds(10),
                       base::Duration minInterval = std::chrono::seconds(1))
      : slot_(interval / kSlots), minInterval_(minInterval) {}

  /// Counts a request, once, however often it is retried.
  void count(base::MonotonicTime now) const;
  /// Takes one more retry out of the budget; nullopt if there is no room for it.
  std::optional<ActiveRetry> tryTake(base::MonotonicTime now, const RetryBounds& bounds) const;

 private:
  friend class ActiveRetry;

  static constexpr std::uint64_t kSlots = 10;
  struct IntervalSlot {
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
  };
  /// The counts of the last interval. Each slot is a tenth of it, and has a number.
  struct History {
    std::array<IntervalSlot, kSlots> slots{};
    std::uint64_t latest = 0;     // the number of the latest slot
    std::uint64_t requests = 0;   // counted so far
    base::MonotonicTime begun{};  // the last time that `minInterval` began
    std::uint32_t taken = 0;      // retries since `begun`

    IntervalSlot& slot(std::uint64_t number) { return slots[number % kSlots]; }
    void lookBack(std::uint64_t now, std::uint64_t counted);
    bool withinMinimum(base::MonotonicTime now, base::Duration interval, std::uint32_t least);
    bool withinShare(std::uint32_t percent) const;
  };

  bool allows(base::MonotonicTime now, const RetryBounds& bounds) const;
  std::uint64_t slotAt(base::MonotonicTime time) const {
    return static_cast<std::uint64_t>(time.time_since_epoch() / slot_);
  }

  const base::Duration slot_;  // the length of a slot
  const base::Duration minInterval_;
  mutable std::atomic<std::uint64_t> requests_{0};
  mutable std::atomic<base::MonotonicTime::rep> begun_{0};  // when the first request came
  mutable std::atomic<std::uint32_t> active_{0};            // retries in progress; incremented under the mutex
  mutable std::mutex mutex_;
  mutable History history_;  // guarded by the mutex
};

inline ActiveRetry::ActiveRetry(const RetryBudget& budget) : budget_(&budget) {
  budget.active_.fetch_add(1, std::memory_order_relaxed);
}
inline ActiveRetry::~ActiveRetry() {
  if (budget_ != nullptr) budget_->active_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sluice::routing
