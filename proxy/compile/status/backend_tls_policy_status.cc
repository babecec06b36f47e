#include "proxy/compile/status/backend_tls_policy_status.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proxy/compile/destinations/backend_tls_policies.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/status/policy_ancestors.h"
#include "proxy/compile/status/refused_objects.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

constexpr std::string_view kNothingChanged = "nothing is changed";
constexpr std::string_view kOnlyDestinations = "only Services and Backends are supported: other targets answer 500";

class TlsPolicyWriter {
 public:
  explicit TlsPolicyWriter(const StatusSources& sources) : sources_(sources), reach_(sources) {}

  /// `invalid` is the fault of a policy that its schema refused.
  std::vector<config::ParentStatus> ancestors(const config::BackendTlsPolicy& policy,
                                              const std::optional<Fault>& invalid) const {
    std::vector<config::ParentStatus> result;
    for (const GatewayPlan* gateway : gatewaysTo(policy)) {
      const config::ObjectMeta& meta = gateway->gateway->meta;
      const config::ObjectRef ref{std::string(meta.group), std::string(meta.kind), meta.nameSpace, meta.name, {}, {}};
      result.push_back(ancestorOf({ref, meta.nameSpace, {}}, conditionsFor(policy, *gateway, invalid)));
    }
    for (config::ParentStatus& each : otherTargets(policy, invalid)) result.push_back(std::move(each));
    if (result.size() > kMostAncestors) result.resize(kMostAncestors);
    return result;
  }

 private:
  /// Returns the Gateways that lead to a Service or Backend that the policy targets, by name.
  std::vector<const GatewayPlan*> gatewaysTo(const config::BackendTlsPolicy& policy) const {
    std::set<const GatewayPlan*> all;
    for (const config::PolicyTarget& target : policy.targets) {
      if (!isTlsTarget(target.targetKind())) continue;
      for (const GatewayPlan* each : reach_.gatewaysTo(target.object, policy.meta.nameSpace)) all.insert(each);
    }
    std::vector<const GatewayPlan*> byName(all.begin(), all.end());
    std::sort(byName.begin(), byName.end(), [](const GatewayPlan* a, const GatewayPlan* b) {
      const config::ObjectMeta& left = a->gateway->meta;
      const config::ObjectMeta& right = b->gateway->meta;
      return std::pair(left.qualifiedName(), left.kind) < std::pair(right.qualifiedName(), right.kind);
    });
    return byName;
  }

  bool leadsTo(const GatewayPlan& gateway, const config::BackendTlsPolicy& policy,
               const config::PolicyTarget& target) const {
    const auto through = reach_.gatewaysTo(target.object, policy.meta.nameSpace);
    return std::find(through.begin(), through.end(), &gateway) != through.end();
  }

  std::vector<config::Condition> conditionsFor(const config::BackendTlsPolicy& policy, const GatewayPlan& gateway,
                                               const std::optional<Fault>& invalid) const {
    Conditions conditions(policy.meta);
    if (invalid) return conditions.bad(condition_type::kAccepted, *invalid).take();
    std::vector<Fault> faults;
    for (const config::PolicyTarget& target : policy.targets) {
      if (!isTlsTarget(target.targetKind()) || !leadsTo(gateway, policy, target)) continue;
      if (auto why = faultOf(policy, target)) faults.push_back(*std::move(why));
    }
    const CompiledTlsPolicy& compiled = sources_.tlsPolicies.compiled(policy);
    const std::optional<Fault> unaccepted = both(joined(faults), compiled.unaccepted);
    conditions.check(condition_type::kAccepted, both(unaccepted, keptFault(sources_.model, policy.meta)),
                     ignoredNotes(policy.unsupported));
    conditions.check(condition_type::kResolvedRefs, compiled.unresolved);
    return conditions.take();
  }

  /// Returns the reason why the policy does not take effect for a Service or Backend, or for a port of it.
  std::optional<Fault> faultOf(const config::BackendTlsPolicy& policy, const config::PolicyTarget& target) const {
    const config::Model& model = sources_.model;
    const std::string& nameSpace = policy.meta.nameSpace;
    config::ObjectRef ref = target.object;
    ref.kind = meantKind(model, target.object, nameSpace);
    const Attachment to{ref, nameSpace, target.sectionName};
    const FoundTarget found = findTarget(model, sources_.gateways, to);
    if (auto unfound = targetFault(model, found, to, holderOf(policy.meta), kNothingChanged)) return unfound;
    if (isService(ref)) {
      const auto* service = model.find<config::Service>(nameSpace, ref.name);
      return service == nullptr ? std::nullopt : conflict(policy, target, *service);
    }
    const auto* backend = model.find<config::Backend>(ref.group, ref.kind, nameSpace, ref.name);
    if (backend == nullptr) return std::nullopt;  // its schema refused it
    auto behind = conflict(policy, target, *backend);
    return behind ? std::move(behind) : contradiction(policy, target, *backend);
  }

  /// Returns a fault if another policy for the same Service or Backend, or for the same port of it, takes precedence.
  template <typename Object>
  std::optional<Fault> conflict(const config::BackendTlsPolicy& policy, const config::PolicyTarget& target,
                                const Object& object) const {
    const auto port = std::find_if(object.ports.begin(), object.ports.end(), [&](const auto& each) {
      return target.names({each.name, each.number});
    });
    const auto* first = sources_.tlsPolicies.findExactly(
        object.meta,
        port == object.ports.end() ? config::PolicySection() : config::PolicySection{port->name, port->number});
    if (first == nullptr || first->policy == &policy) return std::nullopt;
    return fault(reason::kConflicted, target.object.path,
                 first->policy->meta.title() + " is for the same and comes first; " + std::string(kNothingChanged));
  }

  /// Returns a fault if the policy takes effect for a port that the target refers to, and the Backend's own settings
  /// for the port contradict it.
  std::optional<Fault> contradiction(const config::BackendTlsPolicy& policy, const config::PolicyTarget& target,
                                     const config::Backend& backend) const {
    for (const config::BackendPort& port : backend.ports) {
      const config::PolicySection section{port.name, port.number};
      if (!target.sectionName.empty() && !target.names(section)) continue;
      const auto* counts = sources_.tlsPolicies.find(backend.meta, section);
      const std::optional<config::Finding> own = contradictionIn(tlsOf(backend, port));
      if (counts == nullptr || counts->policy != &policy || !own) continue;
      return fault(reason::kInvalid, target.object.path,
                   backend.meta.title() + " contradicts it by " + own->text() + "; requests to it answer 500");
    }
    return std::nullopt;
  }

  std::vector<config::ParentStatus> otherTargets(const config::BackendTlsPolicy& policy,
                                                 const std::optional<Fault>& invalid) const {
    config::PolicyTargets others;
    std::copy_if(policy.targets.begin(), policy.targets.end(), std::back_inserter(others.targets),
                 [](const config::PolicyTarget& each) { return !isTlsTarget(each.targetKind()); });
    if (others.empty()) return {};
    const Fault unsupported = fault(reason::kInvalid, "spec.targetRefs", std::string(kOnlyDestinations));
    const auto judge = [&](const config::ObjectMeta*, std::string_view, const std::optional<Fault>& unfound) {
      const Fault& why = invalid ? *invalid : unfound ? *unfound : unsupported;
      Conditions conditions(policy.meta);
      conditions.check(condition_type::kAccepted, both(why, keptFault(sources_.model, policy.meta)));
      return conditions.take();
    };
    return ancestorsOf(sources_, reach_, policy.meta, others, "no requests are refused", judge);
  }

  const StatusSources& sources_;
  const PolicyReach reach_;
};

config::ObjectStatus refusedTlsPolicy(const TlsPolicyWriter& writer, const config::Rejected& rejected) {
  const auto* legible = rejected.legible<config::BackendTlsPolicy>();
  if (legible == nullptr) {
    return rejectedStatus(rejected, "its targets cannot be read, so no requests are refused for it");
  }
  config::ObjectStatus status = statusOf(rejected);
  status.parents = writer.ancestors(*legible, summary(reason::kInvalid, rejected.message + "; its targets answer 500"));
  if (!status.parents.empty()) return status;
  return rejectedStatus(rejected, "objects of its namespace that it could target answer 500");
}

}  // namespace

void backendTlsPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  // Most configurations have no policies, and finding the reachable objects takes long.
  bool any = !sources.model.all<config::BackendTlsPolicy>().empty();
  forEachRefused<config::BackendTlsPolicy>(sources.model, [&](const config::Rejected&) { any = true; });
  if (!any) return;
  const TlsPolicyWriter writer(sources);
  for (const config::BackendTlsPolicy& each : sources.model.all<config::BackendTlsPolicy>()) {
    std::vector<config::ParentStatus> ancestors = writer.ancestors(each, std::nullopt);
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<config::BackendTlsPolicy>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(refusedTlsPolicy(writer, each)); });
}

}  // namespace sluice::compile
