// An HTTP/1.1 origin in a thread of its own: it answers every head that ends, on any number of connections.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/net/socket_pair.h"

namespace sluice::test {

class PollOrigin {
 public:
  explicit PollOrigin(const std::string& body)
      : response_("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body),
        thread_([this] { run(); }) {}
  ~PollOrigin() {
    ::shutdown(socket_.fd(), SHUT_RDWR);  // wakes its thread
    thread_.join();
  }
  PollOrigin(const PollOrigin&) = delete;
  PollOrigin& operator=(const PollOrigin&) = delete;

  std::uint16_t port() const { return socket_.address().port(); }

 private:
  struct PolledConnection {
    Descriptor fd;
    std::string heads = {};
  };

  void run() {
    while (true) {
      std::vector<pollfd> watched = {{socket_.fd(), POLLIN, 0}};
      for (const PolledConnection& client : clients_) watched.push_back({client.fd.get(), POLLIN, 0});
      ::poll(watched.data(), watched.size(), -1);
      for (std::size_t i = clients_.size(); i-- > 0;) {
        if (watched[i + 1].revents != 0 && !serve(clients_[i])) clients_.erase(clients_.begin() + static_cast<long>(i));
      }
      if (watched[0].revents == 0) continue;
      Descriptor accepted(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (accepted.get() < 0 && (watched[0].revents & POLLHUP) != 0) return;
      if (accepted.get() >= 0) clients_.push_back({std::move(accepted)});
    }
  }
  /// Returns false if the connection is over.
  bool serve(PolledConnection& client) const {
    char bytes[4096];
    const ssize_t count = ::recv(client.fd.get(), bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    client.heads.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = client.heads.find("\r\n\r\n")) != std::string::npos;) {
      client.heads.erase(0, end + 4);
      sendAll(client.fd, response_);
    }
    return true;
  }

  const std::string response_;
  net::ListenSocket socket_ = listenOnLoopback();
  std::vector<PolledConnection> clients_;
  std::thread thread_;
};

}  // namespace sluice::test
