// A tunnel that HTTP/2 asks for (RFC 8441) is an upgrade towards the backend (RFC 6455), whose key is nobody's but
// ours.
//
// Pure functions; views are into the arena.
#pragma once

#include <cstdint>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// The client gave no key: two random numbers become one. Other requests are left alone.
inline bool needsKey(const http::RequestHead& request) {
  return request.body == http::Body::kTunnel && request.version == http::Version::kHttp2;
}
void addKey(base::Arena& arena, std::uint64_t high, std::uint64_t low, http::RequestHead& request);
/// The answer to our key is not for the client.
void removeAccept(const http::RequestHead& request, http::ResponseHead& response);

}  // namespace sluice::exchange
