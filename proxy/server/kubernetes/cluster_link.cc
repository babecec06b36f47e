#include "proxy/server/kubernetes/cluster_link.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>

#include "proxy/base/settings.h"
#include "proxy/control/condition_log.h"
#include "proxy/control/kubernetes/access/in_cluster.h"
#include "proxy/control/kubernetes/access/kubeconfig.h"
#include "proxy/pki/digest.h"

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

/// Controllers of the same Gateways ask for the same Lease.
std::string leaseOf(const std::vector<std::string>& gateways) {
  constexpr std::size_t kDigits = 8;
  std::string name = "sluice-controller";
  if (gateways.empty()) return name;
  const std::set<std::string> sorted(gateways.begin(), gateways.end());
  std::string all;
  for (const std::string& each : sorted) all += each + "\n";
  return name + "-" + pki::toHex(pki::sha256(all)).substr(0, kDigits);
}

/// Returns a name that no other process has: that of the machine, and something random.
std::string identityOfProcess(std::uint64_t random) {
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  return std::string(host.data()) + "_" + pki::toHex(pki::sha256(std::to_string(random))).substr(0, 16);
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

void ClusterLink::report(control::KubernetesSource& source, Serving& serving, observe::EventRing& events) {
  const std::string identity = identityOfProcess(client_.random());
  events_.emplace(client_, source.objects(), identity);
  // What compiling says of an object is the controller's to tell, because every replica would say the same. That all is
  // well after a reload is no news to a cluster.
  events.onEvent([this](const observe::Event& event) {
    const bool ofObject = event.reason == control::kNotFullyServed;
    if (event.type == observe::EventType::kWarning && (options_.controller || !ofObject)) events_->publish(event);
  });
  if (!options_.controller) return;
  controller_.emplace(client_, source.objects(),
                      control::Candidacy{client_.access().nameSpace, leaseOf(options_.gateways), identity});
  source.onObjects([this] { controller_->onObjects(); });
  serving.tellCompiled([this](const control::CompiledConfiguration& compiled) { controller_->onCompiled(compiled); });
  controller_->start();
}

void ClusterLink::leave(std::function<void()> left) {
  if (!controller_) return left();
  controller_->release([this, left = std::move(left)] { main_.post(left); });
}

void ClusterLink::shutdown() {
  client_.shutdown();
  resolver_.reset();
}

}  // namespace sluice::server
