// What an exchange needs of the connection that it came by: found by token each time, so that a connection that is gone
// is simply not there. Implemented by the server's connections, and by tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/exchange/client_memory.h"
#include "proxy/http/codec.h"
#include "proxy/routing/table/route_table.h"

namespace sluice::exchange {

class Downstream {
 public:
  virtual ~Downstream() = default;
  virtual http::ServerCodec& codec() = 0;
  /// The codec was given something: flush in this beat.
  virtual void touch() = 0;
  /// The name that the client asked for in its TLS handshake (SNI), lower case; empty: none. Lives as long as the
  /// connection.
  virtual std::string_view serverName() const = 0;
  /// The account that the bodies of its exchanges are charged to.
  virtual ClientMemory& memory() = 0;
  /// The same as net::Transport::acknowledged().
  virtual std::uint64_t acknowledged() const = 0;
  /// By which its requests are matched now. For the turn.
  virtual const routing::RouteTable& routes() const = 0;

  /// Exchanges keep in here what the large heads of the connection's requests hold together (limits.headerMemory).
  std::size_t headerMemory = 0;
};

class Downstreams {
 public:
  virtual ~Downstreams() = default;
  /// nullptr if the connection is gone.
  virtual Downstream* findDownstream(http::Token connection) = 0;
};

}  // namespace sluice::exchange
