// GatewayPlan is a Gateway during compilation. It has the faults of the Gateway and its listeners, and the routes that
// are attached to them.
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
#include "proxy/base/identity_terms.h"
#include "proxy/base/object_names.h"
#include "proxy/base/terms/request_matching.h"
#include "proxy/compile/gateways/claims.h"
#include "proxy/compile/gateways/listener_place.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/ground/unusable_place.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/routes/attached/rules_at_listener.h"
#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/policy/client_validation.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::config {
struct ClientTrafficPolicy;
}

namespace sluice::compile {

/// The state of a listener, ordered from best to worst.
enum class ListenerState : std::uint8_t {
  kServing,
  kRefusing,  // it listens and answers every request with 500
  kDown       // it opens no socket; if another listener opens its port, its hostname answers 500 there
};

/// A route at one listener that accepted it.
struct AttachedRoute {
  std::vector<std::string> hostnames;  // the hostnames that the listener can receive; "" for all of them
  std::shared_ptr<const routing::RouteCandidates> candidates;
};

struct ListenerPlan {
  const config::Listener* listener = nullptr;
  ListenerState state = ListenerState::kServing;
  std::optional<Fault> unaccepted;
  std::optional<Fault> conflict;
  std::optional<Fault> overlap;  // only a condition reports it; it has no other effect
  std::optional<Fault> unresolved;
  std::optional<Fault> outdated;  // as in ResolvedPair, of its certificates; `unresolved` has it too
  /// The reason why the listener is still served at `port`, its earlier port, and not yet at its own port.
  std::optional<Fault> displaced;
  std::uint16_t port = 0;            // the port at which it is served; 0 if it is not served
  std::optional<Fault> unprocessed;  // the faults of PayloadProcessors that cannot run
  std::optional<Fault> closed;       // the fault of policies for it, which makes its requests answer 500
  std::optional<Fault> shut;         // the fault that makes each of its rules answer 500
  std::vector<routing::ListenerIdentity> identities;  // without `clients`
  /// How the certificates of its clients are verified; null if they are not asked for one.
  std::shared_ptr<const routing::ClientValidation> clients;
  const config::ClientTrafficPolicy* clientPolicy = nullptr;  // for its clients' certificates; null if there is none
  std::optional<Fault> clientPolicyFault;                     // why that cannot be served
  std::vector<AttachedRoute> routes;
  Claims claims;                                          // claims of the routes attached so far
  std::shared_ptr<const processing::Chain> preRouting;    // uses in RoutingPhase::kPreRouting
  std::shared_ptr<const processing::Chain> chain;         // the uses of PayloadProcessors that target it or its Gateway
  std::vector<processing::Step> unmatched;                // the steps of requests that match no route
  std::shared_ptr<const routing::EgressPolicies> egress;  // for it, its Gateway and the class; may be null
  /// How its clients prove who they are; null if they need not.
  std::shared_ptr<const routing::ClientAuthentication> authentication;
  base::RequestMatching matching;             // what does not count when the route of a request is looked for
  Inheritance inheritance;                    // the settings that its rules inherit from policies for it or its Gateway
  std::shared_ptr<const routing::Rule> rest;  // the rule for requests that no route matches; may be null
  std::set<const RefusedUse*> exposed;        // inherited uses that some rule refuses
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
  /// The reason why no Pods are kept for the Gateway as it asks for them. It is not accepted then, but its existing
  /// Pods continue to serve.
  std::optional<Fault> withoutPods;
  /// The fault for its conditions while it is served without what it asks for: in its previous version, or by the terms
  /// of its class.
  std::optional<Fault> kept;
  /// True if its schema refused it. The parts that could be read answer 500.
  bool rejected = false;
  std::vector<std::string> addresses;  // IP literals in canonical form; "" for all
  bool wantsAddress = false;           // it wants a chosen address, perhaps besides those that it asks for
  /// The fault of an address, or of a port of an address, that the Gateway asks for and that no machine can listen on.
  std::optional<Fault> unusable;
  /// The ports of its addresses where this process cannot listen.
  UnusablePlaces unusablePlaces;
  std::vector<ListenerPlan> listeners;
  base::IdentityTerms identity;  // how it learns who its callers are
  /// The rule for requests at its ports to hosts that no listener has. If it is null, they get 404.
  std::shared_ptr<const routing::Rule> rest;
  /// The Secrets that its processors and its routes may use.
  base::ObjectNames secrets;
  /// The routes that it has admitted, by kind, namespace and name. If its schema refuses it, these are the routes that
  /// it would admit. Empty unless a controller keeps the Pods of Gateways.
  std::set<std::tuple<std::string, std::string, std::string>> routes;
  /// The faults that close some of its listeners, without duplicates. They are those of payload processors that cannot
  /// run and fail closed, and of policies of kinds that are not supported.
  std::vector<Fault> unprocessed;

  void closeFor(const Fault& why) {
    if (std::find(unprocessed.begin(), unprocessed.end(), why) == unprocessed.end()) unprocessed.push_back(why);
  }
};

/// Returns "Gateway default/egress". The name identifies a Gateway across configurations.
inline std::string placeName(const GatewayPlan& plan) {
  const config::ObjectMeta& meta = plan.gateway->meta;
  return std::string(meta.kind) + " " + meta.qualifiedName();
}

/// Returns "Gateway default/egress, listener web".
inline std::string placeName(const GatewayPlan& plan, const ListenerPlan& listener) {
  return placeName(plan) + ", listener " + listener.listener->name;
}

/// Returns nullptr if no failure to listen there is known.
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
