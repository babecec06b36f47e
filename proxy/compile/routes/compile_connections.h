// Compiles the settings of TrafficPolicies for the connections to the Backends of a rule, and for the timeouts of its
// requests.
#pragma once

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Gives the rule the timeouts of the settings. The rule's own timeouts.request takes precedence, but maxStreamDuration
/// limits it too.
void addTimeouts(const TrafficSettings& settings, routing::Rule& compiled);

/// Gives each weighted backend of the rule that leads to a Backend a plan with the settings for it.
void governConnections(const RuleTraffic& traffic, const BackendCatalog& backends, routing::Rule& compiled);

}  // namespace sluice::compile
