// BackendHealth is the state of a Backend: whether it accepts connections, whether its health checks pass, and whether
// the outlier detection of a rule has ejected it or endpoints of it. Workers and the health checker find it out, and
// the conditions of Backends and /status report it.
//
// A compilation records the state that is known then. When it changes, the configuration is compiled again. A Backend
// whose state is not known is treated as serving.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/policy/backend_reach.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// It is the state of one port of a Backend or Service, with regard to its connections, one health check or the
/// ejections by one rule. A health check of a Service covers one of its endpoints.
struct BackendHealth {
  std::string object;    // BackendPlan::object
  std::string endpoint;  // "api.example.com:443"
  // One of these three is set.
  std::shared_ptr<const routing::BackendReach> reach;
  std::shared_ptr<const routing::HealthCheck> check;
  std::optional<routing::BackendEjections> ejections = std::nullopt;
  std::optional<routing::Endpoint> part = std::nullopt;  // the checked endpoint of a Service
  bool ofAll = false;                                    // it covers all endpoints of a Service
  bool serves = true;
  // These are set only if connections fail: when that began, and why.
  base::WallTime since{};
  std::string why = {};

  /// Returns true if both record the same state.
  friend bool operator==(const BackendHealth& a, const BackendHealth& b) {
    return a.object == b.object && a.endpoint == b.endpoint && (a.reach == nullptr) == (b.reach == nullptr) &&
           a.ejections.has_value() == b.ejections.has_value() && a.serves == b.serves && a.why == b.why;
  }
};

using BackendHealths = std::vector<BackendHealth>;

/// Returns "host:port".
std::string endpointOf(const routing::BackendPlan& backend);
std::string addressOf(const routing::Endpoint& endpoint);

/// Returns the health of all Backends of the snapshot, in its order.
BackendHealths healthOf(const routing::Snapshot& snapshot);
/// Returns true if some Backend has begun or stopped serving, or fails for another reason, or ejections have begun or
/// ended. Both times are of now.
bool hasMoved(const BackendHealths& noted, base::WallTime now, base::MonotonicTime clock);

/// The faults of Backends that do not serve, by object.
class BackendFaults {
 public:
  explicit BackendFaults(const BackendHealths& healths);
  std::optional<Fault> of(const std::string& object) const;
  /// Returns which rules have ejected the object or endpoints of it. Other rules may use them.
  std::optional<Fault> ejectionsOf(const std::string& object) const;
  /// Returns true if some endpoint or port of the object is known to serve nevertheless.
  bool leaveSome(const std::string& object) const;

 private:
  using ByObject = std::map<std::string, std::vector<Fault>, std::less<>>;

  ByObject faults_;
  ByObject ejections_;
  std::map<std::string, std::map<std::string, bool>, std::less<>> serves_;  // by object and endpoint
};

}  // namespace sluice::compile
