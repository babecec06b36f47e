#include "proxy/routing/compile.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/routing/attach.h"
#include "proxy/routing/compile_binds.h"
#include "proxy/routing/compile_gateway.h"
#include "proxy/routing/compile_route.h"
#include "proxy/routing/compile_session.h"
#include "proxy/routing/object_status.h"

namespace sluice::routing {
namespace {

constexpr std::array<std::string_view, 4> kKindOrder = {"GatewayClass", "Gateway", "HTTPRoute", "GRPCRoute"};

template <typename RouteType>
void compileRoutes(const config::Model& model, const BackendCatalog& backends, const config::Objects<RouteType>& routes,
                   std::optional<RouteType> config::Rejected::*legible, std::vector<RoutePlan>& plans) {
  for (const RouteType& route : routes) {
    plans.push_back(compileRoute(route, backends, std::nullopt));
    plans.back().kept = keptFault(model, config::kGatewayGroup, RouteType::kKind, route.meta);
  }
  for (const config::Rejected& rejected : model.rejected) {
    const std::optional<RouteType>& route = rejected.*legible;
    if (!route) continue;
    plans.push_back(compileRoute(*route, backends, Fault{std::string(config::reason::kInvalid), rejected.message}));
  }
}

/// Older ones first, as precedence has it: who comes first keeps what two of them want.
std::vector<RoutePlan> compileRoutes(const config::Model& model, const BackendCatalog& backends) {
  std::vector<RoutePlan> plans;
  compileRoutes(model, backends, model.httpRoutes, &config::Rejected::httpRoute, plans);
  compileRoutes(model, backends, model.grpcRoutes, &config::Rejected::grpcRoute, plans);
  std::sort(plans.begin(), plans.end(), [](const RoutePlan& a, const RoutePlan& b) {
    const auto key = [](const RoutePlan& each) {
      return std::tie(each.route->meta.creationTimestamp, each.name, each.kind);
    };
    return key(a) < key(b);
  });
  return plans;
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

/// Statuses are large: what is sorted are places, and each status moves once.
void putInOrder(std::vector<config::ObjectStatus>& statuses) {
  using Place = std::pair<std::ptrdiff_t, config::ObjectStatus*>;  // rank of the kind
  std::vector<Place> places;
  for (config::ObjectStatus& each : statuses) {
    places.emplace_back(std::find(kKindOrder.begin(), kKindOrder.end(), each.kind) - kKindOrder.begin(), &each);
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    const auto key = [](const Place& place) {
      const config::ObjectStatus& status = *place.second;
      return std::tie(place.first, status.group, status.kind, status.nameSpace, status.name);
    };
    return key(a) < key(b);
  });
  std::vector<config::ObjectStatus> sorted;
  sorted.reserve(statuses.size());
  for (const Place& place : places) sorted.push_back(std::move(*place.second));
  statuses = std::move(sorted);
}

/// The plans that any attached rule sends traffic to, by name and port.
std::vector<std::shared_ptr<const BackendPlan>> backendsInUse(const std::vector<GatewayPlan>& gateways) {
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const BackendPlan>> used;
  const auto use = [&](const std::shared_ptr<const BackendPlan>& plan) {
    used.emplace(std::pair(plan->name, plan->identity), plan);
  };
  const auto useMirrors = [&](const std::vector<RequestMirror>& mirrors) {
    for (const RequestMirror& mirror : mirrors) use(mirror.backend);
  };
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      for (const RouteEntry& entry : listener.entries) {
        useMirrors(entry.rule->mirrors);
        for (const WeightedBackend& share : entry.rule->backends) {
          for (auto plan = share.backend; plan != nullptr; plan = plan->http11) use(plan);
          useMirrors(share.mirrors);
        }
      }
    }
  }
  std::vector<std::shared_ptr<const BackendPlan>> result;
  for (auto& [key, plan] : used) result.push_back(std::move(plan));
  return result;
}

}  // namespace

CompileResult compile(const config::Model& model, const SystemTrust& systemTrust) {
  AddressGuard guard;
  // The settings were checked when they were read; were they wrong after all, nothing beyond public addresses is
  // allowed.
  if (auto made = AddressGuard::make(model.settings.addressGuardAllow)) guard = std::move(*made);
  BackendCatalog backends(model, systemTrust, guard);
  std::vector<GatewayPlan> gateways = compileGateways(model);
  CompileResult result;
  result.statuses = gatewayClassStatuses(model);
  Resolved<std::shared_ptr<const pki::ValueSealer>> sealer = sessionSealer(model);
  for (const RoutePlan& route : compileRoutes(model, backends)) {
    const auto refused = sealer ? std::nullopt : withoutSessions(route, sealer.fault);
    config::ObjectStatus status = attachRoute(model, refused ? *refused : route, gateways, backends);
    if (!status.parents.empty()) result.statuses.push_back(std::move(status));
  }
  for (const GatewayPlan& gateway : gateways) result.statuses.push_back(gatewayStatus(gateway));
  std::vector<config::ObjectStatus> ofBackends = backends.statuses();
  std::move(ofBackends.begin(), ofBackends.end(), std::back_inserter(result.statuses));
  addRejected(model, result.statuses);
  putInOrder(result.statuses);

  auto snapshot = std::make_shared<Snapshot>();
  snapshot->settings = model.settings;
  snapshot->addressGuard = std::move(guard);
  if (sealer) snapshot->sessionSealer = *std::move(sealer.value);
  snapshot->binds = compileBinds(gateways);
  snapshot->backends = backendsInUse(gateways);
  result.snapshot = std::move(snapshot);
  result.usable = hasAcceptedClass(model);
  return result;
}

}  // namespace sluice::routing
