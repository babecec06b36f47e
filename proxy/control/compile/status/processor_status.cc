#include "proxy/control/compile/status/processor_status.h"

#include <algorithm>
#include <utility>

#include "proxy/control/compile/gateways/compile_gateway.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/use_conditions.h"

namespace sluice::control {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

/// What a PayloadProcessor means by its targetRef.
struct Target {
  bool found = false;
  bool ours = true;
  bool section = false;  // it has the one that is named
};

template <typename Sections, typename Name>
bool hasSection(const Sections& sections, const std::string& name, Name&& nameOf) {
  return name.empty() ||
         std::any_of(sections.begin(), sections.end(), [&](const auto& section) { return nameOf(section) == name; });
}

/// What is left of a route that its schema refused is a target too: its rules answer 500 anyway.
template <typename Route>
const Route* findRoute(const config::Model& model, const config::PayloadProcessor& processor,
                       const config::Objects<Route>& routes, std::optional<Route> config::Rejected::*legible) {
  const std::string& nameSpace = processor.meta.nameSpace;
  if (const Route* found = routes.find(nameSpace, processor.target.name)) return found;
  const config::Rejected* rejected =
      model.findRejected(config::kGatewayGroup, Route::kKind, nameSpace, processor.target.name);
  return rejected != nullptr && rejected->*legible ? &*(rejected->*legible) : nullptr;
}

template <typename Route>
Target routeTarget(const Route* route, const config::PayloadProcessor& processor) {
  if (route == nullptr) return {};
  return {true, true, hasSection(route->rules, processor.sectionName, [](const auto& rule) { return rule.name; })};
}

Target gatewayTarget(const config::Model& model, const std::vector<GatewayPlan>& gateways,
                     const config::PayloadProcessor& processor) {
  const std::string& nameSpace = processor.meta.nameSpace;
  const auto plan = std::find_if(gateways.begin(), gateways.end(), [&](const GatewayPlan& each) {
    return each.gateway->meta.nameSpace == nameSpace && each.gateway->meta.name == processor.target.name;
  });
  if (plan == gateways.end()) return {false, model.findGateway(nameSpace, processor.target.name) == nullptr, false};
  return {true, true, hasSection(plan->listeners, processor.sectionName, [](const ListenerPlan& listener) {
            return listener.listener->name;
          })};
}

Target targetOf(const config::Model& model, const std::vector<GatewayPlan>& gateways,
                const config::PayloadProcessor& processor) {
  using config::Rejected;
  const std::string& kind = processor.target.kind;
  if (kind == "Gateway") return gatewayTarget(model, gateways, processor);
  if (kind == config::HttpRoute::kKind) {
    return routeTarget(findRoute(model, processor, model.httpRoutes, &Rejected::httpRoute), processor);
  }
  if (kind == config::GrpcRoute::kKind) {
    return routeTarget(findRoute(model, processor, model.grpcRoutes, &Rejected::grpcRoute), processor);
  }
  return {};
}

std::optional<Fault> unattached(const config::PayloadProcessor& processor, const Target& target) {
  if (auto unbuilt = alteringFault(processor.unbuilt)) return unbuilt;
  const auto absent = [&](const std::string& why) {
    return Fault{std::string(reason::kTargetNotFound),
                 describe(processor.target, processor.meta.nameSpace) + ": " + why + ", so nothing is attached"};
  };
  if (!target.found) return absent("it does not exist or is not valid");
  if (target.section) return std::nullopt;
  const char* section = processor.target.kind == "Gateway" ? "listener " : "rule with the name ";
  return absent(std::string("it has no ") + section + processor.sectionName);
}

config::ObjectStatus processorStatusOf(const config::PayloadProcessor& processor,
                                       std::vector<config::Condition> conditions) {
  config::ObjectStatus status = statusOf(processor.group, config::PayloadProcessor::kKind, processor.meta.nameSpace,
                                         processor.meta.name, config::StatusShape::kAncestors);
  config::ParentStatus ancestor;
  ancestor.parentRef.object = processor.target;
  ancestor.parentRef.object.nameSpace = processor.meta.nameSpace;
  ancestor.parentRef.sectionName = processor.sectionName;
  ancestor.conditions = std::move(conditions);
  status.parents.push_back(std::move(ancestor));
  return status;
}

/// Of an object whose uses are `refused`.
std::vector<config::Condition> conditionsOf(const config::ObjectMeta& meta, const std::optional<Fault>& unaccepted,
                                            const std::optional<Fault>& kept, const std::vector<RefusedUse>& refused) {
  Conditions conditions(meta);
  conditions.check(condition_type::kAccepted, both(unaccepted, kept));
  if (const auto why = degradation(refused)) conditions.good(condition_type::kDegraded, why->reason, why->message);
  addUseConditions(refused, conditions);
  return conditions.take();
}

/// Uses that can not run; what refuses the object as a whole its Accepted says.
std::vector<RefusedUse> usesIn(const RefusedUses& refused, const std::string& object) {
  std::vector<RefusedUse> uses = refused.in(object);
  std::erase_if(uses, [](const RefusedUse& each) { return each.use.empty(); });
  return uses;
}

config::ObjectStatus rejectedProcessor(const config::Rejected& rejected) {
  if (!rejected.payloadProcessor) return rejectedStatus(rejected);
  const Fault why{std::string(reason::kInvalid), rejected.message};
  return processorStatusOf(*rejected.payloadProcessor,
                           Conditions(rejected.generation).bad(condition_type::kAccepted, why).take());
}

}  // namespace

std::vector<config::ObjectStatus> processorStatuses(const config::Model& model,
                                                    const std::vector<GatewayPlan>& gateways,
                                                    const RefusedUses& refused) {
  std::vector<config::ObjectStatus> result;
  for (const config::PayloadProcessor& each : model.payloadProcessors) {
    const Target target = targetOf(model, gateways, each);
    if (!target.ours) continue;
    const Holder holder{each.group, config::PayloadProcessor::kKind, each.meta.nameSpace};
    const auto kept = keptFault(model, each.group, holder.kind, each.meta);
    const std::vector<RefusedUse> uses = usesIn(refused, objectName(holder, each.meta.name));
    result.push_back(processorStatusOf(each, conditionsOf(each.meta, unattached(each, target), kept, uses)));
  }
  for (const config::PayloadProcessingPipeline& each : model.pipelines) {
    const Holder holder{each.group, config::PayloadProcessingPipeline::kKind, each.meta.nameSpace};
    const auto kept = keptFault(model, each.group, holder.kind, each.meta);
    const std::vector<RefusedUse> uses = usesIn(refused, objectName(holder, each.meta.name));
    config::ObjectStatus status =
        statusOf(each.group, holder.kind, each.meta.nameSpace, each.meta.name, config::StatusShape::kConditions);
    status.conditions = conditionsOf(each.meta, std::nullopt, kept, uses);
    result.push_back(std::move(status));
  }
  for (const config::Rejected& each : model.rejected) {
    const bool pipeline = each.kind == config::PayloadProcessingPipeline::kKind;
    if (pipeline || each.kind == config::PayloadProcessor::kKind) result.push_back(rejectedProcessor(each));
  }
  return result;
}

}  // namespace sluice::control
