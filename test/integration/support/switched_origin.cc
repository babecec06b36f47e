#include "test/integration/support/switched_origin.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "test/integration/support/child_process.h"
#include "test/integration/support/http1.h"

namespace sluice::test {
namespace {

constexpr std::string_view kProbe = "GET /healthz ";

sockaddr_in addressOf(const std::string& ip, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
  return address;
}

int boundSocket(const std::string& ip, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  const sockaddr_in address = addressOf(ip, port);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
  return fd;
}

void watch(int poll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

/// Returns the size of the first request in `bytes`; 0 if it is not there as a whole.
std::size_t requestSize(std::string_view bytes) {
  constexpr std::string_view kLength = "content-length: ";
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  const std::size_t at = bytes.substr(0, end).find(kLength);
  const std::size_t body =
      at == std::string_view::npos ? 0 : std::strtoul(bytes.data() + at + kLength.size(), nullptr, 10);
  return bytes.size() >= end + 4 + body ? end + 4 + body : 0;
}

std::string failing(const std::string& status) { return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n"; }

}  // namespace

SwitchedOrigin::SwitchedOrigin(std::string name, const std::string& address, std::uint16_t port)
    : name_(std::move(name)),
      address_(address),
      port_(port),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      holder_(boundSocket(address, port)) {
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  getsockname(holder_, reinterpret_cast<sockaddr*>(&bound), &length);
  port_ = ntohs(bound.sin_port);
  watch(poll_, stop_);
  listen();
  thread_ = std::thread([this] { loop(); });
}

SwitchedOrigin::~SwitchedOrigin() {
  eventfd_write(stop_, 1);
  thread_.join();
  leave();
  for (const int fd : {holder_, poll_, stop_}) close(fd);
}

void SwitchedOrigin::listen() {
  listener_ = boundSocket(address_, port_);
  ::listen(listener_, SOMAXCONN);
  watch(poll_, listener_);
}

void SwitchedOrigin::set(OriginMode mode) {
  const std::lock_guard lock(mutex_);
  mode_ = mode;
  std::vector<int> held;
  for (const auto& [fd, peer] : peers_) {
    if (peer.held) held.push_back(fd);
  }
  for (const int fd : held) answer(fd, peers_.at(fd));
}

void SwitchedOrigin::leave() {
  const std::lock_guard lock(mutex_);
  if (listener_ < 0) return;
  // Connections that the kernel has accepted are reset with their listener.
  close(std::exchange(listener_, -1));
  while (!peers_.empty()) drop(peers_.begin()->first);
}

void SwitchedOrigin::comeBack(std::size_t probes) {
  const std::lock_guard lock(mutex_);
  mode_ = OriginMode::kServe;
  probesLeft_ = probes;
  if (listener_ < 0) listen();
}

void SwitchedOrigin::holdProbes() {
  const std::lock_guard lock(mutex_);
  holdsProbes_ = true;
}

void SwitchedOrigin::loop() {
  std::array<epoll_event, 64> events{};
  while (true) {
    const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == stop_) return;
      if (fd == listener_) {
        accept();
      } else if (peers_.contains(fd)) {
        read(fd);
      }
    }
    changed_.notify_all();
  }
}

void SwitchedOrigin::accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    peers_[fd];
    watch(poll_, fd);
  }
}

void SwitchedOrigin::read(int fd) {
  std::array<char, 16 * 1024> bytes{};
  const ssize_t count = recv(fd, bytes.data(), bytes.size(), 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) return drop(fd);
  SwitchedPeer& peer = peers_.at(fd);
  peer.unread.append(bytes.data(), static_cast<std::size_t>(count));
  take(fd, peer);
}

void SwitchedOrigin::take(int fd, SwitchedPeer& peer) {
  const std::size_t size = requestSize(peer.unread);
  if (size == 0) return;
  const bool isProbe = peer.unread.starts_with(kProbe);
  heads_.push_back(peer.unread.substr(0, peer.unread.find("\r\n\r\n")));
  peer.unread.erase(0, size);
  if (isProbe) {
    ++probes_;
    if (!answersProbe()) return;
    if (probesLeft_ != kAny) --probesLeft_;
    if (mode_ == OriginMode::kHold) {
      send(fd, kOk, std::string_view(kOk).size(), MSG_NOSIGNAL);
      return;
    }
  } else {
    ++requests_;
    probesLeft_ = kAny;
  }
  answer(fd, peer);
}

void SwitchedOrigin::answer(int fd, SwitchedPeer& peer) {
  peer.held = mode_ == OriginMode::kHold;
  if (peer.held) return;
  if (mode_ == OriginMode::kReset) return drop(fd);
  std::string bytes = saying(name_);
  if (mode_ == OriginMode::kBusy) bytes = failing("503 Service Unavailable");
  if (mode_ == OriginMode::kBroken) bytes = failing("500 Internal Server Error");
  send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void SwitchedOrigin::drop(int fd) {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  peers_.erase(fd);
  close(fd);
}

bool SwitchedOrigin::await(const std::function<bool()>& holds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, holds);
}

std::size_t SwitchedOrigin::heldCount() const {
  return static_cast<std::size_t>(
      std::count_if(peers_.begin(), peers_.end(), [](const auto& each) { return each.second.held; }));
}

bool SwitchedOrigin::hears(std::size_t requests) {
  return await([&] { return requests_ >= requests; });
}
bool SwitchedOrigin::isProbed(std::size_t probes) {
  return await([&] { return probes_ >= probes; });
}
bool SwitchedOrigin::holds(std::size_t requests) {
  return await([&] { return heldCount() >= requests; });
}
bool SwitchedOrigin::isDeserted() {
  return await([&] { return peers_.empty(); });
}

std::size_t SwitchedOrigin::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}
std::size_t SwitchedOrigin::probes() const {
  const std::lock_guard lock(mutex_);
  return probes_;
}
std::size_t SwitchedOrigin::connections() const {
  const std::lock_guard lock(mutex_);
  return peers_.size();
}
std::vector<std::string> SwitchedOrigin::heads() const {
  const std::lock_guard lock(mutex_);
  return heads_;
}

}  // namespace sluice::test
