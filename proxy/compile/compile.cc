#include "proxy/compile/compile.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/compile/gateways/attach.h"
#include "proxy/compile/gateways/backend_ejections.h"
#include "proxy/compile/gateways/backends_in_use.h"
#include "proxy/compile/gateways/checked_backends.h"
#include "proxy/compile/gateways/closed_plans.h"
#include "proxy/compile/gateways/compile_binds.h"
#include "proxy/compile/gateways/compile_gateway.h"
#include "proxy/compile/gateways/listener_policies.h"
#include "proxy/compile/gateways/pool_addresses.h"
#include "proxy/compile/gateways/unmatched_requests.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/policies/client_validations.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/policy_kinds.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/route_attacher.h"
#include "proxy/compile/routes/compile_session.h"
#include "proxy/compile/routes/shared_matches.h"
#include "proxy/compile/status/status_table.h"

namespace sluice::compile {
namespace {

template <typename RouteType>
void addPlans(const config::Model& model, const std::vector<GatewayPlan>& gateways, const RouteTools& tools,
              RouteCache& cache, RouteOrder::Plans& plans) {
  constexpr std::string_view kKind = RouteType::kKind;
  for (const std::shared_ptr<const RouteType>& route : model.all<RouteType>().shared()) {
    plans.push_back(planOf(route, tools, isTurnedAway(model, gateways, kKind, *route), cache));
  }
  for (const config::Rejected& rejected : model.rejected) {
    const std::shared_ptr<const RouteType>* legible = rejected.sharedLegible<RouteType>();
    if (legible == nullptr) continue;
    const Fault why = summary(config::reason::kInvalid, rejected.message);
    plans.push_back(std::make_shared<const RoutePlan>(isTurnedAway(model, gateways, kKind, **legible)
                                                          ? turnedAwayRoute(kKind, *legible, why)
                                                          : compileRoute(*legible, tools, why)));
  }
}

/// Returns the routes of the configuration, in the order in which they are attached.
RouteOrder::Plans compileRoutes(const config::Model& model, const std::vector<GatewayPlan>& gateways,
                                const RouteTools& tools, CompileCache& cache) {
  RouteOrder::Plans plans;
  plans.reserve(model.all<config::HttpRoute>().size() + model.all<config::GrpcRoute>().size());
  addPlans<config::HttpRoute>(model, gateways, tools, cache.routes, plans);
  addPlans<config::GrpcRoute>(model, gateways, tools, cache.routes, plans);
  return cache.order.sorted(std::move(plans));
}

/// Notes the uses that PayloadProcessors attach to Backends and that cannot run. Their order does not depend on the
/// order of the objects.
void noteAttached(const config::Model& model, const BackendCatalog& backends, RefusedUses& refused) {
  std::map<std::string, const config::Backend*> byName;
  for (const config::Backend& each : model.all<config::Backend>()) {
    if (!backends.backends().at(&each).attached.empty()) byName.emplace(objectOf(each.meta), &each);
  }
  for (const auto& [name, backend] : byName) refused.note(backends.backends().at(backend).attached);
}

/// Notes the uses of Gateways that some of their rules refuse because these rules send requests out of the cluster
/// without TLS.
void noteExposed(const std::vector<GatewayPlan>& gateways, RefusedUses& refused) {
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      for (const RefusedUse* each : listener.exposed) refused.note({*each});
    }
  }
}

std::set<std::string> backendsWithUsers(const BackendCatalog& backends) {
  std::set<std::string> names;
  for (const auto& [backend, compiled] : backends.backends()) {
    if (!compiled.users.empty()) names.insert(objectOf(backend->meta));
  }
  return names;
}

/// The reader has checked the settings. If they are wrong nevertheless, only public addresses are allowed.
routing::AddressGuard guardOf(const base::Settings& settings) {
  auto made = routing::AddressGuard::make(settings.addressGuardAllow);
  return made ? std::move(*made) : routing::AddressGuard();
}

config::GatewayPlacement placementOf(const config::Model& model, const KnownPlaces& places) {
  if (!model.controllerNamespace.empty()) return config::GatewayPlacement::kPods;
  return places.pool ? config::GatewayPlacement::kPool : config::GatewayPlacement::kMachine;
}

/// Drops what this compilation has not used.
void sweep(CompileCache& cache) {
  cache.routes.sweep();
  cache.listeners.sweep();
  cache.uses.sweep();
  cache.hostRules.sweep();
  cache.backends.sweep();
  cache.processors.sweep();
  cache.states.sweep();
}

}  // namespace

CompileResult compile(const config::Model& model, const config::Catalog& catalog,
                      const processing::BuiltinTypes& processors, CompileCache& cache, const KnownPlaces& places) {
  std::string used;
  const SystemTrust authorities = [&]() -> base::Result<std::shared_ptr<const pki::TrustStore>> {
    if (cache.authorities == nullptr || cache.authorities->fingerprint() != pki::TrustStore::systemFingerprint()) {
      auto read = pki::TrustStore::system();
      if (!read) return std::move(read).error();
      cache.authorities = std::make_shared<const pki::TrustStore>(std::move(read).value());
    }
    used = cache.authorities->fingerprint();
    return cache.authorities;
  };
  CompileResult result = compile(model, {catalog, processors, authorities, places}, cache);
  result.systemAuthorities = std::move(used);
  return result;
}

CompileResult compile(const config::Model& model, const CompileTools& tools, CompileCache& cache) {
  routing::AddressGuard guard = guardOf(model.settings);
  const ClosingPolicies closing = closingPolicies(model);
  const BackendTlsPolicies tlsPolicies(model, tools.systemTrust);
  const DestinationCatalog destinations(model, tools.systemTrust, {guard, closing, tlsPolicies}, cache.backends,
                                        cache.states);
  const TrafficPolicies traffic(model);
  AskedServers servers;
  const ProcessorCompiler processors({model, tools.catalog, tools.processors, destinations, traffic}, cache.states,
                                     cache.processors, cache.steps, servers);
  BackendCatalog backends(model, destinations, processors, cache.backends);
  ClientValidations clients(model, cache.states);
  std::vector<GatewayPlan> gateways = compileGateways(model, tools.places, clients);
  closeListeners(closing, gateways);
  cache.hooks = compileHooks(model, processors, std::move(cache.hooks));
  RefusedUses refused;
  noteAttached(model, backends, refused);
  const RulePolicyList policies = rulePolicies({model, processors, cache.hooks, backends, traffic, cache.states});
  applyToListeners(gateways, policies, cache.listeners, refused);
  ruleUnmatched(gateways, *cache.hooks, policies, tools.systemTrust);
  const Resolved<std::shared_ptr<const pki::ValueSealer>> sealer = sessionSealer(model);
  const RouteOrder::Plans routes =
      compileRoutes(model, gateways, {backends, cache.uses, processors, cache.hooks, policies}, cache);
  SharedMatches matches;
  for (const auto& plan : routes) {
    matches.add(*plan);
    refused.note(plan->refused);
  }
  RouteAttacher attacher({model, matches, gateways, backends, policies, cache.listeners}, closing,
                         sealer ? nullptr : &sealer.fault, servers);
  for (const auto& plan : routes) attacher.attach(plan);
  noteExposed(gateways, refused);
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->settings = model.settings;
  snapshot->addressGuard = std::move(guard);
  if (sealer) snapshot->sessionSealer = *sealer.value;
  snapshot->backends = backendsInUse(gateways, backends);
  snapshot->checked = checkedBackends(gateways, backends);
  snapshot->ejections = backendEjections(gateways, backends);
  CompileResult result;
  result.health = healthOf(*snapshot);
  result.namedBackends = backendsWithUsers(backends);
  const BackendFaults faults(result.health);
  result.statuses = writeStatuses({model, gateways, backends, *cache.hooks, refused, servers, tlsPolicies, traffic,
                                   faults, snapshot->backends, placementOf(model, tools.places)},
                                  policyStatuses(), attacher.takeStatuses());
  snapshot->binds = compileBinds(gateways, model.settings.paths, cache.hostRules);
  result.snapshot = std::move(snapshot);
  result.places = placesOf(gateways);
  result.secrets = secretsOfPods(model, gateways);
  result.routes = routesOfPods(model, gateways);
  result.addresses = addressesOf(gateways);
  result.usable = hasAcceptedClass(model);
  result.hasGateway = std::any_of(gateways.begin(), gateways.end(), [](const auto& each) { return !each.rejected; });
  sweep(cache);
  result.awaiting = awaitingUses(cache.processors);
  result.servers = servers.all();
  result.unkept = unkeptBodies(gateways, model.settings.limits);
  return result;
}

}  // namespace sluice::compile
