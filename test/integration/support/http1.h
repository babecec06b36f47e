// What tests say over HTTP/1.1 where it does not matter what, and a request over a socket with the answer to it.
#pragma once

#include <cstdint>
#include <string>

#include "test/integration/support/socket.h"

namespace sluice::test {

inline constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
inline constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// An answer with that body.
inline std::string saying(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// One request more on a connection that stays. `bodiless`: it is HEAD.
inline RawResponse askRaw(Socket& client, const std::string& request = kGet, bool bodiless = false) {
  client.send(request);
  return readResponse(client, bodiless);
}
/// The same on a connection of its own, to that port of this machine.
inline RawResponse askRaw(std::uint16_t port, const std::string& request = kGet, bool bodiless = false) {
  Socket client = Socket::connect(port);
  return askRaw(client, request, bodiless);
}

}  // namespace sluice::test
