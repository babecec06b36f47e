#include "proxy/compile/route_attacher.h"

#include <vector>

#include "proxy/compile/gateways/closed_plans.h"
#include "proxy/compile/status/route_status.h"

namespace sluice::compile {

void RouteAttacher::attach(const std::shared_ptr<const RoutePlan>& plan) {
  if (sealerFault_ != nullptr) {
    auto less = withoutSessions(*plan, *tools_.model.settings.sessionKey, *sealerFault_);
    if (less) return attachOpen(std::make_shared<const RoutePlan>(*std::move(less)));
  }
  attachOpen(plan);
}

void RouteAttacher::attachOpen(const std::shared_ptr<const RoutePlan>& plan) {
  auto closed = closedRoute(*plan, policies_);
  const auto known = closed ? std::make_shared<const RoutePlan>(*std::move(closed)) : plan;
  const auto tooMany = entriesFault(tools_, known);
  if (tooMany) return attachWhole(std::make_shared<const RoutePlan>(withoutMatches(*known, *tooMany)));
  attachWhole(known);
}

void RouteAttacher::attachWhole(const std::shared_ptr<const RoutePlan>& plan) {
  const std::vector<ParentAttachment> parents = attachRoute(tools_, plan);
  if (parents.empty()) return;
  statuses_.push_back(routeStatus(*plan, parents, keptFault(tools_.model, plan->route->meta), servers_));
}

}  // namespace sluice::compile
