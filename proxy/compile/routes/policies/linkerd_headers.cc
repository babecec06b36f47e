#include "proxy/compile/routes/policies/linkerd_headers.h"

#include <string>
#include <utility>

namespace sluice::compile {
namespace {

constexpr std::string_view kDestinationField = "l5d-dst-override";
/// The domain of a cluster, as Kubernetes' own tools choose it.
constexpr std::string_view kClusterDomain = ".cluster.local";

/// Returns "name.namespace.svc.cluster.local:port".
std::string serviceAuthority(const routing::BackendPlan& service) {
  return service.hostname + std::string(kClusterDomain) + ":" + std::to_string(service.port);
}

/// Makes the edit set the field, whatever it does with it otherwise.
void setField(routing::HeaderEdit& edit, std::string value) {
  const auto isField = [](const auto& each) { return each.first == kDestinationField; };
  std::erase_if(edit.set, isField);
  std::erase_if(edit.add, isField);
  std::erase(edit.remove, kDestinationField);
  edit.set.emplace_back(kDestinationField, std::move(value));
}

}  // namespace

void addLinkerdHeaders(const RuleTraffic& traffic, routing::Rule& compiled) {
  for (std::size_t i = 0; i < compiled.backends.size(); ++i) {
    routing::WeightedBackend& weighted = compiled.backends[i];
    if (weighted.backend == nullptr || !weighted.backend->endpoints) continue;
    const config::IntegrationFields* const integrations = traffic.ofBackend(i).integrations;
    if (integrations == nullptr || !integrations->addLinkerdHeaders) continue;
    if (!weighted.requestHeaders) weighted.requestHeaders.emplace();
    setField(*weighted.requestHeaders, serviceAuthority(*weighted.backend));
  }
}

}  // namespace sluice::compile
