// Connections that serve one client alone: a scheme such as NTLM authenticates the connection and not the request (RFC
// 4559 section 6), so the next client on it would be taken for the one that logged in.
//
// A pinned connection is on no list of its pool, and is never pinned to another client. It closes with the client's own
// connection or earlier: each client keeps a few idle ones for each Backend, and when limits.backendConnections is
// reached, an idle one makes room. Owned by Upstreams; one thread.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/http/codec.h"

namespace sluice::upstream {

class Connection;
class ConnectionOwner;
class ConnectionRoom;
class UpstreamContext;
class PoolOwner;

class Pins {
 public:
  /// The most idle connections that one client keeps at one Backend.
  static constexpr std::size_t kMostIdle = 4;

  explicit Pins(UpstreamContext& owner) : owner_(owner) {}

  bool empty() const { return ofClient_.empty(); }
  /// Lets `connection` take requests of `client`, a downstream connection, alone from now on, unless it is pinned
  /// already.
  void add(Connection& connection, http::Token client);
  /// Returns the client's connection to that Backend with room for one more request; nullptr if there is none.
  Connection* find(http::Token client, const PoolOwner& cluster);
  /// Closes the connections that a client has kept longest, now that this one has become idle.
  void trim(const Connection& connection);
  /// Called when the client's connection is gone: the connections that are pinned to it close as soon as they are done.
  void release(http::Token client);
  /// Called when the pool closes: its connections take no new request, and close as soon as they are done.
  void drain(const ConnectionOwner& pool);
  /// Closes an idle pinned connection that takes room of that breaker, unless one is closing already. Returns true if
  /// there will be room.
  bool makeRoom(const ConnectionRoom& room);

 private:
  using Handles = std::vector<base::Handle<Connection>>;  // in the order in which they were pinned

  template <typename Visit>
  void each(const Handles& handles, const PoolOwner& cluster, Visit&& visit);

  UpstreamContext& owner_;
  std::unordered_map<http::Token, Handles> ofClient_;
};

}  // namespace sluice::upstream
