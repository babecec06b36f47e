// HTTP/1.1 messages for tests in which their content does not matter, and requests over a socket.
#pragma once

#include <cstdint>
#include <string>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

inline constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
inline constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Returns an answer with this body.
inline std::string saying(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Sends one more request on a persistent connection, and returns the answer. `bodiless`: the request is HEAD.
inline ReceivedResponse askRaw(BlockingSocket& client, const std::string& request = kGet, bool bodiless = false) {
  client.send(request);
  return readResponse(client, bodiless);
}
/// Sends the request on a connection of its own, to this port of this machine.
inline ReceivedResponse askRaw(std::uint16_t port, const std::string& request = kGet, bool bodiless = false) {
  BlockingSocket client = BlockingSocket::connect(port);
  return askRaw(client, request, bodiless);
}

}  // namespace sluice::test
