// A port for a listener that is to be opened by its number: while this object lives, the kernel assigns the port to
// nobody else.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace sluice::test {

/// The socket is bound on all addresses without listening, so another socket with SO_REUSEADDR can listen there.
class HeldPort {
 public:
  HeldPort() {
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t length = sizeof address;
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 || ::bind(fd_, at, length) != 0 ||
        ::getsockname(fd_, at, &length) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
  }
  ~HeldPort() { ::close(fd_); }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

}  // namespace sluice::test
