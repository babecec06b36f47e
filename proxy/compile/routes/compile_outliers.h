// Compiles the outlier detection of TrafficPolicies (healthCheck.passive).
#pragma once

#include <string>

#include "config/model/model.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/answer_health.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

routing::PassiveHealthBounds passiveBounds(const config::PassiveHealthSettings& passive);

/// Sets WeightedBackend::outliers of the weighted backends that may have several endpoints: those of a Service, and
/// names whose addresses are balanced. The ejections are kept under `place`, which names the rule.
void setOutliers(const RuleTraffic& traffic, const std::string& place, processing::SharedStates& states,
                 routing::Rule& compiled);

}  // namespace sluice::compile
