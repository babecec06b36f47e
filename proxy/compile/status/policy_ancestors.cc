#include "proxy/compile/status/policy_ancestors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "config/read/object_kinds.h"
#include "config/read/stray_target.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

Fault strayFault(const config::PolicyTarget& target, std::string_view consequence) {
  const config::PolicyTargetKind kind = target.targetKind();
  return fault(config::reason::kTargetNotFound, target.object.path + ".kind",
               kind.text() + " is no kind that policies can be for" + config::nearestTargetKind(kind) + "; " +
                   std::string(consequence));
}

/// Writes the ancestors of one policy.
class PolicyWriter {
 public:
  PolicyWriter(const StatusSources& sources, const PolicyReach& reach, const config::ObjectMeta& policy,
               std::string_view consequence, const PolicyJudge& judge)
      : sources_(sources), reach_(reach), policy_(policy), consequence_(consequence), judge_(judge) {}

  std::vector<config::ParentStatus> ancestors(const config::PolicyTargets& named) {
    for (const config::PolicyTarget& each : named.targets) addTarget(each, named.restricts);
    if (named.selectors.empty()) return std::move(ancestors_);
    reach_.eachObject(policy_.nameSpace, [&](const config::ObjectMeta& each) { addSelected(each, named); });
    return std::move(ancestors_);
  }

 private:
  void addTarget(const config::PolicyTarget& target, bool restricts) {
    if (!target.legible() || config::isUnsupportedKind(target.object.group, target.object.kind)) return;
    config::ObjectRef ref = target.object;
    const std::string& nameSpace = policy_.nameSpace;
    if (config::isStray(target.targetKind())) {
      const std::string consequence = restricts ? closedNamesakes(target) : std::string(consequence_);
      return add({ref, nameSpace, target.sectionName}, nullptr, strayFault(target, consequence));
    }
    const config::ObjectMeta* reached = reach_.find(target, nameSpace);
    if (reached != nullptr) ref.kind = reached->kind;
    const FoundTarget found = findTarget(sources_.model, sources_.gateways, {ref, nameSpace, target.sectionName});
    const bool refused = sources_.model.findRejected(ref.group, ref.kind, nameSpace, ref.name) != nullptr;
    if (!found.ours || (found.found && reached == nullptr && !refused)) return;
    const Attachment to{target.object, nameSpace, target.sectionName};
    add(to, reached, targetFault(sources_.model, found, to, holderOf(policy_), consequence_));
  }

  void addSelected(const config::ObjectMeta& object, const config::PolicyTargets& named) {
    const auto selects = [&](const config::PolicyTargetSelector& each) { return each.selects(object); };
    if (std::none_of(named.selectors.begin(), named.selectors.end(), selects)) return;
    const config::ObjectRef ref{
        std::string(object.group), std::string(object.kind), object.nameSpace, object.name, {}, {}};
    add({ref, object.nameSpace, {}}, &object, std::nullopt);
  }

  void add(const Attachment& to, const config::ObjectMeta* object, const std::optional<Fault>& unfound) {
    if (ancestors_.size() == kMostAncestors) return;
    ancestors_.push_back(ancestorOf(to, judge_(object, to.section, unfound)));
  }

  const StatusSources& sources_;
  const PolicyReach& reach_;
  const config::ObjectMeta& policy_;
  const std::string_view consequence_;
  const PolicyJudge& judge_;
  std::vector<config::ParentStatus> ancestors_;
};

}  // namespace

PolicyReach::PolicyReach(const StatusSources& sources) : model_(sources.model), gateways_(sources.gateways) {
  const config::Model& model = sources.model;
  for (const GatewayPlan& each : gateways_) add(each.gateway->meta);
  addRoutes(model.all<config::HttpRoute>());
  addRoutes(model.all<config::GrpcRoute>());
  // Payload processors of these Gateways may ask a Service to which no route leads.
  std::set<std::string_view> asked;
  for (const auto& each : sources.backendsInUse) asked.insert(each->object);
  for (const config::Service& each : model.all<config::Service>()) {
    const config::ObjectMeta& meta = each.meta;
    const bool isNamed = destinations_.contains({meta.nameSpace, meta.group, meta.kind, meta.name});
    if (isNamed || asked.contains(objectOf(meta))) add(meta);
  }
  for (const config::Backend& each : model.all<config::Backend>()) {
    add(each.meta);
    if (each.service) addServiceOf(each);
  }
}

const config::ObjectMeta* PolicyReach::find(const config::PolicyTarget& target, std::string_view nameSpace) const {
  const auto [first, last] = objects_.equal_range({nameSpace, target.object.name});
  const config::ObjectMeta* found = nullptr;
  for (auto each = first; each != last; ++each) {
    if (!target.means(*each->second)) continue;
    // An object of exactly this kind takes precedence over one whose kind has this kind as another name.
    if (found == nullptr || each->second->kind == target.object.kind) found = each->second;
  }
  return found;
}

void PolicyReach::eachObject(std::string_view nameSpace,
                             const std::function<void(const config::ObjectMeta&)>& visit) const {
  for (auto each = objects_.lower_bound({nameSpace, {}}); each != objects_.end(); ++each) {
    if (each->first.first != nameSpace) return;
    visit(*each->second);
  }
}

template <typename Routes>
void PolicyReach::addRoutes(const Routes& routes) {
  for (const auto& route : routes) {
    const std::string& nameSpace = route.meta.nameSpace;
    Through through;
    for (const config::ParentRef& each : route.parentRefs) {
      const auto plan = findGatewayPlan(gateways_, each.object, nameSpace);
      if (plan != gateways_.end()) through.insert(&*plan);
    }
    if (through.empty()) continue;
    add(route.meta);
    for (const auto& rule : route.rules) {
      addMirrors(rule.filters, nameSpace, through);
      for (const config::HttpBackendRef& each : rule.backendRefs) {
        addDestination(each, nameSpace, through);
        addMirrors(each.filters, nameSpace, through);
      }
    }
  }
}

void PolicyReach::addMirrors(const config::RouteFilters& filters, std::string_view holder, const Through& through) {
  for (const config::RequestMirrorFilter& each : filters.mirrors) addDestination(each, holder, through);
}

void PolicyReach::addDestination(const config::BackendObjectReference& ref, std::string_view holder,
                                 const Through& through) {
  destinations_[destinationOf(ref.object, targetNamespace(ref.object, holder))].insert(through.begin(), through.end());
}

void PolicyReach::addServiceOf(const config::Backend& backend) {
  const config::ObjectMeta& meta = backend.meta;
  const auto through = destinations_.find({meta.nameSpace, meta.group, meta.kind, meta.name});
  if (through == destinations_.end()) return;
  const Destination service = destinationOf(*backend.service, targetNamespace(*backend.service, meta.nameSpace));
  throughBackends_[service].insert(through->second.begin(), through->second.end());
}

PolicyReach::Destination PolicyReach::destinationOf(const config::ObjectRef& ref, std::string_view nameSpace) const {
  return {nameSpace, ref.group, meantKind(model_, ref, nameSpace), ref.name};
}

std::vector<const GatewayPlan*> PolicyReach::gatewaysTo(const config::ObjectRef& destination,
                                                        std::string_view nameSpace) const {
  const Destination key = destinationOf(destination, nameSpace);
  Through all;
  for (const auto* each : {&destinations_, &throughBackends_}) {
    if (const auto found = each->find(key); found != each->end())
      all.insert(found->second.begin(), found->second.end());
  }
  return {all.begin(), all.end()};
}

std::string closedNamesakes(const config::PolicyTarget& target) {
  const std::string& section = target.sectionName;
  return (section.empty() ? "every " : "the section " + section + " of every ") +
         "Gateway, route, Backend and Service of its namespace with the name " + target.object.name + " answers 500";
}

std::vector<config::ParentStatus> ancestorsOf(const StatusSources& sources, const PolicyReach& reach,
                                              const config::ObjectMeta& policy, const config::PolicyTargets& named,
                                              std::string_view consequence, const PolicyJudge& judge) {
  return PolicyWriter(sources, reach, policy, consequence, judge).ancestors(named);
}

}  // namespace sluice::compile
