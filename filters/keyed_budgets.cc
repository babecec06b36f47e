#include "filters/keyed_budgets.h"

namespace sluice::filters {
namespace {

/// The shortest time between two searches for a place, however many keys need one.
constexpr std::chrono::seconds kBetweenSearches(1);
/// The time between two looks at a shard for keys that are forgotten.
constexpr std::chrono::minutes kBetweenSweeps(1);

}  // namespace

KeyedBudgets::BudgetGrant KeyedBudgets::take(std::uint64_t key, const Allowance& allowance,
                                             base::MonotonicTime now) const {
  Shard& shard = shards_[key % kShards];
  const std::lock_guard lock(shard.mutex);
  const RequestBudget& budget = budgetOf(shard, key, allowance, now);
  const auto refused = budget.take(allowance, now, &budget == &shard.shared ? nullptr : &shard.shared);
  if (refused) return {nullptr, *refused};
  return {&budget, {}};
}

const RequestBudget& KeyedBudgets::budgetOf(Shard& shard, std::uint64_t key, const Allowance& allowance,
                                            base::MonotonicTime now) const {
  if (const auto known = shard.places.find(key); known != shard.places.end()) {
    known->second.lastTake = now;
    return known->second.budget;
  }
  if (now >= shard.nextSweep) {
    sweep(shard, Sweep::kOfForgotten, allowance, now);
    shard.nextSweep = now + kBetweenSweeps;
  }
  if (!reservePlace()) {
    makeRoom(shard, allowance, now);
    if (!reservePlace()) return shard.shared;
  }
  BudgetPlace& place = shard.places[key];
  place.lastTake = now;
  place.budget.startFrom(shard.shared);
  return place.budget;
}

bool KeyedBudgets::reservePlace() const {
  std::size_t taken = size_.load(std::memory_order_relaxed);
  do {
    if (taken >= most_) return false;
  } while (!size_.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed));
  return true;
}

void KeyedBudgets::makeRoom(Shard& own, const Allowance& allowance, base::MonotonicTime now) const {
  base::MonotonicTime due = nextRoom_.load(std::memory_order_relaxed);
  if (now < due || !nextRoom_.compare_exchange_strong(due, now + kBetweenSearches, std::memory_order_relaxed)) return;
  for (Shard& shard : shards_) {
    if (&shard == &own) {
      sweep(own, Sweep::kForRoom, allowance, now);
      continue;
    }
    // Waiting for another shard while this one is locked could block both.
    if (const std::unique_lock lock(shard.mutex, std::try_to_lock); lock) {
      sweep(shard, Sweep::kForRoom, allowance, now);
    }
  }
}

void KeyedBudgets::sweep(Shard& shard, Sweep why, const Allowance& allowance, base::MonotonicTime now) const {
  const std::size_t removed = std::erase_if(shard.places, [&](const auto& each) {
    const BudgetPlace& place = each.second;
    const bool isIdle = now - place.lastTake >= kForgottenAfter;
    if (place.budget.untouched(allowance, now)) return isIdle || why == Sweep::kForRoom;
    if (!isIdle || why != Sweep::kForRoom || place.budget.isInUse()) return false;
    shard.shared.startNotBelow(place.budget, allowance, now);
    return true;
  });
  size_.fetch_sub(removed, std::memory_order_relaxed);
}

}  // namespace sluice::filters
