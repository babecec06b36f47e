#include "proxy/compile/routes/route_cache.h"

#include <algorithm>

namespace sluice::compile {
namespace {

bool haveSameBackends(const RoutePlan& plan, const RouteTools& tools) {
  return std::all_of(plan.uses.begin(), plan.uses.end(), [&](const std::shared_ptr<const BackendUse>& before) {
    return tools.uses.hold(tools.backends, before, plan.holder());
  });
}

/// Returns true if policies say of the route and of its Backends what they have said. Its Backends are the same.
bool haveSameTraffic(const RoutePlan& plan, const RouteTools& tools) {
  const TrafficPolicies& policies = tools.traffic;
  const config::ObjectMeta& route = plan.route->meta;
  const auto concern = [&](const auto& use) { return policies.concern(*use, plan.holder()); };
  if (!plan.governed && !policies.concern(route) && std::none_of(plan.uses.begin(), plan.uses.end(), concern)) {
    return true;
  }
  return std::all_of(plan.rules.begin(), plan.rules.end(), [&](const RulePlan& rule) {
    return policies.of(route, {rule.name}) == rule.traffic.own &&
           trafficOf(rule.members, policies, plan.holder()) == rule.traffic.ofBackends;
  });
}

bool haveSameUses(const RoutePlan& plan, const RouteTools& tools) {
  const config::ObjectMeta& route = plan.route->meta;
  if (tools.processors.concern(route) != plan.processed) return false;
  return std::all_of(plan.asked.begin(), plan.asked.end(), [&](const AskedUses& before) {
    return findUses(tools.processors, route, before.question) == before.found;
  });
}

bool keepGoverned(const RoutePlan& plan, const BackendCatalog& backends) {
  return !plan.governed || std::all_of(plan.rules.begin(), plan.rules.end(),
                                       [&](const RulePlan& rule) { return backends.keepGoverned(*rule.rule); });
}

}  // namespace

bool meansTheSame(const RoutePlan& plan, const RouteTools& tools) {
  return plan.hooks == tools.hooks && haveSameBackends(plan, tools) && haveSameTraffic(plan, tools) &&
         haveSameUses(plan, tools) && keepGoverned(plan, tools.backends);
}

}  // namespace sluice::compile
