#include "proxy/upstream/retry_budget.h"

#include <algorithm>

namespace sluice::upstream {

std::uint64_t RetryBudget::slotAt(base::MonotonicTime time) const {
  return static_cast<std::uint64_t>(time.time_since_epoch() / (constraint_.interval / kSlots));
}

bool RetryBudget::tryTake(base::MonotonicTime now, std::uint64_t begun) {
  lookBack(now, begun);
  if (!withinMinimum(now) && !withinShare()) return false;
  ++minTaken_;
  ++retries_;
  ++slot(slot_).retries;
  return true;
}

void RetryBudget::lookBack(base::MonotonicTime now, std::uint64_t begun) {
  // Retries that were allowed and have not begun yet make the number seem smaller for a while.
  const std::uint64_t requests = std::max(requests_, begun - std::min(begun, retries_));
  const std::uint64_t fresh = requests - requests_;
  requests_ = requests;
  const std::uint64_t passed = slotAt(now) - slot_;
  slot_ += passed;
  for (std::uint64_t i = 0; i < std::min(passed, kSlots); ++i) slot(slot_ - i) = {};
  const std::uint64_t spread = passed + 1;  // from the slot that was the latest to the one that is
  const std::uint64_t each = fresh / spread;
  for (std::uint64_t i = 0; i < std::min(spread, kSlots); ++i) slot(slot_ - i).requests += each;
  if (spread <= kSlots) slot(slot_).requests += fresh % spread;
}

bool RetryBudget::withinMinimum(base::MonotonicTime now) {
  if (now - minBegun_ >= constraint_.minInterval) {
    minBegun_ = now;
    minTaken_ = 0;
  }
  return minTaken_ < constraint_.minCount;
}

bool RetryBudget::withinShare() const {
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;
  for (const IntervalSlot& each : slots_) {
    requests += each.requests;
    retries += each.retries;
  }
  return (retries + 1) * 100 <= requests * constraint_.percent;
}

}  // namespace sluice::upstream
