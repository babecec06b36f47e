// Authentication schemes that belong to a connection and not to a request: NTLM, and Negotiate where it falls back to
// it (RFC 4559 section 6). Pure functions.
#pragma once

#include <string_view>

#include "proxy/http/headers.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// Returns true if the first word of credentials, or of a challenge, is the name of such a scheme.
bool isConnectionScheme(std::string_view credentials);
/// Returns true if the request authenticates its connection by Authorization. (Proxy-Authorization goes no further than
/// the gateway.)
inline bool authenticatesConnection(const Headers& request) {
  for (const Field& field : request) {
    if (field.id == FieldId::kAuthorization && isConnectionScheme(field.value)) return true;
  }
  return false;
}
/// Returns true if the response asks for such an authentication by a 401 or 407 with a challenge.
bool challengesConnection(const Headers& response);
inline bool asksToAuthenticateConnection(const ResponseHead& response) {
  return (response.status == 401 || response.status == 407) && challengesConnection(response.headers);
}
/// Removes the lines that offer such a scheme, even if they offer other schemes, too.
void removeConnectionChallenges(Headers& response);

}  // namespace sluice::http
