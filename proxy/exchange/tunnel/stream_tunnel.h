// The state of an exchange that opens a tunnel for bytes of any protocol (CONNECT). It holds the client's first bytes
// back until they are judged. The transaction owns it; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/exchange/tunnel/tunnel_end.h"
#include "proxy/exchange/tunnel/tunnel_places.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/opaque/first_flight.h"

namespace sluice::exchange {

struct StreamTunnel {
  StreamTunnel(TunnelPlaces::TunnelPlace&& taken, base::ChunkPool& pool) : place(std::move(taken)), nothing(pool) {}

  TunnelPlaces::TunnelPlace place;
  http::FirstFlight first;
  base::MonotonicTime agreed{};     // when the client was told that the tunnel is open
  base::MonotonicTime firstByte{};  // of the client, behind that
  bool released = false;            // the first bytes were judged, and all may move
  std::size_t alertBytes = 0;       // of the gateway's own alert, which the destination has not sent
  std::optional<TunnelEnd> end;     // the first reason
  /// Keeps the reason, unless there is one already.
  void endBy(TunnelEnd reason) {
    if (!end) end = reason;
  }
  /// The pipe that the destination reads until then.
  http::BodyPipe nothing;
};

}  // namespace sluice::exchange
