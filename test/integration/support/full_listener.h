// A listener whose queue is full: the kernel answers no further SYN, so new connections wait.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

class FullListener {
 public:
  FullListener() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), length);
    listen(listener_.fd(), 0);
    getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    for (int i = 0; i < 4; ++i) {
      fillers_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      connect(fillers_.back().fd(), reinterpret_cast<sockaddr*>(&address), length);
    }
  }
  std::uint16_t port() const { return port_; }

 private:
  BlockingSocket listener_;
  std::vector<BlockingSocket> fillers_;
  std::uint16_t port_ = 0;
};

}  // namespace sluice::test
