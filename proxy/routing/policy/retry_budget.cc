#include "proxy/routing/policy/retry_budget.h"

#include <algorithm>

namespace sluice::routing {

void RetryBudget::count(base::MonotonicTime now) const {
  if (requests_.fetch_add(1, std::memory_order_relaxed) == 0) {
    begun_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
}

std::optional<ActiveRetry> RetryBudget::tryTake(base::MonotonicTime now, const RetryBounds& bounds) const {
  const std::lock_guard lock(mutex_);
  if (history_.latest == 0) {
    const base::Duration begun(begun_.load(std::memory_order_relaxed));
    history_.latest = slotAt(std::min(now, base::MonotonicTime(begun)));
  }
  history_.lookBack(slotAt(now), requests_.load(std::memory_order_relaxed));
  if (!allows(now, bounds)) return std::nullopt;
  ++history_.taken;
  ++history_.slot(history_.latest).retries;
  return ActiveRetry(*this);
}

bool RetryBudget::allows(base::MonotonicTime now, const RetryBounds& bounds) const {
  const std::uint32_t active = active_.load(std::memory_order_relaxed);
  if (bounds.maxConcurrent && active >= *bounds.maxConcurrent) return false;
  const bool few =
      bounds.minConcurrent ? active < *bounds.minConcurrent : history_.withinMinimum(now, minInterval_, bounds.least);
  return few || history_.withinShare(bounds.percent);
}

// Workers read their clocks apart, so `now` may be a little before the latest slot.
void RetryBudget::History::lookBack(std::uint64_t now, std::uint64_t counted) {
  const std::uint64_t fresh = counted - std::min(counted, requests);
  requests += fresh;
  const std::uint64_t passed = now - std::min(now, latest);
  latest += passed;
  for (std::uint64_t i = 0; i < std::min(passed, kSlots); ++i) slot(latest - i) = {};
  const std::uint64_t spread = passed + 1;  // from the slot that was the latest to the one that is
  const std::uint64_t each = fresh / spread;
  for (std::uint64_t i = 0; i < std::min(spread, kSlots); ++i) slot(latest - i).requests += each;
  if (spread <= kSlots) slot(latest).requests += fresh % spread;
}

bool RetryBudget::History::withinMinimum(base::MonotonicTime now, base::Duration interval, std::uint32_t least) {
  // The first interval begins with the first retry: the clock may have begun less than an interval ago.
  if (taken == 0 || now - begun >= interval) {
    begun = now;
    taken = 0;
  }
  return taken < least;
}

bool RetryBudget::History::withinShare(std::uint32_t percent) const {
  std::uint64_t all = 0;
  std::uint64_t retries = 0;
  for (const IntervalSlot& each : slots) {
    all += each.requests;
    retries += each.retries;
  }
  return (retries + 1) * 100 <= all * percent;
}

}  // namespace sluice::routing
