// A tunnel towards a backend is always an upgrade to a WebSocket (RFC 6455). A client of HTTP/2 (RFC 8441) sends no
// key, so the gateway makes one of its own.
//
// Pure functions; views are into the arena.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/base/random.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Completes a request for a tunnel: adds a key if the client gave none, and computes the value that accepts the key.
void openHandshake(base::Arena& arena, base::Random& random, http::RequestHead& request);
/// Removes the value that accepts the gateway's own key, which is not for the client.
void removeAccept(const http::RequestHead& request, http::ResponseHead& response);

}  // namespace sluice::exchange
