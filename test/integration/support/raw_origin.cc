#include "test/integration/support/raw_origin.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "test/integration/support/h2_client.h"

namespace sluice::test {

RawOrigin::RawOrigin(Script script, std::uint16_t port) : script_(std::move(script)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t length = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), length);
  listen(listener_, SOMAXCONN);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept(); });
}

RawOrigin::~RawOrigin() {
  stopping_ = true;
  stopping_.notify_all();
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& conversation : conversations_) conversation.join();
}

RawOrigin::Script RawOrigin::answering(std::string response) {
  return [response = std::move(response)](BlockingSocket& socket, RawOrigin& origin) {
    while (!origin.readHead(socket).empty()) socket.send(response);
  };
}

RawOrigin::Script RawOrigin::answeringOverHttp2(std::function<std::string(std::uint32_t)> answer) {
  return [answer = std::move(answer)](BlockingSocket& socket, RawOrigin&) {
    H2Client server(std::move(socket));
    std::uint32_t stream = 1;
    for (; server.readFrame(H2Type::kHeaders, stream); stream += 2) server.send(answer(stream));
  };
}

void RawOrigin::accept() {
  while (!stopping_) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a script may send in small pieces
    ++connections_;
    joinEnded();
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    conversations_.emplace_back([this, fd] {
      BlockingSocket socket(fd);
      script_(socket, *this);
      const std::lock_guard closing(mutex_);
      open_.erase(std::find(open_.begin(), open_.end(), fd));
      socket.close();
      ended_.push_back(std::this_thread::get_id());
    });
  }
}

// A thread that has reported its end uses no member any more, so joining it does not block.
void RawOrigin::joinEnded() {
  std::vector<std::thread::id> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
  }
  for (const std::thread::id id : ended) {
    const auto at = std::find_if(conversations_.begin(), conversations_.end(),
                                 [id](const std::thread& one) { return one.get_id() == id; });
    at->join();
    conversations_.erase(at);
  }
}

std::string RawOrigin::readHead(BlockingSocket& socket) {
  std::string head = socket.readUntil("\r\n\r\n");
  if (!head.ends_with("\r\n\r\n")) return {};
  const std::lock_guard lock(mutex_);
  heads_.push_back(head);
  return head;
}

std::vector<std::string> RawOrigin::heads() const {
  const std::lock_guard lock(mutex_);
  return heads_;
}

}  // namespace sluice::test
