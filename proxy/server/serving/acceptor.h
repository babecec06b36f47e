// The one acceptor: it lives on the first worker and hands every connection to the worker that has the fewest, so that
// a few long-lived HTTP/2 connections spread as evenly as many short ones.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/base/settings.h"
#include "proxy/net/tcp_listener.h"
#include "proxy/server/connection/address_limits.h"
#include "proxy/server/serving/listen_sockets.h"
#include "proxy/server/serving/worker_runtime.h"

namespace sluice::server {

class Acceptor {
 public:
  /// `workers` outlive the acceptor. A client's connection has a descriptor below `descriptors` (descriptor_shares.h).
  Acceptor(const std::vector<WorkerRuntime*>& workers, std::size_t descriptors);

  /// Takes connections from these sockets, which stay until the next call, and from no others. `limits` bound the
  /// connections of the whole process, and those of one address. Before the first worker runs, or on its thread.
  void listen(const std::vector<BoundSocket>& sockets, const base::LimitSettings& limits);

 private:
  struct Listening {
    control::BindId bind;
    std::unique_ptr<net::TcpListener> listener;
  };
  std::unique_ptr<net::TcpListener> listenerFor(const BoundSocket& bound);
  void onAccepted(int fd, const net::Address& peer, const BoundSocket& bound);
  void refuse(int fd, const BoundSocket& bound, std::string_view limit);

  const std::vector<WorkerRuntime*> workers_;
  std::uint64_t maxConnections_ = 0;
  const std::size_t descriptors_;
  observe::Counter& refused_;
  AddressLimits addresses_;
  std::map<const net::ListenSocket*, Listening> listening_;
};

}  // namespace sluice::server
