// The Backend that pools of connections belong to, as they see it. Implemented by Cluster.
#pragma once

#include <cstdint>

#include "proxy/http/codec.h"
#include "proxy/net/tls/tls.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/budget.h"

namespace sluice::upstream {

class Pool;

/// The metric http_client_open_connections counts a connection under one of these.
enum class ConnectionUse : std::uint8_t { kNone, kIdle, kActive };

/// Names the other endpoints that may serve a request whose own cannot.
enum class Elsewhere : std::uint8_t {
  kAny,        // the one that they wait for is no more
  kReachable,  // those to which the last attempt to connect did not just fail
  kConnected   // those with connections: no more may be opened
};

class PoolOwner {
 public:
  virtual const routing::BackendPlan& plan() const = 0;
  /// nullptr for plaintext.
  virtual net::TlsClientContext* tlsContext() = 0;
  virtual Budget& budget() = 0;
  /// It was retired, and nobody is here any more who could want a connection.
  virtual bool deserted() const = 0;
  /// A connection is there, and is no more.
  virtual void attach() = 0;
  virtual void detach() = 0;
  virtual void countWaiters(int more) = 0;
  /// Whether a request may find another endpoint.
  virtual bool hasChoice() const = 0;
  /// Has `waiter`, whom `from` can not serve, wait for another endpoint. False, and nothing has changed, if there is
  /// none for it or if it has tried enough of them.
  virtual bool relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) = 0;
  /// The waiter was told of a failure.
  virtual void forget(http::Token waiter) = 0;
  virtual void onUse(ConnectionUse before, ConnectionUse now) = 0;

 protected:
  ~PoolOwner() = default;
};

}  // namespace sluice::upstream
