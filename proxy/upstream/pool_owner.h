// The interface of the cluster for its pools. Implemented by Cluster.
#pragma once

#include <cstdint>

#include "proxy/http/codec.h"
#include "proxy/net/tls/tls.h"
#include "proxy/routing/snapshot.h"

namespace sluice::upstream {

class ConnectionRoom;
class DialRoom;
class Pool;
class ReachNotes;

/// The metric http_client_open_connections counts a connection under one of these.
enum class ConnectionUse : std::uint8_t { kNone, kIdle, kActive };

/// The other endpoints that may serve a request whose own cannot.
enum class Elsewhere : std::uint8_t {
  kAny,        // any other one, because the endpoint has gone
  kReachable,  // those that are not ejected
  kRoomy,      // those of them that are not full, because its own is
  kConnected   // those with connections, because no more may be opened
};

class PoolOwner {
 public:
  virtual const routing::BackendPlan& plan() const = 0;
  /// Returns nullptr for plaintext.
  virtual net::TlsClientContext* tlsContext() = 0;
  /// Returns the room that it shares with the other clusters of its Backend.
  virtual ConnectionRoom& room() = 0;
  /// Returns the same as far as it concerns further dials of one connection.
  virtual DialRoom& dialRoom() = 0;
  /// Returns true if it was retired and no request is left that could want a connection.
  virtual bool deserted() const = 0;
  /// Each connection calls attach() when it is made and detach() when it is destroyed.
  virtual void attach() = 0;
  virtual void detach() = 0;
  virtual void countWaiters(int more) = 0;
  /// Returns whether a request may find another endpoint.
  virtual bool hasChoice() const = 0;
  /// Returns at most how many requests the endpoints that may be reached let through beyond those that they have.
  virtual std::size_t vacancy() = 0;
  /// Called when an endpoint may have room for requests that wait for another one, which is
  /// full.
  virtual void onVacancy() = 0;
  /// Moves `waiter`, which `from` cannot serve, to another endpoint. Returns false, and changes nothing, if there is
  /// none for it or if it has tried enough of them.
  virtual bool relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) = 0;
  /// Returns true if a request waits for a connection of the pool, or was notified to ask it again.
  virtual bool isAwaited(const Pool& pool) const = 0;
  /// Called when the waiter was notified of a failure.
  virtual void forget(http::Token waiter) = 0;
  virtual void onUse(ConnectionUse before, ConnectionUse now) = 0;
  /// Returns where the outcomes of connections are noted.
  virtual ReachNotes& reach() = 0;

 protected:
  ~PoolOwner() = default;
};

}  // namespace sluice::upstream
