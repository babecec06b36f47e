// Which listeners a route attaches to, by its parentRefs, and what each parent makes the route's status say.
#pragma once

#include <optional>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/control/compile/backends/compile_backend.h"
#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/routes/compile_route.h"

namespace sluice::control {

/// Adds the route's entries to the listeners that take it, counts it there, and tells `backends` which Gateways use
/// them. The status names only parents that are ours to speak of. Older routes are to be attached first: they keep what
/// a later one wants too (claims.h). `kept`: it is the previous version of a route whose newest one its schema refused,
/// and what that is told.
config::ObjectStatus attachRoute(const config::Model& model, const RoutePlan& plan, const std::optional<Fault>& kept,
                                 std::vector<GatewayPlan>& gateways, BackendCatalog& backends);

}  // namespace sluice::control
