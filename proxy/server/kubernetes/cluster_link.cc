#include "proxy/server/kubernetes/cluster_link.h"

#include <cstdlib>
#include <random>
#include <utility>

#include "proxy/base/settings.h"
#include "proxy/control/kubernetes/in_cluster.h"
#include "proxy/control/kubernetes/kubeconfig.h"

namespace sluice::server {

namespace {

std::string environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t seedOfDelays() {
  std::random_device random;
  return random() | 1;  // not 0
}

/// With the settings that everybody has it cannot fail.
std::unique_ptr<net::Resolver> makeApiResolver(net::Worker& main, observe::MetricShard& metrics) {
  return std::move(net::makeResolver(main, base::DnsSettings(), {.metrics = &metrics})).value();
}

}  // namespace

ClusterLink::ClusterLink(const KubernetesOptions& options, net::Worker& main, observe::MetricShard& metrics,
                         observe::Log& log)
    : options_(options),
      main_(main),
      resolver_(makeApiResolver(main, metrics)),
      dialer_(main),
      client_({main, *resolver_, dialer_, metrics, log,
               [kubeconfig = options.kubeconfig] {
                 return kubeconfig.empty() ? control::readInCluster(environment) : control::readKubeconfig(kubeconfig);
               },
               seedOfDelays()}) {}

std::unique_ptr<control::KubernetesSource> ClusterLink::makeSource(std::unique_ptr<control::Source> beside) {
  control::ClusterScope objects;
  objects.gateways = {options_.gateways.begin(), options_.gateways.end()};
  objects.withStatus = options_.controller;
  return std::make_unique<control::KubernetesSource>(client_, main_, std::move(objects), std::move(beside));
}

void ClusterLink::shutdown() {
  client_.shutdown();
  resolver_.reset();
}

}  // namespace sluice::server
