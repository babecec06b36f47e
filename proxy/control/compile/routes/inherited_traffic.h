// Adds to a rule what it inherits of the TrafficPolicies of its listener and Gateway: the settings that neither it nor
// its route has.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/control/compile/policies/traffic_policies.h"
#include "proxy/control/compile/routes/compile_route.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns the plan's rule with these settings; one that answers 500 if they cannot be served. Returns the rule itself
/// if it inherits nothing, or if it fails anyway. `nameSpace` is the route's.
std::shared_ptr<const routing::Rule> governedRule(const RulePlan& plan, std::string_view nameSpace,
                                                  const ListenerTraffic& inherited, const BackendCatalog& backends,
                                                  processing::SharedStates& states);

}  // namespace sluice::control
