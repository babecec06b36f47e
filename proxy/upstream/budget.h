// The circuit breaker of one Backend: it holds the whole process to limits.backendConnections and
// limits.backendRequests.
//
// Shared by all workers, hence the few read-modify-write atomics of the data path; everything else is per worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "proxy/routing/backend_identity.h"

namespace sluice::upstream {

/// A counter that refuses to pass its bound.
class BoundedCount {
 public:
  explicit BoundedCount(std::uint64_t bound) : bound_(bound) {}

  bool tryAdd() {
    if (count_.fetch_add(1, std::memory_order_relaxed) < bound_.load(std::memory_order_relaxed)) return true;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  void release() { count_.fetch_sub(1, std::memory_order_relaxed); }
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  /// Sets the bound. Users beyond a lower one go on.
  void setBound(std::uint64_t bound) { bound_.store(bound, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> bound_;
};

struct Budget {
  Budget(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : connections(maxConnections), requests(maxRequests) {}
  BoundedCount connections;
  BoundedCount requests;
};

/// The circuit breakers of all Backends, by BackendPlan::countsAs or identity. Any thread; used only when a worker
/// meets a Backend for the first time, and when it has done with it.
class Budgets {
 public:
  Budgets(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : maxConnections_(maxConnections), maxRequests_(maxRequests) {}

  /// Returns the Backend's circuit breaker, which stays in place until as many have left as have joined.
  Budget& join(const routing::BackendIdentity& identity) {
    const std::lock_guard lock(mutex_);
    Member& member = members_[identity];
    if (!member.budget) member.budget = std::make_unique<Budget>(maxConnections_, maxRequests_);
    ++member.users;
    return *member.budget;
  }
  void leave(const routing::BackendIdentity& identity) {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(identity);
    if (--found->second.users == 0) members_.erase(found);
  }
  /// Sets the bounds, also of those that exist.
  void setBounds(std::uint64_t maxConnections, std::uint64_t maxRequests) {
    const std::lock_guard lock(mutex_);
    maxConnections_ = maxConnections;
    maxRequests_ = maxRequests;
    for (auto& [identity, member] : members_) {
      member.budget->connections.setBound(maxConnections);
      member.budget->requests.setBound(maxRequests);
    }
  }

 private:
  struct Member {
    std::unique_ptr<Budget> budget;
    std::size_t users = 0;
  };
  std::mutex mutex_;
  std::uint64_t maxConnections_;
  std::uint64_t maxRequests_;
  std::map<routing::BackendIdentity, Member> members_;
};

}  // namespace sluice::upstream
