#include "proxy/compile/status/egress_policy_status.h"

#include <utility>
#include <vector>

#include "config/model/egress_policy.h"
#include "proxy/compile/policies/egress_policies.h"
#include "proxy/compile/policies/egress_visibility.h"
#include "proxy/compile/status/attached_policy_status.h"
#include "proxy/compile/status/egress_ways.h"

namespace sluice::compile {
namespace {

/// Returns why the clientAuthentication of the policy does not apply to a Gateway or a listener of it.
std::optional<Fault> faultOfAuthentication(const config::EgressPolicy& policy, const config::ObjectMeta& gateway,
                                           std::string_view listener,
                                           const AttachedPolicies<config::EgressPolicy>& policies,
                                           const EgressWays& ways) {
  const std::string& path = policy.clientAuthentication->path;
  if (ways.empty()) {
    return fault(config::reason::kUnsupportedRule, path,
                 "no listener there speaks HTTP, so none can ask clients for credentials");
  }
  const auto* const first = policies.findExactly(gateway, {listener}, authenticates);
  if (first == nullptr || first->policy == &policy) return std::nullopt;
  return fault(config::reason::kConflicted, path,
               std::string(first->policy->meta.kind) + " " + first->policy->meta.qualifiedName() +
                   " authenticates clients of the same and comes first; the rules of both take effect");
}

/// `object` may be null.
std::vector<config::Finding> notesOn(const config::EgressPolicy& policy, const config::ObjectMeta* object,
                                     std::string_view section, const StatusSources& sources) {
  std::vector<config::Finding> notes = ignoredNotes(policy.unsupported);
  if (object == nullptr) return notes;
  for (config::Finding& each : notesOnCallers(policy, *object, section, sources)) notes.push_back(std::move(each));
  return notes;
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
        const EgressWays ways = object != nullptr ? waysTo(*object, section, sources) : EgressWays();
        if (!why) why = unseenRule(policy, ways);
        if (!why && authenticates(policy) && object != nullptr) {
          why = faultOfAuthentication(policy, *object, section, policies, ways);
        }
        Conditions conditions(policy.meta);
        conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)),
                         notesOn(policy, object, section, sources));
        const auto unseen = partlySeenRules(policy, ways);
        if (unseen && !why) conditions.troubled(config::condition_type::kPartiallyVisible, *unseen);
        return conditions.take();
      },
      statuses);
}

}  // namespace sluice::compile
