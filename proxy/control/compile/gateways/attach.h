// Attaches a route to listeners by its parentRefs, and writes the route's status for each parent.
#pragma once

#include <optional>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/control/compile/backends/compile_backend.h"
#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/routes/compile_route.h"

namespace sluice::control {

/// Adds the route's entries to the listeners that accept it, counts it there, and notes in `backends` which Gateways
/// use them. The status names only parents of this controller. Older routes must be attached first, because they keep
/// what a later one wants too (claims.h). `kept` is set for the previous version of a route whose newest version is
/// refused by its schema; it is the fault for the route's conditions.
config::ObjectStatus attachRoute(const config::Model& model, const RoutePlan& plan, const std::optional<Fault>& kept,
                                 std::vector<GatewayPlan>& gateways, BackendCatalog& backends);

}  // namespace sluice::control
