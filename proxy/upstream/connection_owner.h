// The pool that a connection belongs to, as the connection sees it. Implemented by Pool.
#pragma once

#include <cstdint>
#include <span>

#include "proxy/base/error.h"
#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/upstream/pool_owner.h"

namespace sluice::upstream {

class Connection;

class ConnectionOwner {
 public:
  virtual PoolOwner& cluster() = 0;
  /// Whether connections may go to that address, which is that of the endpoint or one that its name stands for.
  virtual bool permits(std::span<const std::uint8_t> address) const = 0;
  /// Says what permits() says, and counts the addresses to which connections may not go.
  virtual bool admits(const net::Address& address) const = 0;
  /// A connection is there, and is no more: by each, as long as it exists.
  virtual void attach() = 0;
  virtual void detach() = 0;
  /// The version to speak; null: no TLS.
  virtual base::Result<http::Version> negotiated(const net::TlsFacts* tls) = 0;
  virtual void onServing(Connection& connection) = 0;
  virtual void onCapacity(Connection& connection) = 0;
  /// It stands on no list any more: nobody else gets it.
  virtual void onPinned(Connection& connection) = 0;
  /// A connection takes longer to come about than one to an endpoint that lives: who waits for it may do better
  /// elsewhere.
  virtual void onSlow() = 0;
  /// No longer to be given out. `error`: it never became ready, and why.
  virtual void onGone(Connection& connection, const base::Error* error) = 0;

 protected:
  ~ConnectionOwner() = default;
};

}  // namespace sluice::upstream
