// Attaches a route to listeners by its parentRefs, and writes the route's status for each parent.
#pragma once

#include <optional>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/processors/asked_servers.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/shared_matches.h"

namespace sluice::compile {

/// References outlive the call.
struct AttachTools {
  const config::Model& model;
  const SharedMatches& matches;  // of all routes
  std::vector<GatewayPlan>& gateways;
  BackendCatalog& backends;
  const AskedServers& servers;  // of all routes
  processing::SharedStates& states;
  const TrafficPolicies& traffic;
};

/// Adds the route to the listeners that accept it, counts it there, and notes which Gateways use its Backends. The
/// status names only parents of this controller. Older routes must be attached first, because they keep what a later
/// one wants too (claims.h). `kept` is set for the previous version of a route whose newest version is refused by its
/// schema; it is the fault for the route's conditions. A route beyond limits.matches is refused alone.
config::ObjectStatus attachRoute(const AttachTools& tools, const RoutePlan& plan, const std::optional<Fault>& kept);

}  // namespace sluice::compile
