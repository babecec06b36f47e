// Compiles the active health checks of a rule's Backends from the TrafficPolicies that take effect for them.
#pragma once

#include <memory>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/health_check.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the health check of each weighted backend of a rule, in the form of Rule::healthChecks. Rules share it if
/// they use the same Backend and check it in the same way, and so do generations.
std::vector<std::shared_ptr<const routing::HealthCheck>> compileHealthChecks(const RuleTraffic& traffic,
                                                                             const routing::Rule& compiled,
                                                                             processing::SharedStates& states);

}  // namespace sluice::compile
