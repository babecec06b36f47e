#include "proxy/compile/route_attacher.h"

#include <vector>

#include "proxy/compile/gateways/closed_plans.h"
#include "proxy/compile/status/route_status.h"

namespace sluice::compile {

void RouteAttacher::attach(const RoutePlan& plan) {
  if (sealerFault_ != nullptr) {
    if (auto less = withoutSessions(plan, *tools_.model.settings.sessionKey, *sealerFault_)) return attachOpen(*less);
  }
  attachOpen(plan);
}

void RouteAttacher::attachOpen(const RoutePlan& plan) {
  const auto closed = closedRoute(plan, policies_);
  const RoutePlan& known = closed ? *closed : plan;
  const auto tooMany = entriesFault(tools_, known);
  if (tooMany) return attachWhole(withoutMatches(known, *tooMany));
  attachWhole(known);
}

void RouteAttacher::attachWhole(const RoutePlan& plan) {
  const std::vector<ParentAttachment> parents = attachRoute(tools_, plan);
  if (parents.empty()) return;
  statuses_.push_back(routeStatus(plan, parents, keptFault(tools_.model, plan.route->meta), servers_));
}

}  // namespace sluice::compile
