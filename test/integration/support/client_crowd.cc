#include "test/integration/support/client_crowd.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "test/integration/support/child_process.h"

namespace sluice::test {
namespace {

/// An answer with a Content-Length.
struct CrowdAnswer {
  int status;
  bool isLast;  // the connection ends behind it
  std::string_view body;
};

std::optional<CrowdAnswer> wholeAnswer(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t length = 0;
  for (const std::string_view name : {"content-length: ", "Content-Length: "}) {
    const std::size_t at = bytes.substr(0, end).find(name);
    if (at != std::string_view::npos) length = std::strtoul(bytes.data() + at + name.size(), nullptr, 10);
  }
  if (bytes.size() < end + 4 + length) return std::nullopt;
  return CrowdAnswer{static_cast<int>(std::strtol(bytes.data() + std::string_view("HTTP/1.1 ").size(), nullptr, 10)),
                     bytes.substr(0, end).find("onnection: close") != std::string_view::npos,
                     bytes.substr(end + 4, length)};
}

}  // namespace

std::string ClientCrowd::byBody(int status, std::string_view body) {
  return status == 200 ? std::string(body) : std::to_string(status);
}

ClientCrowd::ClientCrowd(std::uint16_t port, std::size_t clients, std::string request, Judge judge)
    : port_(port),
      request_(std::move(request)),
      judge_(std::move(judge)),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = stop_;
  epoll_ctl(poll_, EPOLL_CTL_ADD, stop_, &event);
  for (std::size_t i = 0; i < clients; ++i) connect();
  thread_ = std::thread([this] { loop(); });
}

ClientCrowd::~ClientCrowd() {
  finish();
  close(poll_);
  close(stop_);
}

// The kernel connects at once on loopback, so a blocking connect() does.
void ClientCrowd::connect() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return note("refused");
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
  clients_[fd];
  send(fd, request_.data(), request_.size(), MSG_NOSIGNAL);
}

void ClientCrowd::loop() {
  std::array<epoll_event, 64> events{};
  while (!isStopping_ || !clients_.empty()) {
    const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()),
                                 isStopping_ ? static_cast<int>(std::chrono::milliseconds(kPatience).count()) : -1);
    if (count == 0) return note("unanswered");
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd != stop_) {
        read(fd);
        continue;
      }
      eventfd_t value = 0;
      eventfd_read(stop_, &value);
      isStopping_ = true;
    }
  }
}

void ClientCrowd::read(int fd) {
  std::array<char, 16 * 1024> bytes{};
  const ssize_t count = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  CrowdClient& client = clients_.at(fd);
  if (count > 0) client.received.append(bytes.data(), static_cast<std::size_t>(count));
  const std::optional<CrowdAnswer> answer = wholeAnswer(client.received);
  if (answer) {
    note(judge_(answer->status, answer->body));
    const bool goesOn = !answer->isLast && !isStopping_;
    client.received.clear();
    if (goesOn) {
      send(fd, request_.data(), request_.size(), MSG_NOSIGNAL);
      return;
    }
  } else if (count > 0) {
    return;
  } else {
    note(kCut);
  }
  clients_.erase(fd);
  close(fd);
  if (!isStopping_) connect();
}

void ClientCrowd::note(const std::string& outcome) {
  const std::lock_guard lock(mutex_);
  ++outcomes_[outcome];
  ++answered_;
  changed_.notify_all();
}

bool ClientCrowd::hasAnswers(std::size_t more) {
  std::unique_lock lock(mutex_);
  const std::size_t until = answered_ + more;
  return changed_.wait_for(lock, kPatience, [&] { return answered_ >= until; });
}

bool ClientCrowd::hasAnswers(std::size_t more, const std::string& outcome) {
  std::unique_lock lock(mutex_);
  const std::size_t until = outcomes_[outcome] + more;
  return changed_.wait_for(lock, kPatience, [&] { return outcomes_[outcome] >= until; });
}

ClientCrowd::Outcomes ClientCrowd::finish() {
  if (thread_.joinable()) {
    eventfd_write(stop_, 1);
    thread_.join();
    for (const auto& [fd, client] : clients_) close(fd);
    clients_.clear();
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(outcomes_, [](const auto& each) { return each.second == 0; });
  return outcomes_;
}

}  // namespace sluice::test
