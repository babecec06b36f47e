// Adds to a rule what it inherits of the TrafficPolicies of its listener and Gateway: the settings that neither it nor
// its route has.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// References outlive the call.
struct GovernTools {
  const TrafficPolicies& policies;
  const BackendCatalog& backends;
  processing::SharedStates& states;
};

struct GovernedRule {
  std::shared_ptr<const routing::Rule> rule;
  std::optional<Fault> fault = std::nullopt;  // of a policy for the rule together with one that it inherits
};

/// Returns the plan's rule, which is `rule` by now, with these settings; one that answers 500 if they cannot be served.
/// Returns the rule itself if it inherits nothing, or if it fails anyway. `nameSpace` is the route's.
GovernedRule governedRule(const RulePlan& plan, std::shared_ptr<const routing::Rule> rule, std::string_view nameSpace,
                          const ListenerTraffic& inherited, const GovernTools& tools);

}  // namespace sluice::compile
