// A Gateway during compilation: the faults of the Gateway and its listeners, and the routes that attached to them.
//
// compile_gateway makes it, attach fills it, and compile_binds turns it into sockets. It points into the Model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/gateways/claims.h"
#include "proxy/compile/gateways/listener_place.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/ground/unusable_place.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/routes/attached/rules_at_listener.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::compile {

/// The state of a listener, ordered from best to worst.
enum class ListenerState : std::uint8_t {
  kServing,
  kRefusing,  // it listens and answers every request with 500
  kDown       // it opens no socket; on a socket that others opened its hostname answers 500
};

/// A route at one listener that accepted it.
struct AttachedRoute {
  std::vector<std::string> hostnames;  // those that the listener can receive; "" for all of them
  std::shared_ptr<const routing::RouteCandidates> candidates;
};

struct ListenerPlan {
  const config::Listener* listener = nullptr;
  ListenerState state = ListenerState::kServing;
  std::optional<Fault> unaccepted;
  std::optional<Fault> conflict;
  std::optional<Fault> overlap;  // goes into a condition and has no other effect
  std::optional<Fault> unresolved;
  /// The reason why it is served at `port`, which it had before, and not at its own port yet.
  std::optional<Fault> displaced;
  std::uint16_t port = 0;            // where it is served, if it is
  std::optional<Fault> unprocessed;  // faults of some of its PayloadProcessors
  std::optional<Fault> closed;       // the fault of policies for it: then its requests answer 500
  std::optional<Fault> shut;         // the fault for which each of its rules answers 500
  std::vector<routing::ListenerIdentity> identities;
  std::vector<AttachedRoute> routes;
  Claims claims;                                        // claims of the routes attached so far
  std::shared_ptr<const processing::Chain> preRouting;  // uses in RoutingPhase::kPreRouting
  std::shared_ptr<const processing::Chain> chain;       // uses of PayloadProcessors that target it or its Gateway
  std::vector<processing::Step> unmatched;              // steps of requests that match no route
  Inheritance inheritance;                              // what its rules have of what targets it or its Gateway
  std::shared_ptr<const routing::Rule> rest;            // for requests that no route matches, if not null
  std::set<const RefusedUse*> exposed;                  // inherited uses that some rule refuses
  std::int32_t attachedRoutes = 0;

  bool accepted() const { return !unaccepted && !conflict; }
  void worsen(ListenerState to) {
    if (to > state) state = to;
  }
  void shutFor(const Fault& why) {
    if (!shut) shut = why;
  }
};

struct GatewayPlan {
  const config::Gateway* gateway = nullptr;
  /// The reason why the whole Gateway is not accepted.
  std::optional<Fault> refusal;
  /// The reason why no Pods are kept for it as it asks for. It is not accepted then, but the Pods that it has serve on.
  std::optional<Fault> withoutPods;
  /// The fault for its conditions if its previous version is served.
  std::optional<Fault> kept;
  /// True if its schema refused it. Its legible parts answer 500.
  bool rejected = false;
  std::vector<std::string> addresses;  // IP literals in canonical form; "" for all
  bool wantsAddress = false;           // one that is chosen for it, perhaps beside those that it asks for
  /// The fault of an address that it asks for and that nobody can listen on, or of a port of an address.
  std::optional<Fault> unusable;
  /// Ports of its addresses where this process cannot listen.
  UnusablePlaces unusablePlaces;
  std::vector<ListenerPlan> listeners;
  /// The rule for requests at its ports to hosts of no listener; null: they get 404.
  std::shared_ptr<const routing::Rule> rest;
  /// The Secrets that its processors and its routes may be made of.
  base::ObjectNames secrets;
  /// The routes that it has admitted, or would if its schema did not refuse it: by kind, namespace and name. Known only
  /// if a controller keeps the Pods of Gateways.
  std::set<std::tuple<std::string, std::string, std::string>> routes;
  /// Faults that close some of its listeners, each once: payload processors that cannot run and fail closed, and
  /// policies of kinds that are not supported.
  std::vector<Fault> unprocessed;

  void closeFor(const Fault& why) {
    if (std::find(unprocessed.begin(), unprocessed.end(), why) == unprocessed.end()) unprocessed.push_back(why);
  }
};

/// Returns "Gateway default/egress", by which a Gateway is known from one configuration to the next.
inline std::string placeName(const GatewayPlan& plan) {
  const config::ObjectMeta& meta = plan.gateway->meta;
  return std::string(meta.kind) + " " + meta.qualifiedName();
}

/// Returns "Gateway default/egress, listener web".
inline std::string placeName(const GatewayPlan& plan, const ListenerPlan& listener) {
  return placeName(plan) + ", listener " + listener.listener->name;
}

/// Returns nullptr if the process can listen there, as far as it knows.
inline const UnusablePlace* findUnusable(const UnusablePlaces& places, std::string_view address, std::uint16_t port) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const UnusablePlace& place) {
    return place.port == port && place.address == address;
  });
  return found != places.end() ? &*found : nullptr;
}

/// Finds the plan of the Gateway that an object of namespace `holder` refers to, by group, kind, namespace and name.
template <typename Plans>
auto findGatewayPlan(Plans& plans, const config::ObjectRef& ref, std::string_view holder) {
  return std::find_if(plans.begin(), plans.end(), [&](const GatewayPlan& each) {
    const config::ObjectMeta& meta = each.gateway->meta;
    return meta.name == ref.name && meta.nameSpace == targetNamespace(ref, holder) && meta.kind == ref.kind &&
           meta.group == ref.group;
  });
}

inline bool speaksHttp(const config::Listener& listener) {
  return listener.protocol != config::ListenerProtocol::kOther;
}

}  // namespace sluice::compile
