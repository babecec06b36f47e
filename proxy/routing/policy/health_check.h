// The health of a Backend that its active checks have found together: it is healthy only if all of them find that it
// is.
//
// The process has one for each Backend or Service and each list of checks. The main thread writes, the workers read.
// Reloads keep it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "proxy/routing/policy/active_check.h"
#include "proxy/routing/policy/endpoint.h"

namespace sluice::routing {

class HealthCheck {
 public:
  using Checks = std::vector<std::shared_ptr<const ActiveCheck>>;

  /// There is at least one check. Begins with what they have found before.
  explicit HealthCheck(Checks checks);

  const Checks& checks() const { return checks_; }
  CheckedState state() const { return state_.load(std::memory_order_relaxed); }
  bool fails() const { return state() == CheckedState::kUnhealthy; }
  /// Returns the endpoints of a Service that fail; null if none does.
  std::shared_ptr<const Endpoints> failing() const;
  /// Returns the state of each endpoint of a Service.
  EndpointStates endpoints() const;
  /// Returns the state of that endpoint, or of the Backend if there is none.
  CheckedState stateOf(const std::optional<Endpoint>& endpoint) const;

  /// Returns when that endpoint, or the Backend if there is none, last began or ceased to fail; the beginning of the
  /// clock if it never did, or if that is not known.
  base::WallTime changedAt(const std::optional<Endpoint>& endpoint) const;

  /// Called by the health checker when one of the checks has another result, with the time of that if it is known. A
  /// Service is unhealthy if all its endpoints are.
  void update(base::WallTime now = {}) const;

 private:
  /// Notes the endpoints that have begun or ceased to fail; needs the mutex.
  void noteChanges(const EndpointStates& endpoints, base::WallTime now) const;

  const Checks checks_;
  mutable std::atomic<CheckedState> state_{CheckedState::kUnknown};
  mutable std::atomic<bool> someFail_{false};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Endpoints> failing_;             // guarded by mutex_
  mutable EndpointStates endpoints_;                             // guarded by mutex_
  mutable base::WallTime changed_{};                             // guarded by mutex_
  mutable std::map<Endpoint, base::WallTime> changedEndpoints_;  // guarded by mutex_
};

}  // namespace sluice::routing
