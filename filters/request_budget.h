// Limits requests by rate and by concurrency for all clients that share the budget: one for all threads.
//
// A leaky bucket in one word. It stores how many requests were used, not the time at which they will be free again. So
// a reload that changes the numbers keeps the used part, and exchanges of the old and the new numbers share one budget.
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

  std::uint32_t perMinute = 0;    // up to kMostPerMinute; 0 means no limit
  std::uint32_t burst = 1;        // 1 to kMostBurst: requests that may come at once
  std::uint32_t concurrency = 0;  // up to kMostConcurrency; 0 means no limit
};

class RequestBudget {
 public:
  /// Takes one request, or returns the time after which to retry (whole seconds, rounded up, at least one). Requests in
  /// flight in `beside` count too. With a concurrency limit the request is in flight until giveBack().
  std::optional<std::chrono::seconds> take(const Allowance& allowance, base::MonotonicTime now,
                                           const RequestBudget* beside = nullptr) const;
  /// Ends a request in flight. The caller must not use the budget afterwards: it may be destroyed right after this.
  void giveBack() const { inFlight_.fetch_sub(1, std::memory_order_release); }

  /// Returns true if a new budget would give the same answers: nothing is in flight, and all of the rate is available
  /// again.
  bool untouched(const Allowance& allowance, base::MonotonicTime now) const;
  /// Adds the use of `other` to its own. Only while no other thread uses this budget.
  void startFrom(const RequestBudget& other) const {
    word_.store(other.word_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  /// Takes over the used part of the rate of `other`, if it is larger than its own. Only while no other thread takes
  /// from one of them.
  void startNotBelow(const RequestBudget& other, const Allowance& allowance, base::MonotonicTime now) const;
  /// Returns true if requests are in flight.
  bool isInUse() const { return inFlight_.load(std::memory_order_acquire) > 0; }

 private:
  bool takeOff(std::uint32_t concurrency, const RequestBudget* beside) const;
  std::optional<std::chrono::seconds> takeFromRate(const Allowance& allowance, base::MonotonicTime now) const;

  /// The upper half is the number of used requests, in 1/4096 of a request; the lower half is the time of that number,
  /// in ticks of 1/4096 s.
  mutable std::atomic<std::uint64_t> word_{0};
  mutable std::atomic<std::uint32_t> inFlight_{0};
};

}  // namespace sluice::filters
