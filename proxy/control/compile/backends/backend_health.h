// What is known of the health of the Backends that are served: whether they take connections, and what their health
// checks say. Workers and the checker find it out; the conditions of Backends and /status tell it.
//
// A compilation notes what was announced by then. It is compiled again when that has changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/control/compile/fault.h"
#include "proxy/processing/server_health.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// One Backend or Service and one of its ports: whether it can be reached, or what a health check says.
struct BackendHealth {
  std::string object;                                     // BackendPlan::object
  std::string endpoint;                                   // "api.example.com:443"
  std::shared_ptr<const processing::ServerHealth> reach;  // null if this is about a check
  processing::ServerReport reached;                       // as announced
  std::shared_ptr<const routing::HealthCheck> check;      // null if this is about the reach
  routing::CheckedState checked = routing::CheckedState::kUnknown;

  /// Returns true if both say the same.
  friend bool operator==(const BackendHealth& a, const BackendHealth& b) {
    return a.object == b.object && a.endpoint == b.endpoint && (a.reach == nullptr) == (b.reach == nullptr) &&
           a.reached == b.reached && a.checked == b.checked;
  }
};

using BackendHealths = std::vector<BackendHealth>;

/// Returns "host:port".
std::string endpointOf(const routing::BackendPlan& backend);

/// Returns the health of all Backends of the snapshot, in its order.
BackendHealths healthOf(const routing::Snapshot& snapshot);
/// Announces the health of now. Returns true if it is not what is noted.
bool hasMoved(const BackendHealths& noted, base::WallTime now);

/// The faults of Backends that do not serve, by object.
class BackendFaults {
 public:
  explicit BackendFaults(const BackendHealths& healths);
  std::optional<Fault> of(const std::string& object) const;

 private:
  std::map<std::string, std::vector<Fault>, std::less<>> faults_;
};

}  // namespace sluice::control
