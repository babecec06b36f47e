// Closes the listeners and routes that policies of unsupported kinds target. The compilers of Backends and Services
// close those themselves.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// Makes listeners answer every request with 500 if a policy targets them or their Gateway. They still accept routes.
void closeListeners(const ClosingPolicies& policies, std::vector<GatewayPlan>& gateways);

/// Returns the route, where the rules that a policy targets answer 500; nullopt if there are no such rules.
std::optional<RoutePlan> closedRoute(const RoutePlan& plan, const ClosingPolicies& policies);

}  // namespace sluice::compile
