// Computes the handshake of a tunnel towards a backend, by its kind; proxy/http/tunnel.h parses it. A WebSocket is an
// upgrade with a key (RFC 6455). A client of HTTP/2 sends no key (RFC 8441), so the gateway makes one for it.
//
// Pure functions; views are into the arena.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/base/random.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Completes a request for a tunnel with the parts that its kind needs: a key where the client gave none, and
/// RequestHead::tunnelProof.
void openHandshake(base::Arena& arena, base::Random& random, http::RequestHead& request);
/// Removes the answer to a key that the gateway has made, which is not meant for the client.
void removeAccept(const http::RequestHead& request, http::ResponseHead& response);

}  // namespace sluice::exchange
