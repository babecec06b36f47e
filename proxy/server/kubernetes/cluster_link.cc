#include "proxy/server/kubernetes/cluster_link.h"

#include <unistd.h>

#include <array>
#include <set>
#include <utility>

#include "proxy/pki/digest.h"

namespace sluice::server {

namespace {

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
    : options_(options), main_(main), connection_(options.kubeconfig, main, metrics, log), client_(connection_.api()) {}

std::unique_ptr<control::KubernetesSource> ClusterLink::makeSource(std::unique_ptr<control::Source> beside) {
  control::ClusterScope objects;
  objects.gateways = {options_.gateways.begin(), options_.gateways.end()};
  objects.withStatus = options_.controller;
  return std::make_unique<control::KubernetesSource>(client_, main_, std::move(objects), std::move(beside));
}

void ClusterLink::control(control::KubernetesSource& source, Serving& serving) {
  if (!options_.controller) return;
  controller_.emplace(
      client_, source.objects(),
      control::Candidacy{client_.access().nameSpace, leaseOf(options_.gateways), identityOfProcess(client_.random())});
  source.onObjects([this] { controller_->onObjects(); });
  serving.tellCompiled([this](const control::CompiledConfiguration& compiled) { controller_->onCompiled(compiled); });
  controller_->start();
}

void ClusterLink::leave(std::function<void()> left) {
  if (!controller_) return left();
  controller_->release([this, left = std::move(left)] { main_.post(left); });
}

}  // namespace sluice::server
