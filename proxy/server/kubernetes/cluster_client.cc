#include "proxy/server/kubernetes/cluster_client.h"

#include <random>
#include <utility>

#include "proxy/base/settings.h"

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

ClusterClient::ClusterClient(AccessReader access, net::Worker& main, observe::MetricShard& metrics, observe::Log& log)
    : resolver_(makeApiResolver(main, metrics)),
      dialer_(main),
      client_({main, *resolver_, dialer_, metrics, log, std::move(access), seedOfDelays()}) {}

void ClusterClient::shutdown() {
  client_.shutdown();
  resolver_.reset();
}

}  // namespace sluice::server
