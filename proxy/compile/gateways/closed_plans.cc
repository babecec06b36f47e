#include "proxy/compile/gateways/closed_plans.h"

namespace sluice::compile {

void closeListeners(const ClosingPolicies& policies, std::vector<GatewayPlan>& gateways) {
  if (policies.empty()) return;
  for (GatewayPlan& gateway : gateways) {
    for (ListenerPlan& listener : gateway.listeners) {
      listener.closed = policies.faultOf(gateway.gateway->meta, {listener.listener->name});
      if (!listener.closed) continue;
      listener.worsen(ListenerState::kRefusing);
      gateway.closeFor(*listener.closed);
    }
  }
}

std::optional<RoutePlan> closedRoute(const RoutePlan& plan, const ClosingPolicies& policies) {
  if (policies.empty()) return std::nullopt;
  return withRefusals(plan, [&](const RulePlan& rule) { return policies.faultOf(plan.route->meta, {rule.name}); });
}

}  // namespace sluice::compile
