#include "proxy/compile/gateways/closed_plans.h"

#include "proxy/compile/ground/object_status.h"

namespace sluice::compile {

void closeListeners(const ClosingPolicies& policies, std::vector<GatewayPlan>& gateways) {
  if (policies.empty()) return;
  for (GatewayPlan& gateway : gateways) {
    for (ListenerPlan& listener : gateway.listeners) {
      const auto why = policies.faultOf(gateway.gateway->meta, {listener.listener->name});
      if (!why) continue;
      listener.closed = both(listener.closed, why);
      listener.worsen(ListenerState::kRefusing);
      gateway.closeFor(*why);
    }
  }
}

std::optional<RoutePlan> closedRoute(const RoutePlan& plan, const ClosingPolicies& policies) {
  if (policies.empty()) return std::nullopt;
  return withRefusals(plan, [&](const RulePlan& rule) { return policies.faultOf(plan.route->meta, {rule.name}); });
}

}  // namespace sluice::compile
