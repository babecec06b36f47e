// A client of the API server with its own resolver and dialer, on one thread's loop.
#pragma once

#include <memory>

#include "proxy/kubernetes/client/api_client.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/kubernetes/cluster_access.h"
#include "proxy/upstream/dial/dialer.h"

namespace sluice::server {

class ClusterClient {
 public:
  /// References outlive it.
  ClusterClient(AccessReader access, net::Worker& main, observe::MetricShard& metrics, observe::Log& log);

  kubernetes::ApiClient& api() { return client_; }
  const kubernetes::ApiClient& api() const { return client_; }
  /// Drops all connections, inside a Turn, before the loop ends.
  void shutdown();

 private:
  std::unique_ptr<net::Resolver> resolver_;
  upstream::NetworkDialer dialer_;
  kubernetes::ApiClient client_;
};

}  // namespace sluice::server
