// The circuit breaker of one Backend: it holds the whole process to limits.backendConnections and
// limits.backendRequests, or to the bounds that a policy has in their place.
//
// Shared by all workers, hence the few read-modify-write atomics of the data path; everything else is per worker.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "proxy/base/circuit_breaker_bounds.h"
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
  /// Returns how many more there is room for.
  std::uint64_t room() const {
    const std::uint64_t bound = bound_.load(std::memory_order_relaxed);
    return bound - std::min(bound, count());
  }
  /// Sets the bound. Users beyond a lower one go on.
  void setBound(std::uint64_t bound) { bound_.store(bound, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> bound_;
};

struct CircuitBreaker {
  CircuitBreaker(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : connections(maxConnections), requests(maxRequests) {}
  BoundedCount connections;
  BoundedCount requests;
  /// The requests that wait, if the bounds say how many may. Each worker looks before it adds one, so there may be as
  /// many more as there are other workers.
  std::atomic<std::uint64_t> pending{0};
};

// The functions below return the name of the limit that counts: that of the policy, or that of the settings.
inline std::string_view connectionLimit(const base::CircuitBreakerBounds& bounds) {
  return bounds.connections ? "maxConnections" : "backendConnections";
}
inline std::string_view pendingLimit(const base::CircuitBreakerBounds& bounds) {
  return bounds.pendingRequests ? "maxPendingRequests" : "backendPending";
}
inline std::string_view requestLimit(const base::CircuitBreakerBounds& bounds) {
  return bounds.requests ? "maxParallelRequests" : "backendRequests";
}

/// The circuit breakers of all Backends, by BackendPlan::boundedAs(). Any thread; used only when a worker
/// meets a Backend for the first time, and when it has done with it.
class CircuitBreakers {
 public:
  CircuitBreakers(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : maxConnections_(maxConnections), maxRequests_(maxRequests) {}

  /// Returns the Backend's circuit breaker, which stays in place until as many have left as have joined. The bounds are
  /// those of the identity: what they do not say is as the settings say.
  CircuitBreaker& join(const routing::BackendIdentity& identity, const base::CircuitBreakerBounds& bounds = {}) {
    const std::lock_guard lock(mutex_);
    SharedBreaker& shared = breakers_[identity];
    if (!shared.breaker) {
      shared.bounds = bounds;
      shared.breaker = std::make_unique<CircuitBreaker>(bounds.connections.value_or(maxConnections_),
                                                        bounds.requests.value_or(maxRequests_));
    }
    ++shared.users;
    return *shared.breaker;
  }
  void leave(const routing::BackendIdentity& identity) {
    const std::lock_guard lock(mutex_);
    const auto found = breakers_.find(identity);
    if (--found->second.users == 0) breakers_.erase(found);
  }
  /// Sets the bounds of the settings, also of those that exist.
  void setBounds(std::uint64_t maxConnections, std::uint64_t maxRequests) {
    const std::lock_guard lock(mutex_);
    maxConnections_ = maxConnections;
    maxRequests_ = maxRequests;
    for (auto& [identity, shared] : breakers_) {
      shared.breaker->connections.setBound(shared.bounds.connections.value_or(maxConnections));
      shared.breaker->requests.setBound(shared.bounds.requests.value_or(maxRequests));
    }
  }

 private:
  struct SharedBreaker {
    std::unique_ptr<CircuitBreaker> breaker;
    base::CircuitBreakerBounds bounds = {};
    std::size_t users = 0;
  };
  std::mutex mutex_;
  std::uint64_t maxConnections_;
  std::uint64_t maxRequests_;
  std::map<routing::BackendIdentity, SharedBreaker> breakers_;
};

}  // namespace sluice::upstream
