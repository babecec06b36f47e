#include "proxy/control/compile/compile.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/control/compile/gateways/attach.h"
#include "proxy/control/compile/gateways/compile_binds.h"
#include "proxy/control/compile/gateways/compile_gateway.h"
#include "proxy/control/compile/routes/compile_session.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/processor_status.h"

namespace sluice::control {
namespace {

constexpr std::array<std::string_view, 6> kKindOrder = {"GatewayClass",
                                                        "Gateway",
                                                        "HTTPRoute",
                                                        "GRPCRoute",
                                                        config::PayloadProcessor::kKind,
                                                        config::PayloadProcessingPipeline::kKind};

/// The routes of a configuration, in the order in which they are attached.
class Routes {
 public:
  struct Route {
    std::shared_ptr<const RoutePlan> plan;
    std::optional<Fault> kept;  // it is the previous version of one whose newest version its schema refused
  };

  Routes(const config::Model& model, const RouteTools& tools, RouteMemo& memo) : model_(model), tools_(tools) {
    inOrder_.reserve(model.httpRoutes.size() + model.grpcRoutes.size());
    add(model.httpRoutes, &config::Rejected::httpRoute, memo);
    add(model.grpcRoutes, &config::Rejected::grpcRoute, memo);
    // Older ones first, as precedence has it: who comes first keeps what two of them want.
    std::sort(inOrder_.begin(), inOrder_.end(), [](const Route& a, const Route& b) {
      const auto key = [](const Route& each) {
        return std::tie(each.plan->route->meta.creationTimestamp, each.plan->name, each.plan->kind);
      };
      return key(a) < key(b);
    });
  }

  const std::vector<Route>& inOrder() const { return inOrder_; }

 private:
  template <typename RouteType>
  void add(const config::Objects<RouteType>& routes, std::optional<RouteType> config::Rejected::*legible,
           RouteMemo& memo) {
    for (const std::shared_ptr<const RouteType>& route : routes.shared()) {
      inOrder_.push_back(
          {planOf(route, tools_, memo), keptFault(model_, config::kGatewayGroup, RouteType::kKind, route->meta)});
    }
    for (const config::Rejected& rejected : model_.rejected) {
      const std::optional<RouteType>& route = rejected.*legible;
      if (!route) continue;
      const Fault why{std::string(config::reason::kInvalid), rejected.message};
      inOrder_.push_back({std::make_shared<const RoutePlan>(compileRoute(*route, tools_, why)), std::nullopt});
    }
  }

  const config::Model& model_;
  const RouteTools tools_;
  std::vector<Route> inOrder_;
};

void tell(const CompiledUses& uses, ListenerPlan& listener) {
  std::vector<Fault> all = uses.closed();
  for (const Fault& each : uses.open()) all.push_back({each.reason, each.message + "; it fails open and is left out"});
  listener.unprocessed = joined(all);
}

/// Hooks of the process, and PayloadProcessors of Gateways and their listeners. What they attach and can not run, and
/// is not to be missed, refuses every request there.
void processListeners(std::vector<GatewayPlan>& gateways, const ProcessorCompiler& processors,
                      const ExtensionHooks& hooks, RefusedUses& refused) {
  for (GatewayPlan& gateway : gateways) {
    const config::ObjectMeta& meta = gateway.gateway->meta;
    if (hooks.ofListeners == CompiledUses() && !processors.concern("Gateway", meta)) continue;
    for (ListenerPlan& listener : gateway.listeners) {
      // Which Backends it will lead to is not known: it is taken for the worst.
      const UsesOf of{{config::kGatewayGroup, "Gateway", meta.nameSpace}, meta.name, processing::Scope::kGateway, true};
      CompiledUses uses = hooks.ofListeners;
      uses.forgetOpen();
      uses.append(processors.targeting("Gateway", meta, listener.listener->name, of));
      refused.note(uses.refused);
      tell(uses, listener);
      for (const Fault& each : uses.closed()) {
        uses.steps.push_back(refusing(each, of.scope));
        std::vector<Fault>& known = gateway.unprocessed;
        if (std::find(known.begin(), known.end(), each) == known.end()) known.push_back(each);
      }
      const auto routed = std::stable_partition(uses.steps.begin(), uses.steps.end(),
                                                [](const processing::Step& step) { return step.preRouting; });
      listener.chain = chainOf({std::make_move_iterator(routed), std::make_move_iterator(uses.steps.end())});
      uses.steps.erase(routed, uses.steps.end());
      listener.preRouting = chainOf(std::move(uses.steps));
    }
  }
}

/// A route of which nothing can answer for it, or that names no parent that could speak of it.
bool isMute(const config::Rejected& rejected) {
  const auto mute = [](const auto& route) { return !route || route->parentRefs.empty(); };
  return (rejected.kind == config::HttpRoute::kKind && mute(rejected.httpRoute)) ||
         (rejected.kind == config::GrpcRoute::kKind && mute(rejected.grpcRoute));
}

/// Statuses of what was refused so early that nothing else speaks of it.
void addRejected(const config::Model& model, std::vector<config::ObjectStatus>& statuses) {
  for (const config::Rejected& rejected : model.rejected) {
    if (rejected.group != config::kGatewayGroup) continue;
    if (isMute(rejected) || rejected.kind == "GatewayClass" || (rejected.kind == "Gateway" && !rejected.gateway)) {
      statuses.push_back(rejectedStatus(rejected));
    }
  }
}

/// Statuses are large: what is sorted are places, and each status moves once. Those of routes come in order if the
/// routes have no times of creation: files say none.
void putInOrder(std::vector<config::ObjectStatus>& statuses) {
  using Places = std::vector<config::ObjectStatus*>;
  std::array<Places, kKindOrder.size() + 1> byKind;  // behind the kinds of that order come Backends
  for (config::ObjectStatus& each : statuses) {
    const auto kind = std::find(kKindOrder.begin(), kKindOrder.end(), each.kind) - kKindOrder.begin();
    byKind[static_cast<std::size_t>(kind)].push_back(&each);
  }
  std::vector<config::ObjectStatus> sorted;
  sorted.reserve(statuses.size());
  for (Places& places : byKind) {
    const auto before = [](const config::ObjectStatus* a, const config::ObjectStatus* b) {
      const auto key = [](const config::ObjectStatus& status) {
        return std::tie(status.group, status.kind, status.nameSpace, status.name);
      };
      return key(*a) < key(*b);
    };
    if (!std::is_sorted(places.begin(), places.end(), before)) std::sort(places.begin(), places.end(), before);
    for (config::ObjectStatus* place : places) sorted.push_back(std::move(*place));
  }
  statuses = std::move(sorted);
}

/// The plans that any attached rule sends traffic to, by name and port.
std::vector<std::shared_ptr<const routing::BackendPlan>> backendsInUse(const std::vector<GatewayPlan>& gateways) {
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const routing::BackendPlan>> used;
  const auto use = [&](const std::shared_ptr<const routing::BackendPlan>& plan) {
    used.emplace(std::pair(plan->name, plan->identity), plan);
  };
  const auto useMirrors = [&](const std::vector<routing::RequestMirror>& mirrors) {
    for (const routing::RequestMirror& mirror : mirrors) use(mirror.backend);
  };
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      for (const routing::RouteEntry& entry : listener.entries) {
        useMirrors(entry.rule->mirrors);
        for (const routing::WeightedBackend& share : entry.rule->backends) {
          for (auto plan = share.backend; plan != nullptr; plan = plan->http11) use(plan);
          useMirrors(share.mirrors);
        }
      }
    }
  }
  std::vector<std::shared_ptr<const routing::BackendPlan>> result;
  for (auto& [key, plan] : used) result.push_back(std::move(plan));
  return result;
}

}  // namespace

CompileResult compile(const config::Model& model, const config::Catalog& catalog,
                      const processing::BuiltinTypes& processors, CompileMemo& memo) {
  const SystemTrust authorities = [&memo]() -> base::Result<std::shared_ptr<const pki::TrustStore>> {
    if (memo.authorities == nullptr || memo.authorities->fingerprint() != pki::TrustStore::systemFingerprint()) {
      auto read = pki::TrustStore::system();
      if (!read) return std::move(read).error();
      memo.authorities = std::make_shared<const pki::TrustStore>(std::move(read).value());
    }
    return memo.authorities;
  };
  return compile(model, {catalog, processors, authorities}, memo);
}

CompileResult compile(const config::Model& model, const CompileTools& tools, CompileMemo& memo) {
  routing::AddressGuard guard;
  // The settings were checked when they were read; were they wrong after all, nothing beyond public addresses is
  // allowed.
  if (auto made = routing::AddressGuard::make(model.settings.addressGuardAllow)) guard = std::move(*made);
  const ProcessorCompiler processors(model, tools.catalog, tools.processors, memo.states, memo.processors);
  BackendCatalog backends(model, tools.systemTrust, guard, processors, memo.backends);
  std::vector<GatewayPlan> gateways = compileGateways(model);
  memo.hooks = compileHooks(model, processors, std::move(memo.hooks));
  RefusedUses refused;
  processListeners(gateways, processors, *memo.hooks, refused);
  CompileResult result;
  result.statuses = gatewayClassStatuses(model, *memo.hooks);
  result.statuses.reserve(model.httpRoutes.size() + model.grpcRoutes.size() + model.backends.size() + gateways.size());
  Resolved<std::shared_ptr<const pki::ValueSealer>> sealer = sessionSealer(model);
  for (const Routes routes(model, {backends, processors, memo.hooks}, memo.routes);
       const auto& [plan, kept] : routes.inOrder()) {
    refused.note(plan->refused);
    const auto sessionless = sealer ? std::nullopt : withoutSessions(*plan, sealer.fault);
    config::ObjectStatus status = attachRoute(model, sessionless ? *sessionless : *plan, kept, gateways, backends);
    if (!status.parents.empty()) result.statuses.push_back(std::move(status));
  }
  for (const GatewayPlan& gateway : gateways) result.statuses.push_back(gatewayStatus(gateway));
  std::vector<config::ObjectStatus> ofBackends = backends.statuses();
  std::move(ofBackends.begin(), ofBackends.end(), std::back_inserter(result.statuses));
  std::vector<config::ObjectStatus> ofProcessors = processorStatuses(model, gateways, refused);
  std::move(ofProcessors.begin(), ofProcessors.end(), std::back_inserter(result.statuses));
  addRejected(model, result.statuses);
  putInOrder(result.statuses);

  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->settings = model.settings;
  snapshot->addressGuard = std::move(guard);
  if (sealer) snapshot->sessionSealer = *std::move(sealer.value);
  snapshot->backends = backendsInUse(gateways);
  snapshot->binds = compileBinds(std::move(gateways));
  result.snapshot = std::move(snapshot);
  result.usable = hasAcceptedClass(model);
  memo.routes.sweep();
  memo.backends.sweep();
  memo.processors.sweep();
  memo.states.sweep();
  return result;
}

}  // namespace sluice::control
