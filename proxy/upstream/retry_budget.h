// Gateway API's retry budget (retryConstraint, GEP-3388) with its defaults: it bounds how many of the requests to a
// Backend may be retries, so that they do not bury a Backend which fails. Owned by a Cluster, so each worker counts for
// itself.
//
// It costs nothing until a request wants to be retried: it looks back at a count that the cluster keeps anyway, and
// assumes that the requests since the last look were evenly spread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "proxy/base/clock.h"

namespace sluice::upstream {

struct RetryConstraint {
  /// Percentage of the requests of the last `interval`, without retries.
  std::uint32_t percent = 20;
  base::Duration interval = std::chrono::seconds(10);
  /// This many retries are allowed in each `minInterval`, whatever the percentage says.
  std::uint32_t minCount = 10;
  base::Duration minInterval = std::chrono::seconds(1);
};

class RetryBudget {
 public:
  /// `now` is the time when the count of requests began.
  RetryBudget(const RetryConstraint& constraint, base::MonotonicTime now)
      : constraint_(constraint), slot_(slotAt(now)), minBegun_(now) {}

  /// Takes one more retry out of the budget, if there is room. `begun` is the number of requests so far, including
  /// earlier retries once they were begun.
  bool tryTake(base::MonotonicTime now, std::uint64_t begun);

 private:
  static constexpr std::uint64_t kSlots = 10;
  struct IntervalSlot {
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
  };

  std::uint64_t slotAt(base::MonotonicTime time) const;
  IntervalSlot& slot(std::uint64_t number) { return slots_[number % kSlots]; }
  void lookBack(base::MonotonicTime now, std::uint64_t begun);
  bool withinMinimum(base::MonotonicTime now);
  bool withinShare() const;

  const RetryConstraint constraint_;
  std::array<IntervalSlot, kSlots> slots_{};  // each is a tenth of the interval
  std::uint64_t slot_;                        // the number of the latest
  std::uint64_t requests_ = 0;                // within the interval, without retries
  std::uint64_t retries_ = 0;                 // allowed
  base::MonotonicTime minBegun_;
  std::uint32_t minTaken_ = 0;
};

}  // namespace sluice::upstream
