// Compiles what TrafficPolicies say of the connections to the Backends of a rule, and of the time that its requests may
// take.
#pragma once

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Gives the rule the timeouts of the settings. Its own timeouts.request comes first, and is bounded by
/// maxStreamDuration all the same.
void addTimeouts(const TrafficSettings& settings, routing::Rule& compiled);

/// Gives the rule's weighted backends, as far as they lead to Backends, plans with the settings for each.
void governConnections(const RuleTraffic& traffic, const BackendCatalog& backends, routing::Rule& compiled);

}  // namespace sluice::compile
