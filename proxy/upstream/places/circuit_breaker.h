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
#include <utility>
#include <vector>

#include "proxy/base/error.h"
#include "proxy/base/terms/circuit_breaker_bounds.h"
#include "proxy/routing/backend_identity.h"
#include "proxy/upstream/places/place_ask.h"
#include "proxy/upstream/places/place_reports.h"

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
  /// Adds one, even beyond the bound.
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() { count_.fetch_sub(1, std::memory_order_relaxed); }
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  std::uint64_t bound() const { return bound_.load(std::memory_order_relaxed); }
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
  /// `unique` identifies it in the process; a later one of the same Backend has another number.
  CircuitBreaker(std::uint64_t unique, std::uint64_t maxConnections, std::uint64_t maxRequests)
      : number(unique), connections(maxConnections), requests(maxRequests) {}
  const std::uint64_t number;
  BoundedCount connections;
  BoundedCount requests;
  /// The requests of all workers for which others give way. Places that become free are for them.
  std::atomic<std::uint64_t> seeking{0};
  /// The requests that have given their place back for now: see Request::releasePlace(). There are at most 16 for each
  /// place.
  std::atomic<std::uint64_t> released{0};
  /// The requests that wait, if the bounds limit them. Each worker looks before it adds one, so there may be as many
  /// more as there are other workers.
  std::atomic<std::uint64_t> pending{0};
  mutable PlaceReports reports;
};

// The functions below return the name of the limit that applies: that of the policy, or that of the settings.
inline std::string_view connectionLimit(const base::CircuitBreakerBounds& bounds) {
  return bounds.connections ? "maxConnections" : "backendConnections";
}
inline std::string_view pendingLimit(const base::CircuitBreakerBounds& bounds) {
  return bounds.pendingRequests ? "maxPendingRequests" : "backendPending";
}
inline std::string_view requestLimit(const base::CircuitBreakerBounds& bounds) {
  return bounds.requests ? "maxParallelRequests" : "backendRequests";
}

/// Returns the error of a request for which there is no place.
inline base::Error tooManyRequests(std::string_view limit) {
  return base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many requests to the backend at once")
      .ofLimit(limit);
}

/// Returns the error of a request that was ended because its client held it up while others wanted its place.
inline base::Error placeWanted(std::string_view limit) {
  return base::Error(base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                     "the client holds up a place at the backend that other clients want")
      .ofLimit(limit);
}

/// How much of a bound of one Backend is used.
struct BreakerUse {
  routing::BackendIdentity identity;  // BackendPlan::boundedAs()
  std::string_view limit;
  std::uint64_t used = 0;
  std::uint64_t most = 0;
};

/// The circuit breakers of all Backends, by BackendPlan::boundedAs(). Any thread; used only when a worker uses a
/// Backend for the first time, and when it has finished with it.
class CircuitBreakers {
 public:
  CircuitBreakers(std::uint64_t maxConnections, std::uint64_t maxRequests)
      : maxConnections_(maxConnections), maxRequests_(maxRequests) {}

  /// Returns the Backend's circuit breaker, which stays in place until as many have left as have joined. The bounds are
  /// those of the identity; the settings apply to the others.
  CircuitBreaker& join(const routing::BackendIdentity& identity, const base::CircuitBreakerBounds& bounds = {}) {
    const std::lock_guard lock(mutex_);
    SharedBreaker& shared = breakers_[identity];
    if (!shared.breaker) {
      shared.bounds = bounds;
      shared.breaker = std::make_unique<CircuitBreaker>(++made_, bounds.connections.value_or(maxConnections_),
                                                        bounds.requests.value_or(maxRequests_));
    }
    ++shared.users;
    return *shared.breaker;
  }
  /// Joins it if there is one; otherwise returns nullptr.
  CircuitBreaker* joinKnown(const routing::BackendIdentity& identity) {
    const std::lock_guard lock(mutex_);
    const auto found = breakers_.find(identity);
    if (found == breakers_.end()) return nullptr;
    ++found->second.users;
    return found->second.breaker.get();
  }
  void leave(const routing::BackendIdentity& identity) {
    const std::lock_guard lock(mutex_);
    const auto found = breakers_.find(identity);
    if (--found->second.users == 0) breakers_.erase(found);
  }

  /// Each worker is registered as a party from its beginning to its end.
  void enroll(PlaceParty& party) {
    const std::lock_guard lock(mutex_);
    parties_.push_back(&party);
  }
  void withdraw(PlaceParty& party) {
    const std::lock_guard lock(mutex_);
    std::erase(parties_, &party);
    for (auto& [identity, shared] : breakers_) shared.breaker->reports.drop(party);
  }
  /// Returns how many workers there are.
  std::size_t parties() {
    const std::lock_guard lock(mutex_);
    return parties_.size();
  }
  /// Passes the request for places on to all other workers.
  void ask(const PlaceParty& asking, const std::shared_ptr<const PlaceAsk>& ask) {
    const std::lock_guard lock(mutex_);
    for (PlaceParty* each : parties_) {
      if (each != &asking) each->onAsked(ask);
    }
  }

  /// Has all other workers close a connection to that Backend that is idle.
  void wantConnection(const PlaceParty& asking, const routing::BackendIdentity& boundedAs) {
    const std::lock_guard lock(mutex_);
    for (PlaceParty* each : parties_) {
      if (each != &asking) each->onConnectionWanted(boundedAs);
    }
  }

  /// Returns the bounds of which that part or more is used.
  std::vector<BreakerUse> usesFrom(std::uint64_t percent) {
    std::vector<BreakerUse> uses;
    const auto look = [&](const routing::BackendIdentity& identity, std::string_view limit, const BoundedCount& count) {
      const std::uint64_t most = count.bound();
      if (count.count() * 100 >= most * percent) uses.push_back({identity, limit, count.count(), most});
    };
    const std::lock_guard lock(mutex_);
    for (const auto& [identity, shared] : breakers_) {
      look(identity, connectionLimit(shared.bounds), shared.breaker->connections);
      look(identity, requestLimit(shared.bounds), shared.breaker->requests);
    }
    return uses;
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
  std::uint64_t made_ = 0;
  std::uint64_t maxConnections_;
  std::uint64_t maxRequests_;
  std::map<routing::BackendIdentity, SharedBreaker> breakers_;
  std::vector<PlaceParty*> parties_;
};

/// Keeps the circuit breaker of a Backend alive.
class JoinedBreaker {
 public:
  JoinedBreaker(CircuitBreakers& all, routing::BackendIdentity identity, const base::CircuitBreakerBounds& bounds)
      : all_(all), identity_(std::move(identity)), breaker_(&all.join(identity_, bounds)) {}
  /// Keeps nothing alive if the breaker is null.
  JoinedBreaker(CircuitBreakers& all, routing::BackendIdentity identity)
      : all_(all), identity_(std::move(identity)), breaker_(all.joinKnown(identity_)) {}
  ~JoinedBreaker() {
    if (breaker_ != nullptr) all_.leave(identity_);
  }
  JoinedBreaker(const JoinedBreaker&) = delete;
  JoinedBreaker& operator=(const JoinedBreaker&) = delete;

  const routing::BackendIdentity& identity() const { return identity_; }
  CircuitBreaker* get() const { return breaker_; }

 private:
  CircuitBreakers& all_;
  const routing::BackendIdentity identity_;
  CircuitBreaker* const breaker_;
};

}  // namespace sluice::upstream
