#include "proxy/control/compile/status/processor_status.h"

#include <algorithm>
#include <utility>

#include "config/model/object_kinds.h"
#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/processors/refused_uses.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/refused_objects.h"
#include "proxy/control/compile/status/use_conditions.h"

namespace sluice::control {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

/// The object that a PayloadProcessor's targetRef names.
struct Target {
  bool found = false;
  bool ours = true;
  bool section = false;  // whether it has the named section
};

template <typename Sections, typename Name>
bool hasSection(const Sections& sections, const std::string& name, Name&& nameOf) {
  return name.empty() ||
         std::any_of(sections.begin(), sections.end(), [&](const auto& section) { return nameOf(section) == name; });
}

/// A route that its schema refused is a target too, as far as it is legible: its rules answer 500 anyway.
template <typename Route>
Target routeTarget(const config::Model& model, const config::PayloadProcessor& processor) {
  const std::string& nameSpace = processor.meta.nameSpace;
  const std::string& name = processor.target.name;
  const Route* route = model.find<Route>(nameSpace, name);
  if (route == nullptr) {
    const config::Rejected* rejected = model.findRejected(config::kGatewayGroup, Route::kKind, nameSpace, name);
    if (rejected != nullptr) route = rejected->legible<Route>();
  }
  if (route == nullptr) return {};
  return {true, true, hasSection(route->rules, processor.sectionName, [](const auto& rule) { return rule.name; })};
}

bool targetsGateway(const config::PayloadProcessor& processor) {
  return config::isKindOf<config::Gateway>(processor.target.group, processor.target.kind);
}

Target gatewayTarget(const config::Model& model, const std::vector<GatewayPlan>& gateways,
                     const config::PayloadProcessor& processor) {
  const config::ObjectRef& target = processor.target;
  const std::string& nameSpace = processor.meta.nameSpace;
  const auto plan = findGatewayPlan(gateways, target, nameSpace);
  if (plan == gateways.end()) {
    const bool known = model.find<config::Gateway>(target.group, target.kind, nameSpace, target.name) != nullptr;
    return {false, !known, false};
  }
  return {true, true, hasSection(plan->listeners, processor.sectionName, [](const ListenerPlan& listener) {
            return listener.listener->name;
          })};
}

Target targetOf(const config::Model& model, const std::vector<GatewayPlan>& gateways,
                const config::PayloadProcessor& processor) {
  const std::string& kind = processor.target.kind;
  if (targetsGateway(processor)) return gatewayTarget(model, gateways, processor);
  if (kind == config::HttpRoute::kKind) return routeTarget<config::HttpRoute>(model, processor);
  if (kind == config::GrpcRoute::kKind) return routeTarget<config::GrpcRoute>(model, processor);
  return {};
}

std::optional<Fault> unattached(const config::PayloadProcessor& processor, const Target& target) {
  if (auto unsupported = alteringFault(processor.unsupported)) return unsupported;
  const auto absent = [&](const std::string& why) {
    return Fault{std::string(reason::kTargetNotFound),
                 describe(processor.target, processor.meta.nameSpace) + ": " + why + ", so nothing is attached"};
  };
  if (!target.found) return absent("it does not exist or is not valid");
  if (target.section) return std::nullopt;
  const char* section = targetsGateway(processor) ? "listener " : "rule with the name ";
  return absent(std::string("it has no ") + section + processor.sectionName);
}

void placeAtTarget(const config::PayloadProcessor& processor, std::vector<config::Condition> conditions,
                   config::ObjectStatus& status) {
  config::ParentStatus ancestor;
  ancestor.parentRef.object = processor.target;
  ancestor.parentRef.object.nameSpace = processor.meta.nameSpace;
  ancestor.parentRef.sectionName = processor.sectionName;
  ancestor.conditions = std::move(conditions);
  status.parents.push_back(std::move(ancestor));
}

/// Returns the conditions of an object. Uses that cannot run have conditions of their own; a fault of the whole object
/// goes into its Accepted.
std::vector<config::Condition> conditionsOf(const config::ObjectMeta& meta, const std::optional<Fault>& unaccepted,
                                            const StatusSources& sources) {
  std::vector<RefusedUse> refused = sources.refusedUses.in(objectName(holderOf(meta), meta.name));
  std::erase_if(refused, [](const RefusedUse& each) { return each.use.empty(); });
  Conditions conditions(meta);
  conditions.check(condition_type::kAccepted, both(unaccepted, keptFault(sources.model, meta)));
  if (const auto why = degradation(refused)) conditions.good(condition_type::kDegraded, why->reason, why->message);
  addUseConditions(refused, conditions);
  return conditions.take();
}

config::ObjectStatus rejectedProcessor(const config::Rejected& rejected) {
  const auto* legible = rejected.legible<config::PayloadProcessor>();
  if (legible == nullptr) return rejectedStatus(rejected);
  const Fault why{std::string(reason::kInvalid), rejected.message};
  config::ObjectStatus status = statusOf(rejected);
  placeAtTarget(*legible, Conditions(rejected.generation).bad(condition_type::kAccepted, why).take(), status);
  return status;
}

}  // namespace

void payloadProcessorStatuses(const StatusSources& sources, Statuses& statuses) {
  for (const config::PayloadProcessor& each : sources.model.all<config::PayloadProcessor>()) {
    const Target target = targetOf(sources.model, sources.gateways, each);
    if (!target.ours) continue;
    placeAtTarget(each, conditionsOf(each.meta, unattached(each, target), sources),
                  statuses.emplace_back(statusOf(each.meta)));
  }
  forEachRefused<config::PayloadProcessor>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(rejectedProcessor(each)); });
}

void pipelineStatuses(const StatusSources& sources, Statuses& statuses) {
  for (const config::PayloadProcessingPipeline& each : sources.model.all<config::PayloadProcessingPipeline>()) {
    statuses.emplace_back(statusOf(each.meta)).conditions = conditionsOf(each.meta, std::nullopt, sources);
  }
  forEachRefused<config::PayloadProcessingPipeline>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(rejectedStatus(each)); });
}

}  // namespace sluice::control
