#include "proxy/server/acceptor.h"

#include <unistd.h>

#include <algorithm>

namespace sluice::server {

Acceptor::Acceptor(const std::vector<WorkerRuntime*>& workers, const std::vector<net::ListenSocket>& sockets,
                   const std::vector<std::size_t>& binds, std::size_t maxConnections, std::size_t maxDescriptors)
    : workers_(workers),
      maxConnections_(maxConnections),
      lastDescriptor_(maxDescriptors - maxDescriptors / 4),
      refused_(workers.front()->metrics().at<observe::Metric::kLimitHits>("connections")) {
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    listeners_.push_back(std::make_unique<net::Listener>(
        workers_.front()->worker(), sockets[i],
        [this, bind = binds[i]](int fd, const net::Address& peer) { onAccepted(fd, peer, bind); }));
  }
}

void Acceptor::onAccepted(int fd, const net::Address& peer, std::size_t bind) {
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
  // The system gives the lowest number that is free: one so high says that few are left.
  if (total >= maxConnections_ || static_cast<std::size_t>(fd) > lastDescriptor_) {
    refused_.add();
    ::close(fd);
    return;
  }
  chosen->countConnection();
  if (chosen == workers_.front()) {
    chosen->adopt(fd, peer, bind);
  } else {
    chosen->hand(fd, peer, bind);
  }
}

}  // namespace sluice::server
