// How much of one Backend is in use by the whole process: the bounds limits.backendConnections and
// limits.backendRequests.
//
// Shared by all workers, hence the few read-modify-write atomics of the data path; everything else is per worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace sluice::upstream {

/// A counter that refuses to pass its bound.
class BoundedCount {
 public:
  explicit BoundedCount(std::uint64_t bound) : bound_(bound) {}

  bool tryAdd() {
    if (count_.fetch_add(1, std::memory_order_relaxed) < bound_) return true;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  void release() { count_.fetch_sub(1, std::memory_order_relaxed); }
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
  const std::uint64_t bound_;
};

struct Budget {
  Budget(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : connections(maxConnections), requests(maxRequests) {}
  BoundedCount connections;
  BoundedCount requests;
};

/// The budgets of all Backends, by BackendPlan::identity. Any thread; asked only when a worker meets a Backend for the
/// first time.
class Budgets {
 public:
  Budgets(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : maxConnections_(maxConnections), maxRequests_(maxRequests) {}

  Budget& of(const std::string& identity) {
    const std::lock_guard lock(mutex_);
    auto& budget = budgets_[identity];
    if (!budget) budget = std::make_unique<Budget>(maxConnections_, maxRequests_);
    return *budget;
  }

 private:
  const std::uint64_t maxConnections_;
  const std::uint64_t maxRequests_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Budget>> budgets_;
};

}  // namespace sluice::upstream
