// Closes the listeners and routes that policies of unsupported kinds name. Backends and Services are closed where they
// are compiled.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// Makes listeners answer every request with 500 if a policy names them or their Gateway. They still accept routes.
void closeListeners(const ClosingPolicies& policies, std::vector<GatewayPlan>& gateways);

/// Returns the route with the rules that a policy names answering 500; nullopt if there are none.
std::optional<RoutePlan> closedRoute(const RoutePlan& plan, const ClosingPolicies& policies);

}  // namespace sluice::compile
