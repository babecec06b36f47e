#include "proxy/compile/gateways/attach.h"

#include <algorithm>
#include <set>

#include "config/fields/creation_time.h"
#include "config/read/object_kinds.h"
#include "proxy/base/text.h"
#include "proxy/compile/gateways/compile_listener.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/hints.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/compile/routes/attached/restricted_rule.h"
#include "proxy/compile/routes/route_secrets.h"
#include "proxy/routing/table/hostname.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

// People read the status, and they need only this many examples.
constexpr std::size_t kMaxShadowed = 4;

constexpr std::string_view kUndatedOrder =
    "; without times of creation an HTTPRoute goes before a GRPCRoute, but in a cluster the older route does";

/// Returns the route's hostnames that the listener can receive; "" if the route names none.
std::vector<std::string> sharedHostnames(const config::Route& route, const config::Listener& listener) {
  if (route.hostnames.empty()) return {""};
  if (route.hostnames.size() == 1 && routing::hostnamesIntersect(listener.hostname, route.hostnames.front())) {
    return route.hostnames;
  }
  std::set<std::string> shared;
  for (const std::string& name : route.hostnames) {
    if (routing::hostnamesIntersect(listener.hostname, name)) shared.insert(name);
  }
  return {shared.begin(), shared.end()};
}

class Attacher {
 public:
  Attacher(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan)
      : model_(tools.model),
        matches_(tools.matches),
        gateways_(tools.gateways),
        backends_(tools.backends),
        policies_(tools.policies),
        cache_(tools.cache),
        shared_(plan),
        plan_(*plan),
        route_(*plan->route),
        secrets_(tools.model.controllerNamespace.empty() ? base::ObjectNames() : secretsOfRoute(*plan)) {}

  std::vector<ParentAttachment> run() {
    std::vector<ParentAttachment> result;
    for (const config::ParentRef& parent : route_.parentRefs) {
      if (!isOurs(parent)) continue;
      now_ = {};
      now_.parent = &parent;
      now_.notes = plan_.notes;
      shadowed_ = 0;
      now_.refused = attach(parent);
      result.push_back(std::move(now_));
    }
    return result;
  }

  std::optional<Fault> entriesFault() {
    const std::uint64_t most = model_.settings.limits.matches;
    if (mostEntries() <= most) return std::nullopt;
    std::uint64_t places = 0;
    std::set<const ListenerPlan*> counted;
    for (const config::ParentRef& parent : route_.parentRefs) {
      GatewayPlan* gateway = isOurs(parent) ? findPlan(parent.object) : nullptr;
      if (gateway == nullptr) continue;
      for (const ListenerPlan* each : selected(*gateway, parent)) {
        if (!each->accepted() || !counted.insert(each).second) continue;
        if (refusedBy(model_, *gateway->gateway, *each->listener, plan_.kind, route_.meta.nameSpace)) continue;
        places += sharedHostnames(route_, *each->listener).size();
      }
    }
    const std::uint64_t entries = places * plan_.matchCount();
    if (entries <= most) return std::nullopt;
    return fault(reason::kUnsupportedValue, "its " + std::to_string(plan_.matchCount()) + " matches make " +
                                                std::to_string(entries) + " entries, one for each hostname of each " +
                                                "listener, of which limits.matches allows " + std::to_string(most));
  }

 private:
  /// Returns the number of entries that the route has if all listeners accept it with all its hostnames. Few routes
  /// exceed the limit by this number, and an exact number takes longer to compute.
  std::uint64_t mostEntries() const {
    std::uint64_t listeners = 0;
    for (const GatewayPlan& each : gateways_) listeners += each.listeners.size();
    return listeners * std::max<std::size_t>(route_.hostnames.size(), 1) * plan_.matchCount();
  }

  GatewayPlan* findPlan(const config::ObjectRef& ref) {
    const auto plan = findGatewayPlan(gateways_, ref, route_.meta.nameSpace);
    return plan == gateways_.end() ? nullptr : &*plan;
  }

  static bool isGateway(const config::ObjectRef& ref) { return config::isKindOf<config::Gateway>(ref.group, ref.kind); }

  /// Returns false for parents of other APIs and for Gateways of other controllers. Those controllers report them.
  bool isOurs(const config::ParentRef& parent) {
    const config::ObjectRef& ref = parent.object;
    if (ref.group != config::kGatewayGroup && ref.group != config::kPrototypeGroup) return false;
    if (!isGateway(ref) || findPlan(ref) != nullptr) return true;
    const std::string_view nameSpace = targetNamespace(ref, route_.meta.nameSpace);
    return model_.find<config::Gateway>(ref.group, ref.kind, nameSpace, ref.name) == nullptr;
  }

  /// Attaches the route to a parent. Returns the reason why it could not be attached; nullopt if at least one listener
  /// accepted it.
  std::optional<Fault> attach(const config::ParentRef& parent) {
    const config::ObjectRef& ref = parent.object;
    const auto refusal = [&](std::string_view why, const std::string& message) {
      return fault(why, ref.path, describe(ref, route_.meta.nameSpace) + ": " + message);
    };
    if (!isGateway(ref)) {
      return refusal(reason::kInvalidKind, "only Gateways and EgressGateways can be parents" + nearestGateway(ref));
    }
    GatewayPlan* gateway = findPlan(ref);
    if (gateway == nullptr) return missingGateway(ref);
    if (gateway->rejected && mayReachRejected(*gateway)) noteChain(*gateway);
    if (gateway->refusal)
      return summary(reason::kNoMatchingParent, ref.path,
                     describe(ref, route_.meta.nameSpace) + ": it is not accepted");
    trust_.emplace(model_, *gateway->gateway);
    if (trust_->permitsAll(secrets_)) trust_.reset();
    std::optional<Fault> nearest;
    std::vector<config::Finding> conflicts;
    bool attached = false;
    for (ListenerPlan* listener : selected(*gateway, parent)) {
      auto refused = attachTo(*gateway, *listener, ref);
      attached = attached || !refused;
      if (!refused) continue;
      if (refused->reason == reason::kHostnameConflict) conflicts.push_back(noteOf(*refused));
      nearest = nearest ? nearer(*std::move(nearest), *std::move(refused)) : std::move(refused);
    }
    if (!attached) return nearest ? nearest : noSuchListener(*gateway, parent);
    now_.notes.insert(now_.notes.end(), conflicts.begin(), conflicts.end());
    noteChain(*gateway);
    noteUses(*gateway);
    countUnserved(*gateway, parent);
    return std::nullopt;
  }

  Fault missingGateway(const config::ObjectRef& ref) const {
    const std::string hint = nearestGateway(ref);
    if (hint.empty()) return absenceFault(reason::kNoMatchingParent, model_, ref, plan_.holder());
    return fault(reason::kNoMatchingParent, ref.path,
                 describe(ref, route_.meta.nameSpace) + ": it does not exist" + hint);
  }

  /// Returns a hint that names the Gateway with that name and another kind or namespace, or else the Gateway with the
  /// nearest name. A route may attach to Gateways of all namespaces that admit it. Gateways of other namespaces are not
  /// named.
  std::string nearestGateway(const config::ObjectRef& ref) const {
    const std::string& own = route_.meta.nameSpace;
    const std::string_view nameSpace = targetNamespace(ref, own);
    std::vector<std::string_view> names;
    std::string elsewhere;
    for (const GatewayPlan& each : gateways_) {
      if (!admitsAnywhere(each)) continue;
      const config::ObjectMeta& meta = each.gateway->meta;
      const bool isThere = meta.nameSpace == nameSpace;
      if (meta.name == ref.name && (isThere || meta.nameSpace == own)) return fieldsToMean(meta, ref, nameSpace);
      if (meta.name == ref.name) elsewhere = "; " + nameFor(own, meta) + " has that name and admits this route";
      if (isThere && meta.kind == ref.kind) names.push_back(meta.name);
    }
    if (!elsewhere.empty()) return elsewhere;
    const std::string_view close = base::closestWord(ref.name, names);
    if (close.empty()) return {};
    return nameSpace == own ? "; did you mean " + std::string(close) + "?"
                            : "; a Gateway there with a similar name admits this route";
  }

  /// Returns a hint that names the fields which make a parentRef with that name refer to the Gateway.
  static std::string fieldsToMean(const config::ObjectMeta& gateway, const config::ObjectRef& ref,
                                  std::string_view nameSpace) {
    std::string fields;
    if (gateway.group != ref.group) fields += ", group: " + std::string(gateway.group);
    if (gateway.kind != ref.kind) fields += ", kind: " + std::string(gateway.kind);
    if (gateway.nameSpace != nameSpace) fields += ", namespace: " + gateway.nameSpace;
    return "; did you mean " + fields.substr(2) + "?";
  }

  bool admitsAnywhere(const GatewayPlan& gateway) const {
    return std::any_of(gateway.listeners.begin(), gateway.listeners.end(), [&](const ListenerPlan& listener) {
      return !refusedBy(model_, *gateway.gateway, *listener.listener, plan_.kind, route_.meta.nameSpace);
    });
  }

  /// Returns true if a Gateway that its schema refuses may have admitted the route before. Its earlier listeners are
  /// not known. So this is assumed if its current listeners admit the route, or if the route is in the Gateway's
  /// namespace.
  bool mayReachRejected(const GatewayPlan& gateway) const {
    return gateway.gateway->meta.nameSpace == route_.meta.nameSpace || admitsAnywhere(gateway);
  }

  /// Notes the Secrets and the route that the Gateway's Pods need.
  void noteChain(GatewayPlan& gateway) const {
    if (model_.controllerNamespace.empty()) return;
    gateway.secrets.insert(secrets_.begin(), secrets_.end());
    gateway.routes.emplace(plan_.kind, route_.meta.nameSpace, route_.meta.name);
  }

  /// Returns a fault that names only the listeners which admit the route's namespace.
  Fault noSuchListener(const GatewayPlan& gateway, const config::ParentRef& parent) const {
    std::vector<std::string_view> names;
    std::vector<std::uint16_t> ports;
    for (const ListenerPlan& each : gateway.listeners) {
      const config::Listener& listener = *each.listener;
      if (refusedBy(model_, *gateway.gateway, listener, plan_.kind, route_.meta.nameSpace)) continue;
      names.push_back(listener.name);
      ports.push_back(listener.port);
    }
    std::string message = ": it has no listener";
    if (!parent.sectionName.empty()) message += " " + parent.sectionName;
    if (parent.port != 0) message += " with port " + std::to_string(parent.port);
    message += parent.port == 0 ? nearestName(parent.sectionName, names) : availablePorts(ports);
    config::ObjectRef ref = parent.object;
    ref.path += parent.port == 0 ? ".sectionName" : ".port";
    return fault(reason::kNoMatchingParent, ref.path, describe(ref, route_.meta.nameSpace) + message);
  }

  static std::vector<ListenerPlan*> selected(GatewayPlan& gateway, const config::ParentRef& parent) {
    std::vector<ListenerPlan*> result;
    for (ListenerPlan& each : gateway.listeners) {
      if (!parent.sectionName.empty() && parent.sectionName != each.listener->name) continue;
      if (parent.port != 0 && parent.port != each.listener->port) continue;
      result.push_back(&each);
    }
    return result;
  }

  /// Counts the route in the attachedRoutes of listeners that are not accepted, as the API demands
  /// (ListenerStatus.attachedRoutes).
  void countUnserved(GatewayPlan& gateway, const config::ParentRef& parent) {
    for (ListenerPlan* each : selected(gateway, parent)) {
      const config::Listener& listener = *each->listener;
      if (each->accepted() || refusedBy(model_, *gateway.gateway, listener, plan_.kind, route_.meta.nameSpace))
        continue;
      if (sharedHostnames(route_, listener).empty() || !taken_.insert(each).second) continue;
      count(*each);
    }
  }

  std::optional<Fault> attachTo(GatewayPlan& gateway, ListenerPlan& listener, const config::ObjectRef& ref) {
    const auto refusal = [&](std::string_view why, const std::string& message) {
      return fault(why, ref.path,
                   describe(ref, route_.meta.nameSpace) + ": listener " + listener.listener->name + " " + message);
    };
    if (!listener.accepted()) {
      Fault why = refusal(reason::kNoMatchingParent, "is not accepted");
      why.summary = true;  // the listener's conditions report the fault
      return why;
    }
    if (const auto why = refusedBy(model_, *gateway.gateway, *listener.listener, plan_.kind, route_.meta.nameSpace)) {
      return refusal(reason::kNotAllowedByListeners, "does not allow " + std::string(plan_.kind) + "s from namespace " +
                                                         route_.meta.nameSpace + ": " + *why);
    }
    const std::vector<std::string> hostnames = sharedHostnames(route_, *listener.listener);
    if (hostnames.empty()) {
      return refusal(reason::kNoMatchingListenerHostname,
                     "is for " + listener.listener->hostname + ", which no hostname of the route meets");
    }
    if (const config::Route* rival = listener.claims.rival(plan_.kind, hostnames)) {
      return hostnameConflict(*rival, hostnames, *listener.listener, ref);
    }
    // A second parentRef may select the same listener again.
    if (taken_.insert(&listener).second) addTo(gateway, listener, hostnames);
    return std::nullopt;
  }

  Fault hostnameConflict(const config::Route& rival, const std::vector<std::string>& hostnames,
                         const config::Listener& listener, const config::ObjectRef& ref) const {
    const std::string& own = route_.meta.nameSpace;
    const auto isUndated = [](const config::Route& each) {
      return each.meta.creationTimestamp == config::kAfterAllTimes;
    };
    return fault(reason::kHostnameConflict, ref.path,
                 describe(ref, own) + ": " + nameFor(own, rival.meta) + " has " +
                     conflictingHostname(rival, hostnames, listener) + " on listener " + listener.name +
                     ", and a hostname serves one kind only: give this " + std::string(plan_.kind) +
                     (route_.hostnames.empty() ? " hostnames" : " other hostnames") + ", or another listener" +
                     (isUndated(route_) && isUndated(rival) ? std::string(kUndatedOrder) : ""));
  }

  /// Returns the hostname of the rival that overlaps one of these hostnames, in words. Routes of other namespaces are
  /// not named, and neither are their hostnames: the own hostname that one of them overlaps stands for it.
  std::string conflictingHostname(const config::Route& rival, const std::vector<std::string>& hostnames,
                                  const config::Listener& listener) const {
    const bool isOwn = rival.meta.nameSpace == route_.meta.nameSpace;
    const std::vector<std::string> theirs = sharedHostnames(rival, listener);
    HostnameClaims met;
    for (const std::string& each : isOwn ? hostnames : theirs) met.add(each, route_);
    for (const std::string& each : isOwn ? theirs : hostnames) {
      if (met.meets(each) == nullptr) continue;
      if (isOwn) return each.empty() ? "all hostnames" : "the hostname " + each;
      return each.empty() ? "hostnames" : "a hostname that overlaps " + each;
    }
    return "one of these hostnames";
  }

  /// Returns the refusal of the listener that came closest to accepting the route, because it is the most useful one.
  static Fault nearer(Fault a, Fault b) {
    const auto rank = [](const Fault& each) {
      if (each.reason == reason::kHostnameConflict) return 3;
      if (each.reason == reason::kNoMatchingListenerHostname) return 2;
      return each.reason == reason::kNotAllowedByListeners ? 1 : 0;
    };
    return rank(b) >= rank(a) ? std::move(b) : std::move(a);
  }

  void addTo(const GatewayPlan& gateway, ListenerPlan& listener, const std::vector<std::string>& hostnames) {
    count(listener);
    listener.claims.addHostnames(plan_.kind, hostnames, route_);
    listener.routes.push_back({hostnames, candidatesAt(gateway, listener)});
    for (const RulePlan& rule : plan_.rules) {
      for (const MatchPlan& match : rule.matches) {
        const auto number = matches_.numberOf(match.identity);
        if (number) noteShadows(listener, hostnames, *match.match, *number);
      }
    }
  }

  /// Returns the candidates for the listener. Their rules have the settings that they inherit there, and have no parts
  /// that the Gateway's Pods may not read.
  std::shared_ptr<const routing::RouteCandidates> candidatesAt(const GatewayPlan& gateway, ListenerPlan& listener) {
    if (isEmpty(listener.inheritance) && !trust_) return plan_.candidates;
    const bool isOwn = gateway.gateway->meta.nameSpace == route_.meta.nameSpace;
    const RulesAtListener& at = cache_.rulesAt(shared_, listener.inheritance, isOwn, policies_, backends_);
    listener.exposed.insert(at.found.exposed.begin(), at.found.exposed.end());
    for (const Fault& each : at.found.dropped) refuseOnce(each);
    now_.notes.insert(now_.notes.end(), at.found.notes.begin(), at.found.notes.end());
    if (!trust_) return at.candidates;
    std::vector<std::shared_ptr<const routing::Rule>> rules = at.rules;
    for (std::size_t index = 0; index < rules.size(); ++index) rules[index] = restrict(std::move(rules[index]), index);
    return candidatesOf(plan_.rules, rules);
  }

  /// Returns the rule without the parts whose Secrets the Gateway's Pods may not read.
  std::shared_ptr<const routing::Rule> restrict(std::shared_ptr<const routing::Rule> rule, std::size_t index) {
    RestrictedRule result = restrictedRule(std::move(rule), *trust_, route_.meta.nameSpace);
    for (const Fault& each : result.unresolved) noteOnceIn(now_.unresolved, faultOfRule(index, each));
    for (const Fault& each : result.closed) refuseOnce(faultOfRule(index, each));
    for (const Fault& each : result.open) {
      config::Finding note = noteOf(withConsequence(faultOfRule(index, each), kLeftOut));
      if (std::find(now_.notes.begin(), now_.notes.end(), note) == now_.notes.end())
        now_.notes.push_back(std::move(note));
    }
    return std::move(result.rule);
  }

  /// Notes a fault that a rule has only at this listener.
  void refuseOnce(Fault why) { noteOnceIn(now_.dropped, std::move(why)); }
  static void noteOnceIn(std::vector<Fault>& known, Fault why) {
    if (std::find(known.begin(), known.end(), why) == known.end()) known.push_back(std::move(why));
  }

  void count(ListenerPlan& listener) const {
    if (!plan_.rejection && !plan_.wholeRouteFails) ++listener.attachedRoutes;
  }

  /// Notes the hostnames under which another route has the same match, for the conditions of the route that loses.
  void noteShadows(ListenerPlan& listener, const std::vector<std::string>& hostnames, const routing::Match& match,
                   std::uint32_t number) {
    for (const std::string& hostname : hostnames) {
      const config::Route* winner = listener.claims.addMatch(hostname, number, route_);
      if (winner != nullptr) noteShadow(listener, hostname, match.precedence, *winner);
    }
  }

  void noteShadow(const ListenerPlan& listener, const std::string& hostname, const routing::Precedence& place,
                  const config::Route& winner) {
    if (++shadowed_ > kMaxShadowed) return;
    if (shadowed_ == kMaxShadowed) {
      now_.notes.push_back({{}, "and more matches that are taken"});
      return;
    }
    now_.notes.push_back({"spec.rules[" + std::to_string(place.rule) + "].matches[" + std::to_string(place.match) + "]",
                          (hostname.empty() ? "" : "for " + hostname + " ") + "the same match of " +
                              nameFor(route_.meta.nameSpace, winner.meta) + " comes first on listener " +
                              listener.listener->name + " and takes its requests"});
  }

  void noteUses(const GatewayPlan& gateway) {
    for (const std::shared_ptr<const BackendUse>& use : plan_.uses) {
      if (use->backend != nullptr) backends_.noteUse(*use->backend, *gateway.gateway);
    }
  }

  const config::Model& model_;
  const SharedMatches& matches_;
  std::vector<GatewayPlan>& gateways_;
  BackendCatalog& backends_;
  const RulePolicyList& policies_;
  ListenerCache& cache_;
  const std::shared_ptr<const RoutePlan>& shared_;
  const RoutePlan& plan_;  // the same plan as a reference
  const config::Route& route_;
  const base::ObjectNames secrets_;  // empty unless a controller keeps the Pods of Gateways
  std::set<const ListenerPlan*> taken_;
  ParentAttachment now_;  // the result for the current parent
  /// Set if the Pods of the current parent may not read every Secret of the route.
  std::optional<SecretTrust> trust_;
  std::size_t shadowed_ = 0;
};

}  // namespace

std::optional<Fault> entriesFault(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan) {
  return Attacher(tools, plan).entriesFault();
}

bool isTurnedAway(const config::Model& model, const std::vector<GatewayPlan>& gateways, std::string_view kind,
                  const config::Route& route) {
  bool isRefused = false;
  for (const config::ParentRef& parent : route.parentRefs) {
    const auto plan = findGatewayPlan(gateways, parent.object, route.meta.nameSpace);
    if (plan == gateways.end()) continue;
    const bool admits =
        plan->rejected || std::any_of(plan->listeners.begin(), plan->listeners.end(), [&](const ListenerPlan& each) {
          return !refusedBy(model, *plan->gateway, *each.listener, kind, route.meta.nameSpace);
        });
    if (admits) return false;
    isRefused = true;
  }
  return isRefused;
}

std::vector<ParentAttachment> attachRoute(const AttachTools& tools, const std::shared_ptr<const RoutePlan>& plan) {
  return Attacher(tools, plan).run();
}

}  // namespace sluice::compile
