// Connections that serve one client alone: a scheme such as NTLM authenticates the connection and not the request (RFC
// 4559 section 6), so whoever came next on it would be taken for the client that logged in.
//
// A pinned connection stands on no list of its pool, and is never pinned to another client. It goes with the client's
// own connection, or earlier: each client keeps a few idle ones for each Backend, and where limits.backendConnections
// is reached an idle one makes room. Owned by Upstreams; one thread.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/http/codec.h"

namespace sluice::upstream {

class Connection;
class ConnectionOwner;
class Context;
class PoolOwner;

class Pins {
 public:
  /// One client keeps so many idle connections at one Backend.
  static constexpr std::size_t kMostIdle = 4;

  explicit Pins(Context& owner) : owner_(owner) {}

  bool empty() const { return ofClient_.empty(); }
  /// From now on `connection` takes requests of `client`, a downstream connection, alone; unless it is pinned already.
  void add(Connection& connection, http::Token client);
  /// The client's connection to that Backend with room for one request more; nullptr: there is none.
  Connection* find(http::Token client, const PoolOwner& cluster);
  /// The connection has become idle: those of its client that have been kept longest go.
  void trim(const Connection& connection);
  /// The client's connection is gone: its own go as soon as they are done.
  void release(http::Token client);
  /// The pool closes: its connections take no new request, and go as soon as they are done.
  void drain(const ConnectionOwner& pool);
  /// Closes a connection to that Backend that does nothing, unless one is closing already. True: there will be room.
  bool makeRoom(const PoolOwner& cluster);

 private:
  using Handles = std::vector<base::Handle<Connection>>;  // in the order in which they were pinned

  template <typename Visit>
  void each(const Handles& handles, const PoolOwner& cluster, Visit&& visit);

  Context& owner_;
  std::unordered_map<http::Token, Handles> ofClient_;
};

}  // namespace sluice::upstream
