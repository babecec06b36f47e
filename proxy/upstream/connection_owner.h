// The pool that a connection belongs to, as the connection sees it. Implemented by Pool.
#pragma once

#include "proxy/base/error.h"
#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/upstream/pool_owner.h"

namespace sluice::upstream {

class Connection;
class ConnectionRoom;

class ConnectionOwner {
 public:
  virtual PoolOwner& cluster() = 0;
  /// Returns the address of all its connections; nullptr if they go to those of the plan's hostname.
  virtual const net::Address* endpoint() const = 0;
  /// Returns true if its connections take room there.
  virtual bool uses(const ConnectionRoom& room) const = 0;
  /// Returns whether connections may go to that address, which is the endpoint's or one to which its name resolves.
  virtual bool permits(const net::Address& address) const = 0;
  /// Each connection calls attach() when it is made, before it dials, and detach() when it is destroyed.
  virtual void attach(const Connection& connection) = 0;
  virtual void detach() = 0;
  /// Returns the version of HTTP to use; `tls` is null without TLS.
  virtual base::Result<http::Version> negotiated(const net::TlsFacts* tls) = 0;
  /// Called when the connection may be given out: when it is open, and when bytes come on it after withhold().
  virtual void onServing(Connection& connection) = 0;
  virtual void onCapacity(Connection& connection) = 0;
  /// Takes the connection off all lists, so that no further request gets it.
  virtual void withhold(Connection& connection) = 0;
  /// Called when a connection was lost with the first request after it had been idle. Other connections that have been
  /// idle for as long take no request.
  virtual void onStale() = 0;
  /// Called when a connection takes longer than usual: requests that wait for it should try another endpoint.
  virtual void onSlow() = 0;
  /// Called when a connection must not be given out any more. `error` is the reason why it never became ready; null if
  /// it did.
  virtual void onGone(Connection& connection, const base::Error* error) = 0;

 protected:
  ~ConnectionOwner() = default;
};

}  // namespace sluice::upstream
