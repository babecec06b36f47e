// Reads and writes the value of a session in messages: in a cookie (RFC 6265) or in a header field, by the name that
// the policy gives.
//
// The value is between the gateway and the client: its cookie or field is taken out of requests before anybody else
// sees them. Free functions, on the exchange's thread.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/http/message.h"
#include "proxy/routing/policy/session_policy.h"

namespace sluice::exchange {

/// Removes all cookies or fields of the policy's name from the request; the others stay as they are. Returns the first
/// few values that may be ours by their size `valueSize`, as views into the request's arena.
std::vector<std::string_view> takeSessions(const routing::SessionPolicy& policy, std::size_t valueSize,
                                           http::RequestMessage& request);
/// Removes them from the copy of the head as the client sent it, if there is one.
void removeSessions(const routing::SessionPolicy& policy, base::Arena& arena, http::Headers& headers);

/// The attributes of a value that the client must send.
struct SessionTerms {
  std::string_view requestPath;
  bool secure;         // the client connected by TLS
  base::Duration age;  // that of the session
};

/// Adds the value as the field of the policy, in place of the backend's, or as one more cookie: HttpOnly,
/// SameSite=Strict, Secure where the client connected by TLS (GEP-1619, "Cookie Attributes"), and with Max-Age if it is
/// permanent.
void addSession(const routing::SessionPolicy& policy, std::string_view value, const SessionTerms& terms,
                http::ResponseMessage& response);

}  // namespace sluice::exchange
