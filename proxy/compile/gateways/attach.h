// Attaches a route to listeners by its parentRefs, and returns the result for each parentRef. status/route_status.h
// makes the route's conditions from it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/shared_matches.h"

namespace sluice::compile {

/// References outlive the call.
struct AttachTools {
  const config::Model& model;
  const SharedMatches& matches;  // the shared matches of all routes
  std::vector<GatewayPlan>& gateways;
  BackendCatalog& backends;
  const RulePolicyList& policies;
  ListenerCache& cache;
};

/// A route at one of its parents.
struct ParentAttachment {
  const config::ParentRef* parent = nullptr;
  /// The reason why no listener there has accepted the route.
  std::optional<Fault> refused;
  /// Notes that the condition Accepted shows to people.
  std::vector<config::Finding> notes;
  /// Faults that its rules have only at these listeners.
  std::vector<Fault> dropped;
  /// References of its rules that are not resolved at these listeners.
  std::vector<Fault> unresolved;
};

/// Returns the fault of a route that has more entries than one object may have (limits.matches). Each match is one
/// entry for every listener and every hostname there. The fault refuses only this route: withoutMatches() is attached
/// in its place.
std::optional<Fault> entriesFault(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan);

/// Returns true if the route names Gateways of this controller, and each of their listeners refuses its kind or its
/// namespace (allowedRoutes). Such a route serves nothing, so it need not be compiled.
bool isTurnedAway(const config::Model& model, const std::vector<GatewayPlan>& gateways, std::string_view kind,
                  const config::Route& route);

/// Attaches the route to the listeners that accept it, updates their number of routes, and notes which Gateways use its
/// Backends. Returns the result for each parent of this controller. Older routes must be attached first, because they
/// take precedence over later ones (claims.h).
std::vector<ParentAttachment> attachRoute(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan);

}  // namespace sluice::compile
