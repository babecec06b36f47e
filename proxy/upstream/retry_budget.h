// How many of the requests to a Backend may be retries, so that a Backend which fails is not buried under them: Gateway
// API's retryConstraint (GEP-3388) with its defaults. Owned by a Cluster, so each worker counts for itself.
//
// Costs nothing until somebody wants to retry: it looks back at a count that the cluster keeps anyway, and takes what
// came since it looked last for evenly spread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "proxy/base/clock.h"

namespace sluice::upstream {

struct RetryConstraint {
  /// Of the requests of the last `interval`, retries not counted.
  std::uint32_t percent = 20;
  base::Duration interval = std::chrono::seconds(10);
  /// So many are allowed whatever the percentage says, in each `minInterval`.
  std::uint32_t minCount = 10;
  base::Duration minInterval = std::chrono::seconds(1);
};

class RetryBudget {
 public:
  /// `now` is when the count of requests began.
  RetryBudget(const RetryConstraint& constraint, base::MonotonicTime now)
      : constraint_(constraint), slot_(slotAt(now)), minBegun_(now) {}

  /// One retry more, if it is within the budget. `begun` is how many requests there were so far, earlier retries
  /// included once they were begun.
  bool tryTake(base::MonotonicTime now, std::uint64_t begun);

 private:
  static constexpr std::uint64_t kSlots = 10;
  struct Slot {
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
  };

  std::uint64_t slotAt(base::MonotonicTime time) const;
  Slot& slot(std::uint64_t number) { return slots_[number % kSlots]; }
  void lookBack(base::MonotonicTime now, std::uint64_t begun);
  bool withinMinimum(base::MonotonicTime now);
  bool withinShare() const;

  const RetryConstraint constraint_;
  std::array<Slot, kSlots> slots_{};  // a tenth of the interval each
  std::uint64_t slot_;                // the number of the latest
  std::uint64_t requests_ = 0;        // looked back at, retries not counted
  std::uint64_t retries_ = 0;         // allowed
  base::MonotonicTime minBegun_;
  std::uint32_t minTaken_ = 0;
};

}  // namespace sluice::upstream
