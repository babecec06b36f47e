#include "proxy/routing/attach.h"

#include <algorithm>
#include <set>

#include "proxy/routing/compile_listener.h"
#include "proxy/routing/hostname.h"
#include "proxy/routing/object_status.h"
#include "proxy/routing/references.h"

namespace sluice::routing {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }

/// The route's hostnames that the listener can see; "" where it names none.
std::vector<std::string> sharedHostnames(const config::Route& route, const config::Listener& listener) {
  if (route.hostnames.empty()) return {""};
  std::set<std::string> shared;
  for (const std::string& name : route.hostnames) {
    if (hostnamesIntersect(listener.hostname, name)) shared.insert(name);
  }
  return {shared.begin(), shared.end()};
}

class Attacher {
 public:
  Attacher(const config::Model& model, const RoutePlan& plan, std::vector<GatewayPlan>& gateways,
           BackendCatalog& backends)
      : model_(model), plan_(plan), route_(*plan.route), gateways_(gateways), backends_(backends) {}

  config::ObjectStatus run() {
    config::ObjectStatus status = statusOf(config::kGatewayGroup, plan_.kind, route_.meta.nameSpace, route_.meta.name,
                                           config::StatusShape::kParents);
    for (const config::ParentRef& parent : route_.parentRefs) {
      if (!isOurs(parent)) continue;
      const std::optional<Fault> refused = attach(parent);
      config::ParentStatus entry;
      entry.parentRef = parent;
      entry.conditions = conditions(refused);
      status.parents.push_back(std::move(entry));
    }
    return status;
  }

 private:
  GatewayPlan* findPlan(const config::ObjectRef& ref) {
    const std::string_view nameSpace = targetNamespace(ref, route_.meta.nameSpace);
    for (GatewayPlan& each : gateways_) {
      if (each.gateway->meta.nameSpace == nameSpace && each.gateway->meta.name == ref.name) return &each;
    }
    return nullptr;
  }

  /// Parents of other APIs, and Gateways of other controllers, are theirs to speak of.
  bool isOurs(const config::ParentRef& parent) {
    const config::ObjectRef& ref = parent.object;
    if (ref.group != config::kGatewayGroup) return false;
    if (ref.kind != "Gateway" || findPlan(ref) != nullptr) return true;
    return model_.findGateway(targetNamespace(ref, route_.meta.nameSpace), ref.name) == nullptr;
  }

  /// What keeps the route from the parent; nothing if at least one listener took it.
  std::optional<Fault> attach(const config::ParentRef& parent) {
    const config::ObjectRef& ref = parent.object;
    const std::string what = describe(ref, route_.meta.nameSpace);
    if (ref.kind != "Gateway") return fault(reason::kInvalidKind, what + ": only Gateways can be parents");
    GatewayPlan* gateway = findPlan(ref);
    if (gateway == nullptr) return fault(reason::kNoMatchingParent, what + ": it does not exist or is not valid");
    if (gateway->refusal) return fault(reason::kNoMatchingParent, what + ": it is not accepted");
    Fault nearest = fault(reason::kNoMatchingParent, what + ": it has no such listener");
    bool attached = false;
    for (ListenerPlan& listener : gateway->listeners) {
      if (!parent.sectionName.empty() && parent.sectionName != listener.listener->name) continue;
      if (parent.port != 0 && parent.port != listener.listener->port) continue;
      if (auto refused = attachTo(*gateway, listener, what)) {
        nearest = nearer(std::move(nearest), *std::move(refused));
      } else {
        attached = true;
      }
    }
    if (!attached) return nearest;
    noteUses(*gateway);
    return std::nullopt;
  }

  std::optional<Fault> attachTo(GatewayPlan& gateway, ListenerPlan& listener, const std::string& what) {
    const std::string where = what + ": listener " + listener.listener->name;
    if (!listener.accepted()) return fault(reason::kNoMatchingParent, where + " is not accepted");
    if (!admits(listener, *gateway.gateway, route_.meta.nameSpace)) {
      return fault(reason::kNotAllowedByListeners,
                   where + " does not allow routes of this kind from namespace " + route_.meta.nameSpace);
    }
    const std::vector<std::string> hostnames = sharedHostnames(route_, *listener.listener);
    if (hostnames.empty()) {
      return fault(reason::kNoMatchingListenerHostname,
                   where + " is for " + listener.listener->hostname + ", which no hostname of the route meets");
    }
    // A second parentRef may select the same listener again.
    if (taken_.insert(&listener).second) addEntries(gateway, listener, hostnames);
    return std::nullopt;
  }

  /// Of several listeners' refusals the one that came closest to success tells most.
  static Fault nearer(Fault a, Fault b) {
    const auto rank = [](const Fault& each) {
      if (each.reason == reason::kNoMatchingListenerHostname) return 2;
      return each.reason == reason::kNotAllowedByListeners ? 1 : 0;
    };
    return rank(b) >= rank(a) ? std::move(b) : std::move(a);
  }

  void addEntries(const GatewayPlan& gateway, ListenerPlan& listener, const std::vector<std::string>& hostnames) {
    if (!plan_.rejection && !plan_.wholeRouteFails) ++listener.attachedRoutes;
    for (const RulePlan& rulePlan : plan_.rules) {
      auto rule = std::make_shared<Rule>(rulePlan.prototype);
      rule->gateway = gateway.gateway->meta.qualifiedName();
      rule->listener = listener.listener->name;
      rule->listenerPort = listener.listener->port;
      for (const RouteEntry& match : rulePlan.matches) {
        for (const std::string& hostname : hostnames) {
          RouteEntry entry = match;
          entry.listenerHostname = listener.listener->hostname;
          entry.hostname = hostname;
          entry.rule = rule;
          listener.entries.push_back(std::move(entry));
        }
      }
    }
  }

  void noteUses(const GatewayPlan& gateway) {
    const Holder holder{config::kGatewayGroup, plan_.kind, route_.meta.nameSpace};
    for (const config::HttpBackendRef* ref : plan_.backendRefs) backends_.noteUse(*ref, holder, *gateway.gateway);
    for (const config::HttpBackendRef& ref : plan_.mirrorRefs) backends_.noteUse(ref, holder, *gateway.gateway);
  }

  std::vector<config::Condition> conditions(const std::optional<Fault>& refused) const {
    Conditions result(route_.meta);
    std::optional<Fault> unaccepted = plan_.rejection ? plan_.rejection : refused;
    if (!unaccepted && plan_.wholeRouteFails) {
      unaccepted = fault(plan_.faults.front().reason, joinMessages(plan_.faults) + "; its requests answer 500");
    }
    std::string note;
    for (const std::string& each : plan_.notes) note += (note.empty() ? "" : "; ") + each;
    result.check(condition_type::kAccepted, both(std::move(unaccepted), plan_.kept), note);
    std::optional<Fault> unresolved;
    if (!plan_.unresolved.empty()) unresolved = fault(plan_.unresolved.front().reason, joinMessages(plan_.unresolved));
    result.check(condition_type::kResolvedRefs, unresolved);
    if (!plan_.faults.empty() && !plan_.wholeRouteFails) {
      result.good(condition_type::kPartiallyInvalid, reason::kUnsupportedValue,
                  joinMessages(plan_.faults) + "; the requests concerned answer 500");
    }
    return result.take();
  }

  const config::Model& model_;
  const RoutePlan& plan_;
  const config::Route& route_;
  std::vector<GatewayPlan>& gateways_;
  BackendCatalog& backends_;
  std::set<const ListenerPlan*> taken_;
};

}  // namespace

config::ObjectStatus attachRoute(const config::Model& model, const RoutePlan& plan, std::vector<GatewayPlan>& gateways,
                                 BackendCatalog& backends) {
  return Attacher(model, plan, gateways, backends).run();
}

}  // namespace sluice::routing
