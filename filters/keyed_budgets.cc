#include "filters/keyed_budgets.h"

namespace sluice::filters {
namespace {

/// The shortest time between two searches for places in a full shard, however many keys need one.
constexpr std::chrono::seconds kBetweenSweeps(1);

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
  if (const auto known = shard.budgets.find(key); known != shard.budgets.end()) return known->second;
  if (shard.budgets.size() >= most_ && now >= shard.nextSweep) {
    std::erase_if(shard.budgets, [&](const auto& each) { return each.second.untouched(allowance, now); });
    shard.nextSweep = now + kBetweenSweeps;
  }
  if (shard.budgets.size() >= most_) return shard.shared;
  const RequestBudget& budget = shard.budgets[key];
  budget.startFrom(shard.shared);
  return budget;
}

}  // namespace sluice::filters
