// BackendHealth says whether a Backend serves: whether it takes connections, and whether its health checks pass.
// Workers and the checker find that out, and the conditions of Backends and /status tell it.
//
// A compilation notes what is known by then, and the configuration is compiled again when that has changed. Until
// something else is known, a Backend serves.
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
#include "proxy/processing/server_health.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// It is about one port of a Backend or Service, and either about its connections or about one health check. The checks
/// of a Service are about one of its endpoints each.
struct BackendHealth {
  std::string object;                                     // BackendPlan::object
  std::string endpoint;                                   // "api.example.com:443"
  std::shared_ptr<const processing::ServerHealth> reach;  // null if this is about a check
  std::shared_ptr<const routing::HealthCheck> check;      // null if this is about connections
  std::optional<routing::Endpoint> part = std::nullopt;   // of a Service
  bool ofAll = false;                                     // it is about all endpoints of a Service
  bool serves = true;
  base::WallTime since{};  // when connections began to fail; only if they do

  /// Returns true if both say the same.
  friend bool operator==(const BackendHealth& a, const BackendHealth& b) {
    return a.object == b.object && a.endpoint == b.endpoint && (a.reach == nullptr) == (b.reach == nullptr) &&
           a.serves == b.serves;
  }
};

using BackendHealths = std::vector<BackendHealth>;

/// Returns "host:port".
std::string endpointOf(const routing::BackendPlan& backend);
std::string addressOf(const routing::Endpoint& endpoint);

/// Returns the health of all Backends of the snapshot, in its order.
BackendHealths healthOf(const routing::Snapshot& snapshot);
/// Returns true if some Backend serves now that did not, or the other way round.
bool hasMoved(const BackendHealths& noted, base::WallTime now);

/// The faults of Backends that do not serve, by object.
class BackendFaults {
 public:
  explicit BackendFaults(const BackendHealths& healths);
  std::optional<Fault> of(const std::string& object) const;
  /// Returns true if some endpoint of the object, or some port, is known to serve all the same.
  bool leaveSome(const std::string& object) const;

 private:
  std::map<std::string, std::vector<Fault>, std::less<>> faults_;
  std::map<std::string, std::map<std::string, bool>, std::less<>> serves_;  // by object and endpoint
};

}  // namespace sluice::compile
