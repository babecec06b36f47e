// A port where clients speak plaintext, and which leads to a TLS listener of the gateway: each connection at the door
// is one connection to the listener. So the plain clients of the tests can present certificates.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/kubernetes/tls_pipe.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {

class TlsDoor {
 public:
  /// Presents `client` if the listener asks for a certificate; `authority` (PEM) is that of the listener's own.
  TlsDoor(std::uint16_t listener, const std::string& authority, const std::optional<CertifiedKey>& client,
          const std::string& protocol = "http/1.1")
      : listener_(listener), context_(TlsPipeContext::client(authority, client, protocol)) {}

  std::uint16_t port() const { return door_.port(); }
  /// Returns the code of the fatal alert by which the gateway has ended a connection; 0 if it has sent none. It is
  /// known when the client sees the end of its connection.
  int alert() const { return alert_; }

 private:
  static std::string received(const BlockingSocket& socket) {
    std::array<char, 16384> buffer{};
    const auto count = recv(socket.fd(), buffer.data(), buffer.size(), 0);
    return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : std::string();
  }

  /// Returns false when the connection is over.
  static bool move(TlsPipe& pipe, BlockingSocket& client, BlockingSocket& server) {
    server.send(pipe.takeOutput());
    std::array<pollfd, 2> ready{{{client.fd(), POLLIN, 0}, {server.fd(), POLLIN, 0}}};
    poll(ready.data(), ready.size(), -1);
    bool open = true;
    if (ready[1].revents != 0) {
      std::string plaintext;
      const std::string bytes = received(server);
      open = !bytes.empty() && pipe.receive(bytes, plaintext);
      client.send(plaintext);
    } else if (ready[0].revents != 0) {
      const std::string bytes = received(client);
      open = !bytes.empty();
      if (open) {
        pipe.send(bytes);
      } else {
        pipe.finish();
      }
    }
    return open;
  }

  void relay(BlockingSocket& client) {
    BlockingSocket server = BlockingSocket::connect(listener_);
    TlsPipe pipe(context_);
    while (server.ok() && move(pipe, client, server)) {
    }
    server.send(pipe.takeOutput());
    if (pipe.alert() != 0) alert_ = pipe.alert();
  }

  const std::uint16_t listener_;
  const TlsPipeContext context_;
  std::atomic<int> alert_ = 0;
  RawOrigin door_{[this](BlockingSocket& client, RawOrigin&) { relay(client); }};  // ends first
};

}  // namespace sluice::test
