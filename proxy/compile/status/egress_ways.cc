#include "proxy/compile/status/egress_ways.h"

#include <cstddef>
#include <string>

#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {
namespace {

using routing::EgressWay;

void addWaysOf(const ListenerPlan& listener, EgressWays& ways) {
  if (!speaksHttp(*listener.listener)) return;
  if (config::isForwardProxy(listener.listener->protocol)) {
    ways.insert({EgressWay::kAbsolute, EgressWay::kConnect});
  } else {
    ways.insert(EgressWay::kReverse);
  }
}

/// Returns true if the listener can prove who makes a request.
bool learnsCallers(const ListenerPlan& listener) {
  return listener.authentication != nullptr || (listener.clients != nullptr && listener.clients->namesCallers);
}

/// Calls `visit` with each listener that a parentRef of the route names.
template <typename Visit>
void eachParent(const config::Route& route, const std::vector<GatewayPlan>& gateways, Visit&& visit) {
  for (const config::ParentRef& parent : route.parentRefs) {
    const auto plan = findGatewayPlan(gateways, parent.object, route.meta.nameSpace);
    if (plan == gateways.end()) continue;
    for (const ListenerPlan& each : plan->listeners) {
      const bool isNamed = parent.sectionName.empty() || parent.sectionName == each.listener->name;
      const bool hasPort = parent.port == 0 || parent.port == each.listener->port;
      if (isNamed && hasPort) visit(each);
    }
  }
}

template <typename RouteType>
const config::Route* findRoute(const config::Model& model, const config::ObjectMeta& object) {
  return object.kind == RouteType::kKind ? model.find<RouteType>(object.nameSpace, object.name) : nullptr;
}

const config::Route* findAnyRoute(const config::ObjectMeta& object, const config::Model& model) {
  const config::Route* route = findRoute<config::HttpRoute>(model, object);
  return route != nullptr ? route : findRoute<config::GrpcRoute>(model, object);
}

/// Calls `visit` with each listener of the Gateway with that metadata, or with its listener of that name.
template <typename Visit>
void eachListener(const config::ObjectMeta& object, std::string_view section, const std::vector<GatewayPlan>& gateways,
                  Visit&& visit) {
  for (const GatewayPlan& gateway : gateways) {
    if (&gateway.gateway->meta != &object) continue;
    for (const ListenerPlan& each : gateway.listeners) {
      if (section.empty() || each.listener->name == section) visit(each);
    }
  }
}

}  // namespace

EgressWays waysTo(const config::ObjectMeta& object, std::string_view section, const StatusSources& sources) {
  EgressWays ways;
  const auto add = [&](const ListenerPlan& each) { addWaysOf(each, ways); };
  if (const config::Route* route = findAnyRoute(object, sources.model)) {
    eachParent(*route, sources.gateways, add);
    return waysOfRoute(sources.model, object, section, ways);
  }
  eachListener(object, section, sources.gateways, add);
  return ways;
}

std::vector<config::Finding> notesOnCallers(const config::EgressPolicy& policy, const config::ObjectMeta& object,
                                            std::string_view section, const StatusSources& sources) {
  bool learned = false;
  const auto ask = [&](const ListenerPlan& each) { learned = learned || learnsCallers(each); };
  if (const config::Route* route = findAnyRoute(object, sources.model)) {
    eachParent(*route, sources.gateways, ask);
  } else {
    eachListener(object, section, sources.gateways, ask);
  }
  std::vector<config::Finding> notes;
  const std::vector<base::EgressRule>& rules = policy.terms.rules;
  for (std::size_t i = 0; !learned && i < rules.size(); ++i) {
    if (!rules[i].callers) continue;
    notes.push_back({"spec.rules[" + std::to_string(i) + "].from",
                     std::string("no listener there learns who its callers are, so the rule ") +
                         (rules[i].allows ? "allows nothing" : "denies every caller")});
  }
  return notes;
}

}  // namespace sluice::compile
