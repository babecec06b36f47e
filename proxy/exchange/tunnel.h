// A tunnel towards a backend is an upgrade to a WebSocket (RFC 6455), whoever asks for it: for HTTP/2 (RFC 8441), which
// has no key, with one that is nobody's but ours.
//
// Pure functions; views are into the arena.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/base/random.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Completes a request for a tunnel: a key, where the client gave none, and what agrees to the key.
void openHandshake(base::Arena& arena, base::Random& random, http::RequestHead& request);
/// The answer to our key is not for the client.
void removeAccept(const http::RequestHead& request, http::ResponseHead& response);

}  // namespace sluice::exchange
