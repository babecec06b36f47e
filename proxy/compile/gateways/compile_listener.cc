#include "proxy/compile/gateways/compile_listener.h"

#include <algorithm>

#include "proxy/compile/gateways/tls_overlap.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

/// The kinds of routes that listeners accept.
constexpr std::string_view kHttpKinds[] = {config::HttpRoute::kKind, config::GrpcRoute::kKind};

bool isSupported(const config::RouteKind& kind) {
  return kind.group == config::kGatewayGroup &&
         std::find(std::begin(kHttpKinds), std::end(kHttpKinds), kind.kind) != std::end(kHttpKinds);
}

bool allowsKind(const config::Listener& listener, std::string_view wanted) {
  const auto& kinds = listener.routeKinds;
  if (!speaksHttp(listener)) return false;
  return !kinds || std::any_of(kinds->begin(), kinds->end(),
                               [&](const config::RouteKind& each) { return isSupported(each) && each.kind == wanted; });
}

void checkProtocol(ListenerPlan& plan) {
  const config::Listener& listener = *plan.listener;
  if (!speaksHttp(listener)) {
    plan.unaccepted = fault(
        reason::kUnsupportedProtocol, listener.path + ".protocol",
        listener.protocolName + " is not supported, only HTTP, HTTPS, sluice.dev/HTTPPROXY and sluice.dev/HTTPSPROXY");
    plan.worsen(ListenerState::kDown);
  } else if (listener.protocol == config::ListenerProtocol::kHttpProxy && listener.tls) {
    plan.unaccepted =
        fault(reason::kUnsupportedValue, listener.path + ".tls",
              "clients of sluice.dev/HTTPPROXY use no TLS; sluice.dev/HTTPSPROXY is the protocol with it");
    plan.worsen(ListenerState::kDown);
  } else if (auto unsupported = alteringFault(listener.unsupported)) {
    plan.unaccepted = std::move(unsupported);
    plan.worsen(ListenerState::kRefusing);
  }
}

/// Loads all certificates. Every one must load, because a listener with only some of them would fail for some clients.
void loadIdentities(const config::Model& model, const config::Gateway& gateway, ListenerPlan& plan) {
  const config::Listener& listener = *plan.listener;
  if (!config::terminatesTls(listener.protocol)) return;
  if (listener.tls && listener.tls->mode == config::ListenerTlsMode::kPassthrough) {
    plan.unaccepted = fault(reason::kUnsupportedValue, listener.path + ".tls.mode",
                            "a listener of " + listener.protocolName + " must terminate TLS");
    plan.worsen(ListenerState::kDown);
    return;
  }
  if (!listener.tls || listener.tls->certificateRefs.empty()) {
    plan.unresolved = fault(reason::kInvalidCertificateRef, listener.path + ".tls.certificateRefs",
                            listener.protocolName + " needs a certificate");
    plan.worsen(ListenerState::kDown);
    return;
  }
  std::vector<Fault> outdated;
  for (const config::ObjectRef& ref : listener.tls->certificateRefs) {
    const Holder holder = holderOf(gateway.meta);
    auto found = resolveKeyPair(model, ref, holder, reason::kInvalidCertificateRef);
    if (!found) {
      plan.unresolved = std::move(found.fault);
      plan.identities.clear();
      plan.worsen(ListenerState::kDown);
      return;
    }
    if (found.value->outdated) outdated.push_back(*std::move(found.value->outdated));
    plan.identities.push_back({std::move(found.value->pair.certificate), std::move(found.value->pair.key)});
  }
  plan.unresolved = plan.outdated = joined(outdated);
}

void checkRouteKinds(ListenerPlan& plan) {
  const auto& kinds = plan.listener->routeKinds;
  if (!kinds || plan.unresolved) return;
  const auto unknown = std::find_if_not(kinds->begin(), kinds->end(), isSupported);
  if (unknown == kinds->end()) return;
  plan.unresolved = fault(reason::kInvalidRouteKinds, plan.listener->path + ".allowedRoutes.kinds",
                          unknown->kind + " is not supported, only HTTPRoute and GRPCRoute");
}

/// Returns true if a policy that is enforced judges the destinations that clients of the listener name.
bool isCovered(const ListenerPlan& plan) { return plan.egress != nullptr && !plan.egress->enforced.empty(); }

/// Refuses all listeners that cannot be distinguished; none of them wins.
void checkConflict(ListenerPlan& plan, const std::vector<ListenerPlan>& all) {
  const config::Listener& mine = *plan.listener;
  if (!speaksHttp(mine)) return;
  for (const ListenerPlan& each : all) {
    const config::Listener& other = *each.listener;
    if (&other == &mine || !speaksHttp(other) || other.port != mine.port) continue;
    const std::string where = " on port " + std::to_string(mine.port);
    if (other.protocol != mine.protocol) {
      plan.conflict = fault(reason::kProtocolConflict, mine.path + ".protocol",
                            "listener " + other.name + " has another one" + where);
    } else if (other.hostname == mine.hostname && !plan.conflict) {
      plan.conflict =
          fault(reason::kHostnameConflict, mine.path, "listener " + other.name + " has the same hostname" + where);
    }
  }
  if (plan.conflict) plan.worsen(ListenerState::kDown);
}

/// Returns what users should know about a listener that is accepted.
std::vector<config::Finding> acceptedNotes(const ListenerPlan& plan) {
  std::vector<config::Finding> notes = ignoredNotes(plan.listener->unsupported);
  if (config::isForwardProxy(plan.listener->protocol) && !isCovered(plan)) {
    notes.push_back(
        {plan.listener->path,
         "no EgressPolicy in mode Enforce covers it, so it refuses each destination that a client names and "
         "that no route leads to"});
  }
  return notes;
}

std::optional<Fault> programmedFault(const ListenerPlan& plan, const GatewayPlan& gateway) {
  if (plan.state == ListenerState::kServing) return plan.displaced;
  if (gateway.refusal) return summary(reason::kInvalid, "the Gateway is not accepted");
  const bool sound = plan.accepted() && !plan.unresolved;
  if (plan.closed && sound) return withConsequence(*plan.closed, "; its requests answer 500");
  const char* effect = plan.state == ListenerState::kDown ? "it is not served" : "its requests answer 500";
  return summary(reason::kInvalid, std::string(effect) + "; see the other conditions");
}

}  // namespace

std::vector<ListenerPlan> compileListeners(const config::Model& model, const config::Gateway& gateway) {
  std::vector<ListenerPlan> plans;
  plans.reserve(gateway.listeners.size());
  for (const config::Listener& listener : gateway.listeners) {
    ListenerPlan plan;
    plan.listener = &listener;
    plan.port = listener.port;
    checkProtocol(plan);
    loadIdentities(model, gateway, plan);
    checkRouteKinds(plan);
    plans.push_back(std::move(plan));
  }
  for (ListenerPlan& plan : plans) checkConflict(plan, plans);
  for (ListenerPlan& plan : plans) plan.overlap = tlsOverlap(plan, plans);
  return plans;
}

std::optional<Fault> outdatedPairs(const ListenerPlan& plan) {
  if (!plan.outdated || plan.state == ListenerState::kDown) return std::nullopt;
  return summarized(*plan.outdated);
}

config::ListenerStatus listenerStatus(const ListenerPlan& plan, const GatewayPlan& gateway) {
  config::ListenerStatus status;
  status.name = plan.listener->name;
  status.attachedRoutes = plan.attachedRoutes;
  for (const std::string_view kind : kHttpKinds) {
    if (!allowsKind(*plan.listener, kind)) continue;
    status.supportedKinds.push_back({std::string(config::kGatewayGroup), std::string(kind)});
  }
  Conditions conditions(gateway.gateway->meta);
  conditions.check(condition_type::kAccepted, plan.conflict ? plan.conflict : plan.unaccepted, acceptedNotes(plan));
  if (plan.conflict) {
    conditions.troubled(condition_type::kConflicted, summary(plan.conflict->reason, plan.conflict->text()));
  } else {
    conditions.bad(condition_type::kConflicted, summary(reason::kNoConflicts, {}));
  }
  // This condition has negative polarity and must be absent when it is False.
  if (plan.overlap) conditions.troubled(condition_type::kOverlappingTlsConfig, *plan.overlap);
  conditions.check(condition_type::kResolvedRefs, plan.unresolved);
  conditions.check(condition_type::kProgrammed, programmedFault(plan, gateway));
  if (const auto why = both(plan.unprocessed, outdatedPairs(plan))) {
    conditions.troubled(condition_type::kDegraded, *why);
  }
  status.conditions = conditions.take();
  return status;
}

std::optional<std::string> refusedBy(const config::Model& model, const config::Gateway& gateway,
                                     const config::Listener& listener, std::string_view kind,
                                     std::string_view routeNamespace) {
  if (!speaksHttp(listener)) return "its protocol is " + listener.protocolName;
  if (!allowsKind(listener, kind)) return "its allowedRoutes.kinds does not name the kind";
  switch (listener.routeNamespaces) {
    case config::RouteNamespaces::kAll:
      return std::nullopt;
    case config::RouteNamespaces::kSame:
      if (routeNamespace == gateway.meta.nameSpace) return std::nullopt;
      return "its allowedRoutes.namespaces.from is Same, which means " + gateway.meta.nameSpace;
    case config::RouteNamespaces::kSelector:
      if (listener.namespaceSelector.matches(config::labelsOfNamespace(model, routeNamespace))) return std::nullopt;
      return "its allowedRoutes.namespaces.selector does not match the labels of that namespace" +
             std::string(model.find<config::Namespace>({}, routeNamespace) == nullptr
                             ? ", for which there is no Namespace object"
                             : "");
  }
  return std::nullopt;
}

}  // namespace sluice::compile
