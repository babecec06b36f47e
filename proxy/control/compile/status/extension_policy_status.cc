#include "proxy/control/compile/status/extension_policy_status.h"

#include <string>
#include <utility>

#include "proxy/control/compile/processors/extension_policies.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/policy_ancestors.h"
#include "proxy/control/compile/status/processor_status.h"
#include "proxy/control/compile/status/refused_objects.h"

namespace sluice::control {
namespace {

constexpr std::string_view kUnattached = "nothing is attached";

class ExtensionStatusWriter {
 public:
  explicit ExtensionStatusWriter(const StatusSources& sources)
      : sources_(sources), reach_(sources), policies_(sources.model) {}

  std::vector<config::ParentStatus> ancestors(const config::ExtensionPolicy& policy) const {
    return ancestorsOf(sources_, reach_, policy.meta, policy, kUnattached,
                       [&](const config::ObjectMeta* object, std::string_view section, const auto& unfound) {
                         std::optional<Fault> why = unfound ? unfound : alteringFault(policy.unsupported);
                         if (!why && object != nullptr) why = conflict(policy, *object, section);
                         return processorConditions(policy.meta, why, sources_);
                       });
  }

  config::ObjectStatus refused(const config::Rejected& rejected) const {
    const auto* legible = rejected.legible<config::ExtensionPolicy>();
    if (legible == nullptr) {
      return rejectedStatus(rejected, "it cannot be read what it targets, so nothing is refused for it");
    }
    const Fault why =
        summary(config::reason::kInvalid, rejected.message + "; the rules that it is for here answer 500");
    config::ObjectStatus status = statusOf(rejected);
    status.parents = ancestorsOf(sources_, reach_, legible->meta, *legible, kUnattached,
                                 [&](const config::ObjectMeta*, std::string_view, const std::optional<Fault>&) {
                                   Conditions conditions(rejected.generation);
                                   return conditions.bad(config::condition_type::kAccepted, why).take();
                                 });
    if (!status.parents.empty()) return status;
    return rejectedStatus(rejected, "rules of its namespace that it could be for answer 500");
  }

 private:
  /// Returns the fault of a policy for something that an older one counts for.
  std::optional<Fault> conflict(const config::ExtensionPolicy& policy, const config::ObjectMeta& object,
                                std::string_view section) const {
    const ExtensionPolicies::PolicyCandidate* first = policies_.findExactly(object, section);
    if (first == nullptr || first->policy == &policy) return std::nullopt;
    return fault(config::reason::kConflicted, std::string(config::ExtensionPolicy::kKind) + " " +
                                                  first->policy->meta.qualifiedName() +
                                                  " is for the same and comes first; " + std::string(kUnattached));
  }

  const StatusSources& sources_;
  const PolicyReach reach_;
  const ExtensionPolicies policies_;
};

}  // namespace

void extensionPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  // Most configurations have no policies, and the objects that are reached are many.
  bool any = !sources.model.all<config::ExtensionPolicy>().empty();
  forEachRefused<config::ExtensionPolicy>(sources.model, [&](const config::Rejected&) { any = true; });
  if (!any) return;
  const ExtensionStatusWriter writer(sources);
  for (const config::ExtensionPolicy& each : sources.model.all<config::ExtensionPolicy>()) {
    std::vector<config::ParentStatus> ancestors = writer.ancestors(each);
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<config::ExtensionPolicy>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(writer.refused(each)); });
}

}  // namespace sluice::control
