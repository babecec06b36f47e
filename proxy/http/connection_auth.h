// Authentication schemes that belong to a connection and not to a request: NTLM, and Negotiate where it falls back to
// it (RFC 4559 section 6). Pure functions.
#pragma once

#include "proxy/http/headers.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// The request authenticates its connection by Authorization. (Proxy-Authorization goes no further than the gateway.)
bool authenticatesConnection(const Headers& request);
/// The response asks for it: 401 or 407 with such a challenge.
bool asksToAuthenticateConnection(const ResponseHead& response);
/// Removes the lines that offer such a scheme, with whatever else they offer.
void removeConnectionChallenges(Headers& response);

}  // namespace sluice::http
