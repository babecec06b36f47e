// Writes the statuses of policies of one type that attach to other objects, and reports whether each takes effect for
// its targets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/status/policy_ancestors.h"
#include "proxy/compile/status/refused_objects.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// The consequences of faults, in words.
struct PolicyConsequences {
  std::string_view unattached;  // if the target does not exist, or another policy takes precedence
  std::string_view illegible;   // for a refused policy whose targets cannot be read
};

/// `Conditions conditionsOf(policy, object, section, why)` returns the conditions of a policy for one of its ancestors,
/// as std::vector<config::Condition>. `object` may be null, and `why` is set if the policy does not take effect there.
template <typename Policy, typename ConditionsOf>
class AttachedStatusWriter {
 public:
  AttachedStatusWriter(const StatusSources& sources, const PolicyConsequences& consequences, ConditionsOf conditionsOf)
      : sources_(sources),
        reach_(sources),
        policies_(sources.model),
        consequences_(consequences),
        conditionsOf_(std::move(conditionsOf)) {}

  std::vector<config::ParentStatus> ancestors(const Policy& policy) const {
    return ancestorsOf(sources_, reach_, policy.meta, policy, consequences_.unattached,
                       [&](const config::ObjectMeta* object, std::string_view section, const auto& unfound) {
                         std::optional<Fault> why = unfound ? unfound : alteringFault(policy.unsupported);
                         if constexpr (!config::ApplyTogether<Policy>) {
                           if (!why && object != nullptr) why = conflict(policy, *object, section);
                         }
                         return conditionsOf_(policy, object, section, why);
                       });
  }

  config::ObjectStatus refused(const config::Rejected& rejected) const {
    const auto* legible = rejected.legible<Policy>();
    if (legible == nullptr) return rejectedStatus(rejected, consequences_.illegible);
    const Fault why =
        summary(config::reason::kInvalid, rejected.message + "; the rules that it is for here answer 500");
    config::ObjectStatus status = statusOf(rejected);
    status.parents = ancestorsOf(sources_, reach_, legible->meta, *legible, consequences_.unattached,
                                 [&](const config::ObjectMeta*, std::string_view, const std::optional<Fault>&) {
                                   Conditions conditions(rejected.generation);
                                   return conditions.bad(config::condition_type::kAccepted, why).take();
                                 });
    if (!status.parents.empty()) return status;
    return rejectedStatus(rejected, "rules of its namespace that it could be for answer 500");
  }

 private:
  /// Returns the fault of a policy for a target where an older policy takes precedence.
  std::optional<Fault> conflict(const Policy& policy, const config::ObjectMeta& object,
                                std::string_view section) const {
    const auto* const first = policies_.findExactly(object, {section});
    if (first == nullptr || first->policy == &policy) return std::nullopt;
    return fault(config::reason::kConflicted,
                 std::string(first->policy->meta.kind) + " " + first->policy->meta.qualifiedName() +
                     " is for the same and comes first; " + std::string(consequences_.unattached));
  }

  const StatusSources& sources_;
  const PolicyReach reach_;
  const AttachedPolicies<Policy> policies_;
  const PolicyConsequences consequences_;
  const ConditionsOf conditionsOf_;
};

/// Writes the statuses of all policies of that type. A policy's ancestors are the objects that it targets; see
/// policy_ancestors.h.
template <typename Policy, typename ConditionsOf>
void attachedPolicyStatuses(const StatusSources& sources, const PolicyConsequences& consequences,
                            ConditionsOf conditionsOf, Statuses& statuses) {
  // Most configurations have no policies, and finding the reachable objects takes long.
  bool any = !sources.model.all<Policy>().empty();
  forEachRefused<Policy>(sources.model, [&](const config::Rejected&) { any = true; });
  if (!any) return;
  const AttachedStatusWriter<Policy, ConditionsOf> writer(sources, consequences, std::move(conditionsOf));
  for (const Policy& each : sources.model.all<Policy>()) {
    std::vector<config::ParentStatus> ancestors = writer.ancestors(each);
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<Policy>(sources.model,
                         [&](const config::Rejected& each) { statuses.push_back(writer.refused(each)); });
}

}  // namespace sluice::compile
