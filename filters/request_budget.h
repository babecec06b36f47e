// How many requests may pass, at a rate and at a time, for whoever shares the budget: one for all threads.
//
// A leaky bucket in one word. It holds what was used, in requests, and not when it will be used up, in time: a reload
// that changes the numbers keeps what was used, and exchanges of the old and the new numbers share one budget.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "proxy/base/clock.h"

namespace sluice::filters {

struct Allowance {
  static constexpr std::uint32_t kMostPerMinute = 10'000'000;
  static constexpr std::uint32_t kMostBurst = 1'000'000;
  static constexpr std::uint32_t kMostConcurrency = 1'000'000;

  std::uint32_t perMinute = 0;    // up to kMostPerMinute; 0: no limit
  std::uint32_t burst = 1;        // 1 to kMostBurst: what may come at once
  std::uint32_t concurrency = 0;  // up to kMostConcurrency; 0: no limit
};

class RequestBudget {
 public:
  /// Takes one request, or says after how long to come again (whole seconds, rounded up, at least one). What is in
  /// flight in `beside` counts too. With a concurrency the request is in flight until giveBack().
  std::optional<std::chrono::seconds> take(const Allowance& allowance, base::MonotonicTime now,
                                           const RequestBudget* beside = nullptr) const;
  /// The last that is done with this budget, which may be gone right after it.
  void giveBack() const { inFlight_.fetch_sub(1, std::memory_order_release); }

  /// A new budget would say the same: nothing is in flight, and what was used has come back.
  bool untouched(const Allowance& allowance, base::MonotonicTime now) const;
  /// Counts as used what is used in `other`. Nobody else has this one yet.
  void startFrom(const RequestBudget& other) const {
    word_.store(other.word_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

 private:
  bool takeOff(std::uint32_t concurrency, const RequestBudget* beside) const;
  std::optional<std::chrono::seconds> takeFromRate(const Allowance& allowance, base::MonotonicTime now) const;

  /// The upper half: what is used, in 1/4096 of a request; the lower half: when that was so, in ticks of 1/4096 s.
  mutable std::atomic<std::uint64_t> word_{0};
  mutable std::atomic<std::uint32_t> inFlight_{0};
};

}  // namespace sluice::filters
