#include "proxy/compile/status/traffic_policy_notes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "config/read/object_kinds.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {
namespace {

/// Returns true if a check by GRPC decides about a Backend of the rule, which is one of an HTTPRoute.
bool isCheckedByGrpc(const routing::Candidate& candidate) {
  const routing::Rule& rule = *candidate.rule;
  const auto isByGrpc = [](const auto& check) { return check->settings().kind == routing::HealthCheckKind::kGrpc; };
  return !rule.grpc && std::any_of(rule.healthChecks.begin(), rule.healthChecks.end(), [&](const auto& health) {
    return health != nullptr && std::any_of(health->checks().begin(), health->checks().end(), isByGrpc);
  });
}

bool checksHttpRoutesByGrpc(const ListenerPlan& listener) {
  return std::any_of(listener.routes.begin(), listener.routes.end(), [](const AttachedRoute& route) {
    return std::any_of(route.candidates->begin(), route.candidates->end(), isCheckedByGrpc);
  });
}

bool isOfProposal(const config::TrafficPolicy& policy) {
  return policy.meta.kind == config::TrafficPolicy::kEnvoyKind && policy.shipped == nullptr;
}

/// Returns the path of the first active check by GRPC, which the forms of the policy spell differently; empty if there
/// is none.
std::string pathOfGrpcCheck(const config::TrafficPolicy& policy) {
  if (!policy.activeHealth) return {};
  const config::ActiveChecks& checks = *policy.activeHealth;
  const auto found = std::find_if(checks.begin(), checks.end(), [](const config::ActiveHealthSettings& each) {
    return each.type == config::ActiveHealthSettings::Type::kGrpc;
  });
  if (found == checks.end()) return {};
  const bool isProposed = isOfProposal(policy);
  if (!isProposed && checks.size() == 1) return "spec.healthCheck.active";
  return std::string(isProposed ? "spec.healthChecking.activeChecks" : "spec.healthCheck.active") + "[" +
         std::to_string(found - checks.begin()) + "]";
}

void addNotesOfListeners(const config::TrafficPolicy& policy, const GatewayPlan& gateway, std::string_view section,
                         std::vector<config::Finding>& notes) {
  const std::string grpcCheck = pathOfGrpcCheck(policy);
  const bool stripsPorts = policy.matching && policy.matching->stripAuthorityPort;
  bool isOfHttpRoutes = false;
  for (const ListenerPlan& each : gateway.listeners) {
    const config::Listener& listener = *each.listener;
    if (!section.empty() && listener.name != section) continue;
    isOfHttpRoutes = isOfHttpRoutes || (!grpcCheck.empty() && checksHttpRoutesByGrpc(each));
    if (stripsPorts && config::isForwardProxy(listener.protocol)) {
      notes.push_back({"spec.matching.stripAuthorityPort", "has no effect at the listener " + listener.name +
                                                               ", whose clients name the port of the destination"});
    }
  }
  if (isOfHttpRoutes) {
    notes.push_back({grpcCheck,
                     "HTTPRoutes inherit this check by GRPC, too; their Backends fail it unless they serve "
                     "grpc.health.v1.Health"});
  }
}

/// Returns the Backend with that metadata; nullptr if the object is of another kind.
const config::Backend* backendWith(const config::ObjectMeta& object, const config::Model& model) {
  const auto& backends = model.all<config::Backend>();
  const auto found = std::find_if(backends.begin(), backends.end(),
                                  [&](const config::Backend& each) { return &each.meta == &object; });
  return found == backends.end() ? nullptr : &*found;
}

bool isOfHighPriority(const config::TrafficPolicy& policy) {
  return policy.priority && *policy.priority == config::RequestPriority::kHigh;
}

void addNotesOfBackend(const config::TrafficPolicy& policy, const config::Backend& backend,
                       std::vector<config::Finding>& notes) {
  if (backend.service) return;
  const std::string noService = "has no effect, because this Backend leads to no Service";
  if (policy.integrations && policy.integrations->addLinkerdHeaders) {
    notes.push_back({"spec.integrations.addLinkerdHeaders", noService});
  }
  if (policy.loadBalancing && policy.loadBalancing->prefersZone) {
    const bool isOwn = policy.meta.kind == config::TrafficPolicy::kKind;
    notes.push_back({isOwn ? "spec.loadBalancing.zone" : "spec.loadBalancer.zoneAware", noService});
  }
}

void addNotesOfAnyTarget(const config::TrafficPolicy& policy, const config::Model& model,
                         std::vector<config::Finding>& notes) {
  const base::LoadBalancing usual;
  const auto& balancing = policy.loadBalancing;
  if (balancing && !balancing->prefersZone && balancing->minEndpointsInZone != usual.minEndpointsInZone) {
    notes.push_back({"spec.loadBalancing.minEndpointsInZone", "has no effect without zone: Prefer"});
  }
  if (!policy.circuitBreaker || !policy.circuitBreaker->high.any()) return;
  const auto& all = model.all<config::TrafficPolicy>();
  if (std::any_of(all.begin(), all.end(), isOfHighPriority)) return;
  notes.push_back({isOfProposal(policy) ? "spec.circuitBreakers" : "spec.circuitBreaker.high",
                   "bounds nothing for high priority as long as no TrafficPolicy has priority: High"});
}

}  // namespace

std::vector<config::Finding> notesOnTarget(const config::TrafficPolicy& policy, const config::ObjectMeta* object,
                                           std::string_view section, const StatusSources& sources) {
  std::vector<config::Finding> notes;
  if (object == nullptr) return notes;
  const auto gateway = std::find_if(sources.gateways.begin(), sources.gateways.end(),
                                    [&](const GatewayPlan& each) { return &each.gateway->meta == object; });
  if (gateway != sources.gateways.end()) addNotesOfListeners(policy, *gateway, section, notes);
  if (const config::Backend* backend = backendWith(*object, sources.model)) addNotesOfBackend(policy, *backend, notes);
  addNotesOfAnyTarget(policy, sources.model, notes);
  return notes;
}

}  // namespace sluice::compile
