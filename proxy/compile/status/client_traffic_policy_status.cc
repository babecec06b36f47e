#include "proxy/compile/status/client_traffic_policy_status.h"

#include <algorithm>
#include <string>

#include "config/model/client_traffic_policy.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/policies/client_validations.h"
#include "proxy/compile/status/restricting_policy_status.h"

namespace sluice::compile {
namespace {

using config::ClientTrafficPolicy;
using ClientPolicies = AttachedPolicies<ClientTrafficPolicy>;

/// Returns the fault of the policy at the listeners that it is for; nullopt if it takes effect at each of them, or if
/// policies for these listeners take precedence.
std::optional<Fault> faultAtListeners(const ClientTrafficPolicy& policy, const GatewayPlan& gateway,
                                      std::string_view section) {
  bool hasTls = false;
  for (const ListenerPlan& each : gateway.listeners) {
    if (!section.empty() && each.listener->name != section) continue;
    if (each.clientPolicy == &policy && each.clientPolicyFault) return each.clientPolicyFault;
    hasTls = hasTls || config::terminatesTls(each.listener->protocol);
  }
  if (hasTls) return std::nullopt;
  return fault(config::reason::kUnsupportedRule, policy.validation->path,
               "no listener there has TLS, so none can ask clients for certificates");
}

std::optional<Fault> faultOfClientPolicy(const ClientTrafficPolicy& policy, const config::ObjectMeta* object,
                                         std::string_view section, const ClientPolicies& policies,
                                         const std::vector<GatewayPlan>& gateways) {
  if (!validates(policy)) return fault(config::reason::kInvalid, policy.note.field, policy.note.message);
  if (object == nullptr) return std::nullopt;
  if (!config::isKindOf<config::Gateway>(object->group, object->kind)) {
    return fault(config::reason::kUnsupportedValue, policy.validation->path,
                 "clients are verified by Gateways and their listeners only: other targets answer 500");
  }
  const auto* const first = policies.findExactly(*object, {section}, validates);
  if (first != nullptr && first->policy != &policy) {
    return fault(config::reason::kConflicted,
                 first->policy->meta.title() + " is for the same and comes first; it alone takes effect");
  }
  const auto plan = std::find_if(gateways.begin(), gateways.end(),
                                 [&](const GatewayPlan& each) { return &each.gateway->meta == object; });
  return plan == gateways.end() ? std::nullopt : faultAtListeners(policy, *plan, section);
}

}  // namespace

void clientTrafficPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  const ClientPolicies policies(sources.model);
  restrictingPolicyStatuses<ClientTrafficPolicy>(
      sources,
      [&](const ClientTrafficPolicy& policy, const config::ObjectMeta* object, std::string_view section) {
        return faultOfClientPolicy(policy, object, section, policies, sources.gateways);
      },
      statuses);
}

}  // namespace sluice::compile
