#include "proxy/compile/compile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proxy/compile/destinations/backend_plan.h"
#include "proxy/compile/gateways/attach.h"
#include "proxy/compile/gateways/checked_backends.h"
#include "proxy/compile/gateways/closed_plans.h"
#include "proxy/compile/gateways/compile_binds.h"
#include "proxy/compile/gateways/compile_gateway.h"
#include "proxy/compile/gateways/pool_addresses.h"
#include "proxy/compile/gateways/unmatched_requests.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/compile/processors/permitted_steps.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/routes/compile_session.h"
#include "proxy/compile/routes/shared_matches.h"
#include "proxy/compile/status/route_status.h"
#include "proxy/compile/status/status_table.h"
#include "proxy/routing/backend_target.h"

namespace sluice::compile {
namespace {

template <typename RouteType>
void addPlans(const config::Model& model, const RouteTools& tools, RouteCache& cache, RouteOrder::Plans& plans) {
  for (const std::shared_ptr<const RouteType>& route : model.all<RouteType>().shared()) {
    plans.push_back(planOf(route, tools, cache));
  }
  for (const config::Rejected& rejected : model.rejected) {
    const RouteType* legible = rejected.legible<RouteType>();
    if (legible == nullptr) continue;
    const Fault why = summary(config::reason::kInvalid, rejected.message);
    plans.push_back(std::make_shared<const RoutePlan>(compileRoute(*legible, tools, why)));
  }
}

/// Returns the routes of the configuration, in the order in which they are attached.
RouteOrder::Plans compileRoutes(const config::Model& model, const RouteTools& tools, CompileCache& cache) {
  RouteOrder::Plans plans;
  plans.reserve(model.all<config::HttpRoute>().size() + model.all<config::GrpcRoute>().size());
  addPlans<config::HttpRoute>(model, tools, cache.routes, plans);
  addPlans<config::GrpcRoute>(model, tools, cache.routes, plans);
  return cache.order.sorted(std::move(plans));
}

void tell(const CompiledUses& uses, ListenerPlan& listener) {
  std::vector<Fault> all = uses.closed();
  for (const Fault& each : uses.open()) all.push_back(withConsequence(each, kLeftOut));
  if (listener.unprocessed) all.insert(all.begin(), *listener.unprocessed);
  listener.unprocessed = joined(all);
}

void closeOnce(const Fault& why, GatewayPlan& gateway) {
  std::vector<Fault>& known = gateway.unprocessed;
  if (std::find(known.begin(), known.end(), why) == known.end()) known.push_back(why);
}

/// Notes the Secrets of uses that a Gateway runs, and takes out those that its Pods may not read.
CompiledUses atGateway(CompiledUses uses, const SecretTrust& trust, GatewayPlan& gateway) {
  gateway.secrets.merge(secretsUsedBy(uses));
  return permittedUses(std::move(uses), trust, gateway.gateway->meta);
}

/// Compiles the extension policy of a listener, for all rules there.
void extendListener(GatewayPlan& gateway, ListenerPlan& listener, const ProcessorCompiler& processors,
                    const SecretTrust& trust, RefusedUses& refused) {
  const config::ObjectMeta& meta = gateway.gateway->meta;
  const UsesOf of{holderOf(meta), meta.name, processing::Scope::kRoute, Exposure::kSome};
  std::optional<CompiledUses> uses = processors.extending(meta, listener.listener->name, of);
  if (!uses) return;
  uses = atGateway(*std::move(uses), trust, gateway);
  refused.note(uses->refused);
  tell(*uses, listener);
  for (const Fault& each : uses->closed()) {
    closeOnce(each, gateway);
    listener.shutFor(each);
  }
  listener.inherited = {std::move(uses->steps), joined(uses->closed())};
}

/// Compiles the hooks of the process, and the PayloadProcessors and extension policies of Gateways and their listeners.
/// If one of them cannot run and fails closed, every request there is refused.
void processListeners(std::vector<GatewayPlan>& gateways, const ProcessorCompiler& processors,
                      const ExtensionHooks& hooks, RefusedUses& refused) {
  for (GatewayPlan& gateway : gateways) {
    const config::ObjectMeta& meta = gateway.gateway->meta;
    if (hooks.ofListeners == CompiledUses() && !processors.concern(meta)) continue;
    const SecretTrust trust(processors.model(), *gateway.gateway);
    for (ListenerPlan& listener : gateway.listeners) {
      const UsesOf of{holderOf(meta), meta.name, processing::Scope::kGateway, Exposure::kByRule};
      CompiledUses uses = toldOfHooks(hooks.ofListeners);
      uses.append(processors.targeting(meta, {listener.listener->name}, of));
      uses = atGateway(std::move(uses), trust, gateway);
      refused.note(uses.refused);
      tell(uses, listener);
      extendListener(gateway, listener, processors, trust, refused);
      for (const Fault& each : uses.closed()) {
        uses.steps.push_back(refusing(each, of.scope));
        closeOnce(each, gateway);
        listener.shutFor(each);
      }
      for (const ShieldedUse& each : uses.shielded) {
        if (each.step.preRouting) uses.steps.push_back(each.step);
      }
      listener.shielded = std::move(uses.shielded);
      const auto routed = std::stable_partition(uses.steps.begin(), uses.steps.end(),
                                                [](const processing::Step& step) { return step.preRouting; });
      listener.chain = chainOf({std::make_move_iterator(routed), std::make_move_iterator(uses.steps.end())});
      uses.steps.erase(routed, uses.steps.end());
      listener.preRouting = chainOf(std::move(uses.steps));
    }
  }
}

/// Gives listeners what their rules inherit of TrafficPolicies. A policy that cannot be served closes these rules.
void governListeners(std::vector<GatewayPlan>& gateways, const TrafficPolicies& traffic) {
  for (GatewayPlan& gateway : gateways) {
    const config::ObjectMeta& meta = gateway.gateway->meta;
    if (!traffic.concern(meta)) continue;
    for (ListenerPlan& listener : gateway.listeners) {
      listener.traffic = traffic.ofListener(meta, listener.listener->name);
      const std::optional<Fault>& fault = listener.traffic.settings.fault;
      if (!fault) continue;
      listener.unprocessed = listener.unprocessed ? joined({*listener.unprocessed, *fault}) : fault;
      closeOnce(*fault, gateway);
      listener.shutFor(*fault);
    }
  }
}

/// Notes the uses that PayloadProcessors attach to Backends and that cannot run, in an order that does not depend on
/// that of the objects.
void noteAttached(const config::Model& model, const BackendCatalog& backends, RefusedUses& refused) {
  std::map<std::string, const config::Backend*> byName;
  for (const config::Backend& each : model.all<config::Backend>()) {
    if (!backends.backends().at(&each).attached.empty()) byName.emplace(objectOf(each.meta), &each);
  }
  for (const auto& [name, backend] : byName) refused.note(backends.backends().at(backend).attached);
}

/// Attaches routes to the listeners, each without what cannot be served of it, and keeps their statuses.
class RouteAttacher {
 public:
  /// `sealerFault` is the reason why there are no sessions; null if there are. All of them outlive the attacher.
  RouteAttacher(const AttachTools& tools, const ClosingPolicies& policies, const Fault* sealerFault,
                const AskedServers& servers)
      : tools_(tools), policies_(policies), sealerFault_(sealerFault), servers_(servers) {}

  void attach(const RoutePlan& plan) {
    if (sealerFault_ != nullptr) {
      if (auto less = withoutSessions(plan, *tools_.model.settings.sessionKey, *sealerFault_)) return attachOpen(*less);
    }
    attachOpen(plan);
  }
  Statuses takeStatuses() { return std::move(statuses_); }

 private:
  void attachOpen(const RoutePlan& plan) {
    const auto closed = closedRoute(plan, policies_);
    const RoutePlan& known = closed ? *closed : plan;
    const auto tooMany = entriesFault(tools_, known);
    if (tooMany) return attachWhole(withoutMatches(known, *tooMany));
    attachWhole(known);
  }
  void attachWhole(const RoutePlan& plan) {
    const std::vector<ParentAttachment> parents = attachRoute(tools_, plan);
    if (parents.empty()) return;
    statuses_.push_back(routeStatus(plan, parents, keptFault(tools_.model, plan.route->meta), servers_));
  }

  const AttachTools tools_;
  const ClosingPolicies& policies_;
  const Fault* const sealerFault_;
  const AskedServers& servers_;
  Statuses statuses_;
};

/// Notes the uses of Gateways that some of their rules refuse, because these lead out without TLS.
void noteExposed(const std::vector<GatewayPlan>& gateways, RefusedUses& refused) {
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      for (const std::size_t index : listener.exposed) refused.note({listener.shielded[index].refused});
    }
  }
}

/// Returns the plans that attached rules, or processors with requests of their own, send traffic to, by name and port.
std::vector<std::shared_ptr<const routing::BackendPlan>> backendsInUse(const std::vector<GatewayPlan>& gateways,
                                                                       const BackendCatalog& backends) {
  std::map<routing::BackendIdentity, std::shared_ptr<const routing::BackendPlan>> used;
  const auto use = [&](const std::shared_ptr<const routing::BackendPlan>& plan) {
    if (const auto [entry, isNew] = used.try_emplace(plan->identity); isNew) entry->second = backends.newest(plan);
  };
  const auto useTargets = [&](const std::shared_ptr<const processing::Chain>& chain) {
    if (chain == nullptr) return;
    for (const auto& target : chain->targets()) use(routing::planOf(*target));
  };
  const auto useMirrors = [&](const std::vector<routing::RequestMirror>& mirrors) {
    for (const routing::RequestMirror& mirror : mirrors) {
      use(mirror.backend);
      useTargets(mirror.backend->chain);
    }
  };
  const auto useRule = [&](const routing::Rule& rule) {
    useMirrors(rule.mirrors);
    useTargets(rule.chain);
    for (const routing::WeightedBackend& weighted : rule.backends) {
      for (auto plan = weighted.backend; plan != nullptr; plan = plan->http11) use(plan);
      if (weighted.backend != nullptr) useTargets(weighted.backend->chain);
      useTargets(weighted.chain);
      useMirrors(weighted.mirrors);
    }
  };
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      useTargets(listener.preRouting);
      useTargets(listener.chain);
      if (listener.rest != nullptr) useTargets(listener.rest->chain);
    }
  }
  eachRule(gateways, useRule);
  std::vector<std::shared_ptr<const routing::BackendPlan>> result;
  for (auto& [identity, plan] : used) result.push_back(std::move(plan));
  return result;
}

std::set<std::string> backendsWithUsers(const BackendCatalog& backends) {
  std::set<std::string> names;
  for (const auto& [backend, compiled] : backends.backends()) {
    if (!compiled.users.empty()) names.insert(objectOf(backend->meta));
  }
  return names;
}

/// The settings were checked when they were read. If they were wrong nevertheless, only public addresses are allowed.
routing::AddressGuard guardOf(const base::Settings& settings) {
  auto made = routing::AddressGuard::make(settings.addressGuardAllow);
  return made ? std::move(*made) : routing::AddressGuard();
}

/// Drops what this compilation has not used.
void sweep(CompileCache& cache) {
  cache.routes.sweep();
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
  const ClosingPolicies policies(model);
  const TrafficPolicies traffic(model);
  const BackendTlsPolicies tlsPolicies(model, tools.systemTrust);
  const DestinationCatalog destinations(model, tools.systemTrust, {guard, policies, tlsPolicies}, cache.backends,
                                        cache.states);
  AskedServers servers;
  const ProcessorCompiler processors({model, tools.catalog, tools.processors, destinations}, cache.states,
                                     cache.processors, servers);
  BackendCatalog backends(model, destinations, processors, cache.backends);
  std::vector<GatewayPlan> gateways = compileGateways(model, tools.places);
  closeListeners(policies, gateways);
  cache.hooks = compileHooks(model, processors, std::move(cache.hooks));
  RefusedUses refused;
  noteAttached(model, backends, refused);
  processListeners(gateways, processors, *cache.hooks, refused);
  governListeners(gateways, traffic);
  ruleUnmatched(gateways, *cache.hooks);
  const Resolved<std::shared_ptr<const pki::ValueSealer>> sealer = sessionSealer(model);
  const RouteOrder::Plans routes =
      compileRoutes(model, {backends, cache.uses, processors, cache.hooks, cache.states, traffic}, cache);
  SharedMatches matches;
  for (const auto& plan : routes) {
    matches.add(*plan);
    refused.note(plan->refused);
  }
  RouteAttacher attacher({model, matches, gateways, backends, cache.states, traffic}, policies,
                         sealer ? nullptr : &sealer.fault, servers);
  for (const auto& plan : routes) attacher.attach(*plan);
  noteExposed(gateways, refused);
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->settings = model.settings;
  snapshot->addressGuard = std::move(guard);
  if (sealer) snapshot->sessionSealer = *sealer.value;
  snapshot->backends = backendsInUse(gateways, backends);
  snapshot->checked = checkedBackends(gateways, backends);
  CompileResult result;
  result.health = healthOf(*snapshot);
  result.namedBackends = backendsWithUsers(backends);
  const BackendFaults faults(result.health);
  result.statuses = writeStatuses({model, gateways, backends, *cache.hooks, refused, servers, tlsPolicies, faults},
                                  attacher.takeStatuses());
  snapshot->binds = compileBinds(gateways, model.settings.paths, cache.hostRules);
  result.snapshot = std::move(snapshot);
  result.places = placesOf(gateways);
  result.secrets = secretsOfPods(model, gateways);
  result.routes = routesOfPods(model, gateways);
  result.addresses = addressesOf(gateways);
  result.usable = hasAcceptedClass(model);
  sweep(cache);
  result.awaiting = awaitingUses(cache.processors);
  result.servers = servers.all();
  return result;
}

}  // namespace sluice::compile
