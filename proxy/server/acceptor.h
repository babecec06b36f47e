// The one acceptor: it lives on the first worker and hands every connection to the worker that has the fewest, so that
// a few long-lived HTTP/2 connections spread as evenly as many short ones.
#pragma once

#include <memory>
#include <vector>

#include "proxy/net/listener.h"
#include "proxy/server/worker_runtime.h"

namespace sluice::server {

class Acceptor {
 public:
  /// `sockets` are in the order of the snapshot's binds, several for one bind possible: `binds[i]` is that of
  /// sockets[i]. `workers` and `sockets` outlive it. `maxConnections` is limits.connections, for the whole process; so is
  /// `maxDescriptors`, a quarter of which clients leave to backends and to the admin and health ports.
  Acceptor(const std::vector<WorkerRuntime*>& workers, const std::vector<net::ListenSocket>& sockets,
           const std::vector<std::size_t>& binds, std::size_t maxConnections, std::size_t maxDescriptors);

 private:
  void onAccepted(int fd, const net::Address& peer, std::size_t bind);

  const std::vector<WorkerRuntime*> workers_;
  const std::size_t maxConnections_;
  const std::size_t lastDescriptor_;  // that a client may have
  observe::Counter& refused_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
};

}  // namespace sluice::server
