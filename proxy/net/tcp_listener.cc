#include "proxy/net/tcp_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "proxy/net/poll.h"
#include "proxy/net/timers.h"
#include "proxy/net/unsent.h"

namespace sluice::net {
namespace {

constexpr base::Duration kPause = std::chrono::milliseconds(100);

base::Error cannotListen(const Address& at, int code) {
  return base::Error::config("cannot listen on " + at.toString() + ": " + std::strerror(code));
}

/// Makes one call per step; returns 0, or the errno of the first that fails.
int bindAndListen(int fd, const Address& at) {
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) return errno;
  // Without this, "::" would take the port of "0.0.0.0" as well.
  if (at.isIpv6() && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) return errno;
  boundUnsent(fd);
  if (bind(fd, at.sockaddrPtr(), at.length()) != 0) return errno;
  return listen(fd, SOMAXCONN) == 0 ? 0 : errno;
}

/// Lets sockets share a port while this object lives, but no longer: another process that sets the same option could
/// use the port, too.
class Sharing {
 public:
  Sharing() = default;
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;
  ~Sharing() {
    for (const int fd : fds_) set(fd, 0);
  }
  void add(int fd) {
    set(fd, 1);
    fds_.push_back(fd);
  }

 private:
  // A system without SO_REUSEPORT refuses here, and then bind() fails as well.
  static void set(int fd, int on) { setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)); }
  std::vector<int> fds_;
};

}  // namespace

base::Result<ListenSocket> ListenSocket::open(const Address& at, const std::vector<const ListenSocket*>& beside) {
  const int fd = socket(at.sockaddrPtr()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return cannotListen(at, errno);
  ListenSocket result(fd, at);
  Sharing sharing;
  if (!beside.empty()) sharing.add(fd);
  for (const ListenSocket* other : beside) sharing.add(other->fd());
  if (const int code = bindAndListen(fd, at); code != 0) return cannotListen(at, code);
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) return cannotListen(at, errno);
  result.address_ = Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&bound));
  return result;
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), address_(other.address_) {}

ListenSocket& ListenSocket::operator=(ListenSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(address_, other.address_);
  return *this;
}

ListenSocket::~ListenSocket() {
  if (fd_ >= 0) ::close(fd_);
}

struct TcpListener::AcceptLoop final : private PollSink, private Timer {
  AcceptLoop(Worker& owner, const ListenSocket& listening, Accepted handler, int most)
      : worker(owner),
        socket(listening),
        accepted(std::move(handler)),
        perEvent(most),
        poll(owner, listening.fd(), *this) {
    poll.watch(true, false);
  }

  void onReady(bool, bool) override {
    for (int i = 0; i < perEvent; ++i) {
      if (const int code = acceptOne(); code == EAGAIN) {
        return;
      } else if (code != 0) {
        return pause();
      }
    }
  }

  /// Returns 0 also for a connection that was lost before it was taken.
  int acceptOne() {
    sockaddr_storage peer{};
    socklen_t length = sizeof(peer);
    auto* address = reinterpret_cast<sockaddr*>(&peer);
    const int fd = accept4(socket.fd(), address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return errno == ECONNABORTED || errno == EINTR ? 0 : errno;
    accepted(fd, Address::fromSockaddr(address));
    return 0;
  }

  /// Stops polling for a moment: without descriptors or memory the socket stays readable, so polling on would spin.
  void pause() {
    poll.watch(false, false);
    worker.timers().set(*this, worker.now() + kPause);
  }

  void onTimer() override { poll.watch(true, false); }

  Worker& worker;
  const ListenSocket& socket;
  Accepted accepted;
  const int perEvent;
  Poll poll;
};

TcpListener::TcpListener(Worker& worker, const ListenSocket& socket, Accepted accepted, int perEvent)
    : loop_(std::make_unique<AcceptLoop>(worker, socket, std::move(accepted), perEvent)) {}

TcpListener::~TcpListener() = default;

}  // namespace sluice::net
