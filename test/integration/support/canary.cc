#include "test/integration/support/canary.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::test {
namespace {

bool bindTo(int fd, const std::string& address, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &at.sin_addr) == 1) {
    return bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  sockaddr_in6 at6{};
  at6.sin6_family = AF_INET6;
  at6.sin6_port = htons(port);
  return inet_pton(AF_INET6, address.c_str(), &at6.sin6_addr) == 1 &&
         bind(fd, reinterpret_cast<const sockaddr*>(&at6), sizeof at6) == 0;
}

}  // namespace

Canary::Canary(const std::string& address, std::uint16_t port)
    : listener_(socket(address.find(':') == std::string::npos ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  setsockopt(listener_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  listens_ = bindTo(listener_.fd(), address, port) && listen(listener_.fd(), SOMAXCONN) == 0;
  if (listens_) thread_ = std::thread([this] { serve(); });
}

Canary::~Canary() {
  shutdown(listener_.fd(), SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
}

void Canary::serve() {
  while (true) {
    BlockingSocket peer(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.ok()) return;
    ++connections_;
    if (!peer.readUntil("\r\n\r\n", std::chrono::seconds(5)).empty()) {
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    }
  }
}

}  // namespace sluice::test
