// Attaches a route to listeners by its parentRefs, and tells what became of each of them. status/route_status.h makes
// the route's conditions of that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/shared_matches.h"

namespace sluice::compile {

/// References outlive the call.
struct AttachTools {
  const config::Model& model;
  const SharedMatches& matches;  // of all routes
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
  /// Notes for people, which go with its acceptance.
  std::vector<config::Finding> notes;
  /// Faults that its rules have at these listeners alone.
  std::vector<Fault> dropped;
  /// References of its rules that do not count at these listeners.
  std::vector<Fault> unresolved;
};

/// Returns the fault of a route that has more entries than one object may have (limits.matches). Each match is an entry
/// at every listener and under every hostname there. Such a route is refused alone: withoutMatches() is attached in its
/// place.
std::optional<Fault> entriesFault(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan);

/// Adds the route to the listeners that accept it, counts it there, and notes which Gateways use its Backends. Returns
/// what became of it at the parents of this controller. Older routes must be attached first, because they keep what a
/// later one wants too (claims.h).
std::vector<ParentAttachment> attachRoute(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan);

}  // namespace sluice::compile
