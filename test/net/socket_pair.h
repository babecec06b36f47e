// Two ends of a TCP connection over loopback, as plain descriptors, and functions for the peer's end.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "proxy/net/address.h"
#include "proxy/net/tcp_listener.h"

namespace sluice::test {

/// A descriptor that is closed with its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void close() {
    if (fd_ >= 0) ::close(release());
  }

 private:
  int fd_;
};

inline net::ListenSocket listenOnLoopback() {
  return net::ListenSocket::open(*net::Address::parse("127.0.0.1", 0)).value();
}

/// Connects. `receives` is the number of bytes that the system keeps for the socket, 0 for its default.
inline Descriptor connectBlocking(const net::Address& to, int receives = 0) {
  Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receives > 0) ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receives, sizeof(receives));
  if (::connect(fd.get(), to.sockaddrPtr(), to.length()) != 0) return Descriptor();
  return fd;
}

struct SocketPair {
  Descriptor ours;
  Descriptor peers;
};

inline SocketPair makeSocketPair() {
  const net::ListenSocket listening = listenOnLoopback();
  SocketPair pair;
  pair.peers = connectBlocking(listening.address());
  pair.ours = Descriptor(::accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  return pair;
}

inline bool sendAll(const Descriptor& to, std::string_view bytes) {
  return ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

/// Appends the bytes that can be read now. Returns the result of the last read: 0 at the end, -1 with errno otherwise.
inline ssize_t readAvailable(const Descriptor& from, std::string& into) {
  char bytes[65536];
  ssize_t count = 0;
  while ((count = ::recv(from.get(), bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
    into.append(bytes, static_cast<std::size_t>(count));
  return count;
}

}  // namespace sluice::test
