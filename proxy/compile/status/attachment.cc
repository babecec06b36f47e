#include "proxy/compile/status/attachment.h"

#include <algorithm>
#include <utility>

#include "config/read/object_kinds.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

template <typename Sections, typename Name>
bool hasSection(const Sections& sections, std::string_view name, Name&& nameOf) {
  return name.empty() ||
         std::any_of(sections.begin(), sections.end(), [&](const auto& section) { return nameOf(section) == name; });
}

template <typename RouteType>
FoundTarget routeTarget(const config::Model& model, const Attachment& to) {
  const RouteType* route = model.find<RouteType>(to.holder, to.object.name);
  if (route == nullptr) {
    const config::Rejected* rejected =
        model.findRejected(config::kGatewayGroup, RouteType::kKind, to.holder, to.object.name);
    if (rejected != nullptr) route = rejected->legible<RouteType>();
  }
  if (route == nullptr) return {};
  return {true, true, hasSection(route->rules, to.section, [](const auto& rule) { return rule.name; })};
}

std::string_view sectionWord(const config::ObjectRef& ref) {
  if (config::isKindOf<config::Gateway>(ref.group, ref.kind)) return "listener";
  const bool isRoute = ref.kind == config::HttpRoute::kKind || ref.kind == config::GrpcRoute::kKind;
  return isRoute ? "rule with the name" : "port with the name";
}

FoundTarget gatewayTarget(const config::Model& model, const std::vector<GatewayPlan>& gateways, const Attachment& to) {
  const config::ObjectRef& ref = to.object;
  const auto plan = findGatewayPlan(gateways, ref, to.holder);
  if (plan == gateways.end()) {
    const bool known = model.find<config::Gateway>(ref.group, ref.kind, to.holder, ref.name) != nullptr;
    return {false, !known, false};
  }
  return {true, true, hasSection(plan->listeners, to.section, [](const ListenerPlan& listener) {
            return listener.listener->name;
          })};
}

/// The ports of an object that its schema refused are not known, so any port is accepted. All of them answer 500.
template <typename Object>
FoundTarget portTarget(const config::Model& model, const Object* object, const Attachment& to) {
  const config::ObjectRef& ref = to.object;
  if (object == nullptr) {
    const bool refused = model.findRejected(ref.group, ref.kind, to.holder, ref.name) != nullptr;
    return {refused, true, refused};
  }
  const bool has = to.section.empty() || std::any_of(object->ports.begin(), object->ports.end(), [&](const auto& port) {
                     return port.name == to.section || std::to_string(port.number) == to.section;
                   });
  return {true, true, has};
}

}  // namespace

FoundTarget findTarget(const config::Model& model, const std::vector<GatewayPlan>& gateways, const Attachment& to) {
  const config::ObjectRef& ref = to.object;
  const config::ObjectKind* kind = config::findObjectKind(ref.group, ref.kind);
  if (kind == nullptr) return {};
  if (kind->isOf<config::Gateway>()) return gatewayTarget(model, gateways, to);
  if (kind->isOf<config::HttpRoute>()) return routeTarget<config::HttpRoute>(model, to);
  if (kind->isOf<config::GrpcRoute>()) return routeTarget<config::GrpcRoute>(model, to);
  if (kind->isOf<config::Service>()) return portTarget(model, model.find<config::Service>(to.holder, ref.name), to);
  if (!kind->isOf<config::Backend>()) return {};
  return portTarget(model, model.find<config::Backend>(ref.group, ref.kind, to.holder, ref.name), to);
}

std::optional<Fault> targetFault(const config::Model& model, const FoundTarget& target, const Attachment& to,
                                 const Holder& by, std::string_view consequence) {
  if (target.found && target.section) return std::nullopt;
  if (!target.found) {
    Fault fault = absenceFault(config::reason::kTargetNotFound, model, to.object, by);
    return withConsequence(std::move(fault), "; " + std::string(consequence));
  }
  const std::string why = "it has no " + std::string(sectionWord(to.object)) + " " + std::string(to.section);
  return fault(config::reason::kTargetNotFound, to.object.path,
               describe(to.object, to.holder) + ": " + why + "; " + std::string(consequence));
}

config::ParentStatus ancestorOf(const Attachment& to, std::vector<config::Condition> conditions) {
  config::ParentStatus ancestor;
  ancestor.parentRef.object = to.object;
  ancestor.parentRef.object.nameSpace = to.holder;
  ancestor.parentRef.sectionName = to.section;
  ancestor.conditions = std::move(conditions);
  return ancestor;
}

}  // namespace sluice::compile
