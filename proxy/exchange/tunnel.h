// Computes the handshake of a tunnel towards a backend, by its kind; proxy/http/tunnel.h has what it says. A
// WebSocket is an upgrade with a key (RFC 6455), whoever asks for it: for a client of HTTP/2 (RFC 8441), which gives
// none, with a key of our own.
//
// Pure functions; views are into the arena.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/base/random.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Completes a request for a tunnel with what its kind needs: a key where the client gave none, and
/// RequestHead::tunnelProof.
void openHandshake(base::Arena& arena, base::Random& random, http::RequestHead& request);
/// Removes the answer to a key of our own, which is not for the client.
void removeAccept(const http::RequestHead& request, http::ResponseHead& response);

}  // namespace sluice::exchange
