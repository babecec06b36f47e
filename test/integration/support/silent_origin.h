// An origin that takes every connection, says nothing, and keeps all of them until it goes: for many idle tunnels. One
// thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

class SilentOrigin {
 public:
  SilentOrigin() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), length);
    listen(listener_.fd(), SOMAXCONN);
    getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~SilentOrigin() {
    shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
    for (BlockingSocket& each : kept_) each.reset();
  }
  SilentOrigin(const SilentOrigin&) = delete;
  SilentOrigin& operator=(const SilentOrigin&) = delete;

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void serve() {
    while (true) {
      BlockingSocket peer(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer.ok()) return;
      kept_.push_back(std::move(peer));
      ++connections_;
    }
  }

  BlockingSocket listener_;
  std::uint16_t port_ = 0;
  std::vector<BlockingSocket> kept_;  // of the thread
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace sluice::test
