// Downstream is an exchange's view of the client's connection that it came by. It is looked up by token each time, so a
// connection that is gone is simply not found. The server's connections implement it, and tests do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/exchange/transaction/client_memory.h"
#include "proxy/http/codec.h"
#include "proxy/routing/table/route_table.h"

namespace sluice::exchange {

class CertifiedCaller;

class Downstream {
 public:
  virtual ~Downstream() = default;
  virtual http::ServerCodec& codec() = 0;
  /// Called when the codec was given something. Has it flushed in this beat.
  virtual void touch() = 0;
  /// Returns the name that the client asked for in its TLS handshake (SNI), in lower case; empty if there is none. It
  /// lives as long as the connection.
  virtual std::string_view serverName() const = 0;
  /// Returns the account that the bodies of its exchanges are charged to.
  virtual ClientMemory& memory() = 0;
  /// Returns the account that the heads of its requests are charged to.
  virtual http::HeadAccount& heads() = 0;
  /// Returns net::Transport::acknowledged() of the connection.
  virtual std::uint64_t acknowledged() const = 0;
  /// Returns the table that its requests are matched by now; valid for the turn.
  virtual const routing::RouteTable& routes() const = 0;

  /// The connection's own caller, as its client's certificate names it; null if the client has shown none. It is no
  /// virtual function, because each request looks here.
  CertifiedCaller* certified = nullptr;
};

class Downstreams {
 public:
  virtual ~Downstreams() = default;
  /// Returns nullptr if the connection is gone.
  virtual Downstream* findDownstream(http::Token connection) = 0;
};

}  // namespace sluice::exchange
