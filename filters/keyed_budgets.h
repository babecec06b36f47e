// A RequestBudget for each of many keys, of which clients may invent as many as they like.
//
// Bounded. While all places are taken, keys that have none share one budget, and a key that then gets a place begins
// with what the shared one has used, and counts what is in flight there. Only a budget that is untouched, and so says
// what a new one would, gives up its place. So nobody gets more than his budget, whatever keys others make up; a
// newcomer may get less. Keys are hashes: what clients send is not kept, and two that collide share.
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

  struct Taken {
    /// In it the request is in flight, if there is a concurrency. It stays where it is until giveBack(). Null: refused.
    const RequestBudget* budget = nullptr;
    std::chrono::seconds comeBack{0};  // if it is refused
  };
  Taken take(std::uint64_t key, const Allowance& allowance, base::MonotonicTime now) const;

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
