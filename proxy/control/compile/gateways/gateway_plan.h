// A Gateway on its way into the Snapshot: what is wrong with it and its listeners, and which routes attached to them.
//
// Made by compile_gateway, filled by attach, turned into sockets by compile_binds. Points into the Model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/gateways/claims.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/route_table_builder.h"

namespace sluice::control {

/// What becomes of a listener, the worse the later.
enum class ListenerState : std::uint8_t {
  kServing,
  kRefusing,  // it listens, and answers every request with 500
  kDown       // it opens no socket; on a socket that others hold open its hostname answers 500
};

struct ListenerPlan {
  const config::Listener* listener = nullptr;
  ListenerState state = ListenerState::kServing;
  std::optional<Fault> unaccepted;
  std::optional<Fault> conflict;
  std::optional<Fault> overlap;  // told, and no harm
  std::optional<Fault> unresolved;
  std::optional<Fault> unprocessed;  // by some of its PayloadProcessors
  std::vector<routing::ListenerIdentity> identities;
  std::vector<routing::RouteEntry> entries;
  Claims claims;                                        // of the routes that attached so far
  std::shared_ptr<const processing::Chain> preRouting;  // those of RoutingPhase::kPreRouting
  std::shared_ptr<const processing::Chain> chain;       // of PayloadProcessors that target it or its Gateway
  std::int32_t attachedRoutes = 0;

  bool accepted() const { return !unaccepted && !conflict; }
  void worsen(ListenerState to) {
    if (to > state) state = to;
  }
};

struct GatewayPlan {
  const config::Gateway* gateway = nullptr;
  /// Why the whole Gateway is not accepted.
  std::optional<Fault> refusal;
  /// Its previous version is served: what that is told.
  std::optional<Fault> kept;
  /// Its schema refused it: what was legible of it answers 500.
  bool rejected = false;
  std::vector<std::string> addresses;  // IP literals in one spelling; "" for all
  /// Of what it asks for: an address that nobody can listen on.
  std::optional<Fault> unusable;
  std::vector<ListenerPlan> listeners;
  /// Of payload processors of its listeners that can not run and are not to be missed; each once.
  std::vector<Fault> unprocessed;
};

inline bool speaksHttp(const config::Listener& listener) {
  return listener.protocol != config::ListenerProtocol::kOther;
}

}  // namespace sluice::control
