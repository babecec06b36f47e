#include "proxy/compile/gateways/backends_in_use.h"

#include <map>
#include <utility>

#include "proxy/compile/gateways/checked_backends.h"
#include "proxy/routing/backend_target.h"

namespace sluice::compile {

std::vector<std::shared_ptr<const routing::BackendPlan>> backendsInUse(const std::vector<GatewayPlan>& gateways,
                                                                       const BackendCatalog& backends) {
  std::map<routing::BackendIdentity, std::shared_ptr<const routing::BackendPlan>> used;
  const auto use = [&](const std::shared_ptr<const routing::BackendPlan>& plan) {
    if (const auto [entry, isNew] = used.try_emplace(plan->identity); isNew) entry->second = backends.newest(plan);
  };
  const auto useTargets = [&](const std::shared_ptr<const processing::Chain>& chain) {
    if (chain == nullptr) return;
    for (const auto& target : chain->targets()) use(routing::planOf(*target));
  };
  const auto useMirrors = [&](const std::vector<routing::RequestMirror>& mirrors) {
    for (const routing::RequestMirror& mirror : mirrors) {
      use(mirror.backend);
      useTargets(mirror.backend->chain);
    }
  };
  const auto useRule = [&](const routing::Rule& rule) {
    useMirrors(rule.mirrors);
    useTargets(rule.chain);
    for (const routing::WeightedBackend& weighted : rule.backends) {
      for (auto plan = weighted.backend; plan != nullptr; plan = plan->http11) use(plan);
      if (weighted.backend != nullptr) useTargets(weighted.backend->chain);
      useTargets(weighted.chain);
      useMirrors(weighted.mirrors);
    }
  };
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      useTargets(listener.preRouting);
      useTargets(listener.chain);
      if (listener.rest != nullptr) useRule(*listener.rest);
    }
  }
  eachRule(gateways, [&](const ListenerPlan&, const routing::Rule& rule) { useRule(rule); });
  std::vector<std::shared_ptr<const routing::BackendPlan>> result;
  for (auto& [identity, plan] : used) result.push_back(std::move(plan));
  return result;
}

}  // namespace sluice::compile
