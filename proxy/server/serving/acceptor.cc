#include "proxy/server/serving/acceptor.h"

#include <unistd.h>

#include <utility>

namespace sluice::server {

Acceptor::Acceptor(const std::vector<WorkerRuntime*>& workers, std::size_t descriptors)
    : workers_(workers),
      descriptors_(descriptors),
      refused_(workers.front()->metrics().at<observe::Metric::kLimitHits>("connections")),
      addresses_(workers.front()->metrics()) {}

void Acceptor::listen(const std::vector<BoundSocket>& sockets, const base::LimitSettings& limits) {
  maxConnections_ = limits.connections;
  addresses_.setBounds(limits);
  std::map<const net::ListenSocket*, Listening> before = std::move(listening_);
  listening_.clear();
  for (const BoundSocket& bound : sockets) {
    auto known = before.extract(bound.socket);
    if (!known.empty() && known.mapped().bind == bound.bind) {
      listening_.insert(std::move(known));
    } else {
      if (!known.empty()) known.mapped().listener.reset();  // two listeners cannot watch one socket
      listening_.emplace(bound.socket, Listening{bound.bind, listenerFor(bound)});
    }
  }
}

std::unique_ptr<net::TcpListener> Acceptor::listenerFor(const BoundSocket& bound) {
  const auto accepted = [this, bound](int fd, const net::Address& peer) { onAccepted(fd, peer, bound); };
  return std::make_unique<net::TcpListener>(workers_.front()->worker(), *bound.socket, accepted);
}

void Acceptor::onAccepted(int fd, const net::Address& peer, const BoundSocket& bound) {
  std::size_t total = 0;
  WorkerRuntime* chosen = workers_.front();
  std::size_t fewest = chosen->connections();
  for (WorkerRuntime* worker : workers_) {
    const std::size_t count = worker->connections();
    total += count;
    if (count < fewest) {
      chosen = worker;
      fewest = count;
    }
  }
  if (total >= maxConnections_ || static_cast<std::size_t>(fd) >= descriptors_) {
    refused_.add();
    return refuse(fd, bound, "connections");
  }
  AcceptedClient client{fd, peer, bound.bind, nullptr};
  const auto limit = addresses_.admit(peer, bound.tls, workers_.front()->worker().now(), client.place);
  if (!limit.empty()) return refuse(fd, bound, limit);
  chosen->countConnection();
  if (chosen == workers_.front()) {
    chosen->take(std::move(client));
  } else {
    chosen->hand(std::move(client));
  }
}

void Acceptor::refuse(int fd, const BoundSocket& bound, std::string_view limit) {
  ::close(fd);
  workers_.front()->tellRefusal(bound.bind, limit);
}

}  // namespace sluice::server
