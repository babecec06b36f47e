#include "proxy/compile/routes/route_cache.h"

#include <algorithm>
#include <cstddef>

namespace sluice::compile {
namespace {

bool haveSameBackends(const RoutePlan& plan, const RouteTools& tools) {
  return std::all_of(plan.uses.begin(), plan.uses.end(), [&](const std::shared_ptr<const BackendUse>& before) {
    return tools.uses.hold(tools.backends, before, plan.holder());
  });
}

/// Returns true if the settings of policies for the route's rules are equal to those in the plan. The caller has
/// checked that the Backends are the same.
bool haveSamePolicies(const RoutePlan& plan, const RulePolicyList& policies) {
  for (const RulePlan& rule : plan.rules) {
    for (std::size_t i = 0; i < policies.size(); ++i) {
      if (!sameSettings(policies[i]->ofRule(plan, rule), rule.own[i])) return false;
    }
  }
  return std::all_of(policies.begin(), policies.end(), [&](const auto& each) { return each->isCurrent(plan); });
}

}  // namespace

bool meansTheSame(const RoutePlan& plan, const RouteTools& tools) {
  return haveSameBackends(plan, tools) && haveSamePolicies(plan, tools.policies);
}

}  // namespace sluice::compile
