#include "proxy/server/kubernetes/cluster_client.h"

#include <cstdlib>
#include <random>
#include <utility>

#include "proxy/base/settings.h"
#include "proxy/kubernetes/access/in_cluster.h"
#include "proxy/kubernetes/access/kubeconfig.h"

namespace sluice::server {
namespace {

std::uint64_t seedOfDelays() {
  std::random_device random;
  return random() | 1;  // not 0
}

/// With default settings this cannot fail.
std::unique_ptr<net::Resolver> makeApiResolver(net::Worker& main, observe::MetricShard& metrics) {
  return std::move(net::makeResolver(main, base::DnsSettings(), {.metrics = &metrics})).value();
}

}  // namespace

std::string environmentVariable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

ClusterClient::ClusterClient(const std::string& kubeconfig, net::Worker& main, observe::MetricShard& metrics,
                             observe::Log& log)
    : resolver_(makeApiResolver(main, metrics)),
      dialer_(main),
      client_({main, *resolver_, dialer_, metrics, log,
               [kubeconfig] {
                 return kubeconfig.empty() ? kubernetes::readInCluster(environmentVariable)
                                           : kubernetes::readKubeconfig(kubeconfig);
               },
               seedOfDelays()}) {}

void ClusterClient::shutdown() {
  client_.shutdown();
  resolver_.reset();
}

}  // namespace sluice::server
