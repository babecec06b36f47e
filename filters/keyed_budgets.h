// A RequestBudget for each of many keys; clients may invent as many keys as they like.
//
// Bounded. While all places are taken, keys without a place share a few budgets. A key that then gets a place begins
// with the used part of the budget that it has shared, and counts the requests in flight there. A key gives up its
// place if its budget is untouched, so that it would answer as a new one does, and either the place is wanted or the
// key has been idle for ten minutes. If the place is wanted, an idle key with nothing in flight gives it up before all
// of its rate is available again; what it has used then counts in the budget that it shares. So no client gets more
// than its budget, whatever keys others make up; a new key may get less. Keys are hashes: the client's text is not
// kept, and two keys that collide share a budget.
//
// Any thread: keys are spread over shards, each behind a mutex for as long as a look-up takes.
#pragma once

#include <array>
#include <atomic>
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
  static constexpr std::size_t kMostKeys = 10'000;
  static constexpr std::chrono::minutes kForgottenAfter{10};

  explicit KeyedBudgets(std::size_t mostKeys = kMostKeys) : most_(mostKeys) {}

  struct BudgetGrant {
    /// The budget in which the request is in flight, if there is a concurrency limit. Its address stays valid until
    /// giveBack(). Null if the request was refused.
    const RequestBudget* budget = nullptr;
    std::chrono::seconds retryAfter{0};  // set if it was refused
  };
  BudgetGrant take(std::uint64_t key, const Allowance& allowance, base::MonotonicTime now) const;
  /// Returns the number of keys that have a place.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct BudgetPlace {
    RequestBudget budget;
    base::MonotonicTime lastTake{};
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, BudgetPlace> places;
    RequestBudget shared;
    base::MonotonicTime nextSweep{};
  };
  enum class Sweep : std::uint8_t { kOfForgotten, kForRoom };

  const RequestBudget& budgetOf(Shard& shard, std::uint64_t key, const Allowance& allowance,
                                base::MonotonicTime now) const;
  bool reservePlace() const;
  /// Sweeps all shards but those that other threads are using. The caller has locked `own`.
  void makeRoom(Shard& own, const Allowance& allowance, base::MonotonicTime now) const;
  /// The caller has locked the shard.
  void sweep(Shard& shard, Sweep why, const Allowance& allowance, base::MonotonicTime now) const;

  const std::size_t most_;
  mutable std::atomic<std::size_t> size_{0};
  mutable std::atomic<base::MonotonicTime> nextRoom_{base::MonotonicTime{}};
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace sluice::filters
