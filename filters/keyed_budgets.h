// A RequestBudget for each of many keys; clients may invent as many keys as they like.
//
// Bounded. While all places are taken, keys without a place share one budget. A key that then gets a place begins with
// the used part of the shared budget, and counts the requests in flight there. Only an untouched budget, which would
// answer as a new one does, gives up its place. So no client gets more than its budget, whatever keys others make up; a
// new key may get less. Keys are hashes: the client's text is not kept, and two keys that collide share a budget.
//
// Any thread: keys are spread over shards, each behind a mutex for as long as a look-up takes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "filters/request_budget.h"

namespace sluice::filters {

class KeyedBudgets {
 public:
  static constexpr std::size_t kShards = 16;

  explicit KeyedBudgets(std::size_t keysPerShard = 1024) : most_(keysPerShard) {}

  struct BudgetGrant {
    /// The budget in which the request is in flight, if there is a concurrency limit. Its address stays valid until
    /// giveBack(). Null if the request was refused.
    const RequestBudget* budget = nullptr;
    std::chrono::seconds retryAfter{0};  // set if it was refused
  };
  BudgetGrant take(std::uint64_t key, const Allowance& allowance, base::MonotonicTime now) const;

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, RequestBudget> budgets;
    RequestBudget shared;
    base::MonotonicTime nextSweep{};
  };

  const RequestBudget& budgetOf(Shard& shard, std::uint64_t key, const Allowance& allowance,
                                base::MonotonicTime now) const;

  const std::size_t most_;
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace sluice::filters
