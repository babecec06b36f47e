#include "proxy/compile/status/egress_policy_status.h"

#include <algorithm>

#include "config/model/egress_policy.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/policies/egress_policies.h"
#include "proxy/compile/status/attached_policy_status.h"

namespace sluice::compile {
namespace {

/// Returns true if a listener of the Gateway, or the one of that name, could ask clients for credentials.
bool canAskClients(const std::vector<GatewayPlan>& gateways, const config::ObjectMeta& gateway,
                   std::string_view listener) {
  const auto plan =
      std::find_if(gateways.begin(), gateways.end(), [&](const auto& each) { return &each.gateway->meta == &gateway; });
  return plan != gateways.end() && std::any_of(plan->listeners.begin(), plan->listeners.end(), [&](const auto& each) {
           return speaksHttp(*each.listener) && (listener.empty() || each.listener->name == listener);
         });
}

/// Returns why the clientAuthentication of the policy does not apply to a Gateway or a listener of it.
std::optional<Fault> faultOfAuthentication(const config::EgressPolicy& policy, const config::ObjectMeta& gateway,
                                           std::string_view listener,
                                           const AttachedPolicies<config::EgressPolicy>& policies,
                                           const std::vector<GatewayPlan>& gateways) {
  const std::string& path = policy.clientAuthentication->path;
  if (!canAskClients(gateways, gateway, listener)) {
    return fault(config::reason::kUnsupportedRule, path,
                 "no listener there speaks HTTP, so none can ask clients for credentials");
  }
  const auto* const first = policies.findExactly(gateway, {listener}, authenticates);
  if (first == nullptr || first->policy == &policy) return std::nullopt;
  return fault(config::reason::kConflicted, path,
               std::string(first->policy->meta.kind) + " " + first->policy->meta.qualifiedName() +
                   " authenticates clients of the same and comes first; the rules of both take effect");
}

}  // namespace

void egressPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  const AttachedPolicies<config::EgressPolicy> policies(sources.model);
  attachedPolicyStatuses<config::EgressPolicy>(
      sources, {"nothing is restricted", "its targets cannot be read, so no requests are refused for it"},
      [&](const config::EgressPolicy& policy, const config::ObjectMeta* object, std::string_view section,
          const std::optional<Fault>& unfound) {
        std::optional<Fault> why = unfound;
        if (!why) why = faultOfEgressPolicy(policy, sources.model);
        if (!why && authenticates(policy) && object != nullptr) {
          why = faultOfAuthentication(policy, *object, section, policies, sources.gateways);
        }
        Conditions conditions(policy.meta);
        conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)),
                         ignoredNotes(policy.unsupported));
        return conditions.take();
      },
      statuses);
}

}  // namespace sluice::compile
