#include "proxy/control/explain/explained_health.h"

#include <algorithm>
#include <optional>
#include <string>

#include "proxy/compile/status/backend_health.h"

namespace sluice::control {
namespace {

/// Returns true if a request or a health check has succeeded.
bool hasServed(const compile::BackendHealth& health) {
  if (health.reach != nullptr) return health.reach->announced().reach == processing::ServerReach::kActive;
  return health.check != nullptr && health.check->stateOf(health.part) == routing::CheckedState::kHealthy;
}

ExplainedHealth healthOf(const std::string& object, const compile::BackendHealths& healths,
                         const compile::BackendFaults& faults) {
  if (const std::optional<compile::Fault> fault = faults.of(object)) return {"failing", fault->message};
  if (const std::optional<compile::Fault> ejected = faults.ejectionsOf(object)) return {"ejected", ejected->message};
  const bool serves = std::any_of(healths.begin(), healths.end(), [&](const compile::BackendHealth& each) {
    return each.object == object && hasServed(each);
  });
  return {serves ? "serving" : "unknown", ""};
}

}  // namespace

void addHealth(const routing::Snapshot& snapshot, Explanation& explanation) {
  const compile::BackendHealths healths = compile::healthOf(snapshot);
  const compile::BackendFaults faults(healths);
  for (ExplainedBackend& each : explanation.backends) {
    if (!each.name.empty()) each.health = healthOf(each.object, healths, faults);
  }
}

}  // namespace sluice::control
