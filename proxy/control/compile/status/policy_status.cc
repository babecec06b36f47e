#include "proxy/control/compile/status/policy_status.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "config/model/object_kinds.h"
#include "proxy/control/compile/backends/compile_service.h"
#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/status/attachment.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/refused_objects.h"

namespace sluice::control {
namespace {

namespace reason = config::reason;

// Bound of status.ancestors in the CRDs.
constexpr std::size_t kMostAncestors = 16;

/// The objects that requests of our Gateways can reach, by namespace and name.
class Reach {
 public:
  explicit Reach(const StatusSources& sources) : gateways_(sources.gateways) {
    const config::Model& model = sources.model;
    for (const GatewayPlan& each : gateways_) add(each.gateway->meta);
    addRoutes(model.all<config::HttpRoute>());
    addRoutes(model.all<config::GrpcRoute>());
    for (const config::Service& each : model.all<config::Service>()) {
      if (services_.contains({each.meta.nameSpace, each.meta.name})) add(each.meta);
    }
    for (const config::Backend& each : model.all<config::Backend>()) add(each.meta);
  }

  /// Returns the object of that namespace that the target means; nullptr if there is none.
  const config::ObjectMeta* find(const config::PolicyTarget& target, std::string_view nameSpace) const {
    const auto [first, last] = objects_.equal_range({nameSpace, target.object.name});
    const config::ObjectMeta* found = nullptr;
    for (auto each = first; each != last; ++each) {
      if (!target.means(*each->second)) continue;
      // An object of the very kind comes before one for which that kind is another name.
      if (found == nullptr || each->second->kind == target.object.kind) found = each->second;
    }
    return found;
  }

  /// Calls visit(meta) with each object of the namespace.
  template <typename Visit>
  void eachObject(std::string_view nameSpace, Visit&& visit) const {
    for (auto each = objects_.lower_bound({nameSpace, {}}); each != objects_.end(); ++each) {
      if (each->first.first != nameSpace) return;
      visit(*each->second);
    }
  }

 private:
  using Name = std::pair<std::string_view, std::string_view>;

  void add(const config::ObjectMeta& meta) { objects_.emplace(Name(meta.nameSpace, meta.name), &meta); }

  template <typename Routes>
  void addRoutes(const Routes& routes) {
    for (const auto& route : routes) {
      const std::string& nameSpace = route.meta.nameSpace;
      const bool attached =
          std::any_of(route.parentRefs.begin(), route.parentRefs.end(), [&](const config::ParentRef& each) {
            return findGatewayPlan(gateways_, each.object, nameSpace) != gateways_.end();
          });
      if (!attached) continue;
      add(route.meta);
      for (const auto& rule : route.rules) {
        addMirrors(rule.filters, nameSpace);
        for (const config::HttpBackendRef& each : rule.backendRefs) {
          addService(each, nameSpace);
          addMirrors(each.filters, nameSpace);
        }
      }
    }
  }

  void addMirrors(const config::RouteFilters& filters, std::string_view holder) {
    for (const config::RequestMirrorFilter& each : filters.mirrors) addService(each, holder);
  }

  void addService(const config::BackendObjectReference& ref, std::string_view holder) {
    if (isService(ref.object)) services_.insert({targetNamespace(ref.object, holder), ref.object.name});
  }

  const std::vector<GatewayPlan>& gateways_;
  std::multimap<Name, const config::ObjectMeta*> objects_;
  std::set<Name> services_;  // those that rules of our routes lead to
};

/// Writes the ancestors of one policy.
class PolicyWriter {
 public:
  /// `invalid` is set for a policy that its schema refused.
  PolicyWriter(const StatusSources& sources, const Reach& reach, const config::UnsupportedPolicy& policy,
               std::optional<Fault> invalid)
      : sources_(sources), reach_(reach), policy_(policy), invalid_(std::move(invalid)) {}

  std::vector<config::ParentStatus> ancestors() {
    for (const config::PolicyTarget& each : policy_.targets) addTarget(each);
    if (policy_.selectors.empty()) return std::move(ancestors_);
    reach_.eachObject(policy_.meta.nameSpace, [&](const config::ObjectMeta& each) { addSelected(each); });
    return std::move(ancestors_);
  }

 private:
  void addTarget(const config::PolicyTarget& target) {
    if (!target.legible() || config::isUnsupportedKind(target.object.group, target.object.kind)) return;
    config::ObjectRef ref = target.object;
    const std::string& nameSpace = policy_.meta.nameSpace;
    const config::ObjectMeta* reached = reach_.find(target, nameSpace);
    if (reached != nullptr) ref.kind = reached->kind;
    const FoundTarget found = findTarget(sources_.model, sources_.gateways, {ref, nameSpace, target.sectionName});
    const bool refused = sources_.model.findRejected(ref.group, ref.kind, nameSpace, ref.name) != nullptr;
    if (!found.ours || (found.found && reached == nullptr && !refused)) return;
    const Attachment to{target.object, nameSpace, target.sectionName};
    add(to, targetFault(sources_.model, found, to, holderOf(policy_.meta), "nothing is refused"));
  }

  void addSelected(const config::ObjectMeta& object) {
    const auto selects = [&](const config::PolicyTargetSelector& each) { return each.selects(object); };
    if (std::none_of(policy_.selectors.begin(), policy_.selectors.end(), selects)) return;
    const config::ObjectRef ref{
        std::string(object.group), std::string(object.kind), object.nameSpace, object.name, {}, {}};
    add({ref, object.nameSpace, {}}, std::nullopt);
  }

  void add(const Attachment& to, const std::optional<Fault>& unfound) {
    if (ancestors_.size() == kMostAncestors) return;
    const Fault unsupported = fault(reason::kInvalid, "kind: " + std::string(config::kUnsupportedPolicyNote));
    const Fault& why = invalid_ ? *invalid_ : unfound ? *unfound : unsupported;
    Conditions conditions(policy_.meta);
    conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources_.model, policy_.meta)));
    ancestors_.push_back(ancestorOf(to, conditions.take()));
  }

  const StatusSources& sources_;
  const Reach& reach_;
  const config::UnsupportedPolicy& policy_;
  const std::optional<Fault> invalid_;
  std::vector<config::ParentStatus> ancestors_;
};

config::ObjectStatus refusedPolicyStatus(const StatusSources& sources, const Reach& reach,
                                         const config::Rejected& rejected) {
  const auto* legible = rejected.legible<config::UnsupportedPolicy>();
  if (legible == nullptr) {
    return rejectedStatus(rejected, "it cannot be read what it names, so nothing is refused for it");
  }
  config::ObjectStatus status = statusOf(rejected);
  const Fault why = summary(reason::kInvalid, rejected.message + "; what it names here answers 500");
  status.parents = PolicyWriter(sources, reach, *legible, why).ancestors();
  if (!status.parents.empty()) return status;
  return rejectedStatus(rejected, "objects of its namespace that it could name answer 500");
}

}  // namespace

void policyStatuses(const StatusSources& sources, Statuses& statuses) {
  // Most configurations have no policies, and the objects that are reached are many.
  bool any = !sources.model.all<config::UnsupportedPolicy>().empty();
  forEachRefused<config::UnsupportedPolicy>(sources.model, [&](const config::Rejected&) { any = true; });
  if (!any) return;
  const Reach reach(sources);
  for (const config::UnsupportedPolicy& each : sources.model.all<config::UnsupportedPolicy>()) {
    std::vector<config::ParentStatus> ancestors = PolicyWriter(sources, reach, each, std::nullopt).ancestors();
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<config::UnsupportedPolicy>(sources.model, [&](const config::Rejected& each) {
    statuses.push_back(refusedPolicyStatus(sources, reach, each));
  });
}

}  // namespace sluice::control
