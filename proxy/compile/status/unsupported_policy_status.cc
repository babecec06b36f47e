#include "proxy/compile/status/unsupported_policy_status.h"

#include <string>
#include <utility>

#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/status/policy_ancestors.h"
#include "proxy/compile/status/refused_objects.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

std::vector<config::ParentStatus> unsupportedAncestors(const StatusSources& sources, const PolicyReach& reach,
                                                       const config::UnsupportedPolicy& policy,
                                                       const std::optional<Fault>& invalid) {
  const Fault unsupported = fault(reason::kInvalid, policy.note.field, policy.note.message);
  const auto judge = [&](const config::ObjectMeta*, std::string_view, const std::optional<Fault>& unfound) {
    const Fault& why = invalid ? *invalid : unfound ? *unfound : unsupported;
    Conditions conditions(policy.meta);
    conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)));
    return conditions.take();
  };
  return ancestorsOf(sources, reach, policy.meta, policy, "no requests are refused", judge);
}

config::ObjectStatus refusedPolicyStatus(const StatusSources& sources, const PolicyReach& reach,
                                         const config::Rejected& rejected) {
  const auto* legible = rejected.legible<config::UnsupportedPolicy>();
  if (legible == nullptr) {
    return rejectedStatus(rejected, "its targets cannot be read, so no requests are refused for it");
  }
  config::ObjectStatus status = statusOf(rejected);
  constexpr std::string_view kHarmless = "it restricts nothing, so no requests are refused for it";
  const std::string_view named = legible->restricts ? "its targets answer 500" : kHarmless;
  const Fault why = summary(reason::kInvalid, rejected.message + "; " + std::string(named));
  status.parents = unsupportedAncestors(sources, reach, *legible, why);
  if (!status.parents.empty()) return status;
  return rejectedStatus(rejected,
                        legible->restricts ? "objects of its namespace that it could target answer 500" : kHarmless);
}

}  // namespace

void unsupportedPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  // Most configurations have no policies, and finding the reachable objects takes long.
  bool any = !sources.model.all<config::UnsupportedPolicy>().empty();
  forEachRefused<config::UnsupportedPolicy>(sources.model, [&](const config::Rejected&) { any = true; });
  if (!any) return;
  const PolicyReach reach(sources);
  for (const config::UnsupportedPolicy& each : sources.model.all<config::UnsupportedPolicy>()) {
    std::vector<config::ParentStatus> ancestors = unsupportedAncestors(sources, reach, each, std::nullopt);
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<config::UnsupportedPolicy>(sources.model, [&](const config::Rejected& each) {
    statuses.push_back(refusedPolicyStatus(sources, reach, each));
  });
}

}  // namespace sluice::compile
