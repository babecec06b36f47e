#include "proxy/compile/gateways/backend_ejections.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "proxy/compile/gateways/checked_backends.h"

namespace sluice::compile {

std::vector<routing::BackendEjections> backendEjections(const std::vector<GatewayPlan>& gateways,
                                                        const BackendCatalog& backends) {
  // A rule that is attached to several listeners has the same ejections at all of them, unless it inherits others.
  std::map<std::pair<const routing::EndpointEjections*, const routing::AnswerHealth*>, routing::BackendEjections> found;
  eachRule(gateways, [&](const ListenerPlan&, const routing::Rule& rule) {
    for (std::size_t i = 0; i < rule.backends.size(); ++i) {
      const routing::WeightedBackend& weighted = rule.backends[i];
      // Nobody knows which destinations requests will name.
      if (weighted.backend == nullptr || weighted.backend->dynamic != nullptr) continue;
      const auto whole = rule.failover != nullptr ? rule.failover->members[i].health : nullptr;
      const auto endpoints = weighted.outliers ? weighted.outliers->ejections : nullptr;
      if (whole == nullptr && endpoints == nullptr) continue;
      const auto [entry, isNew] = found.try_emplace({endpoints.get(), whole.get()});
      if (!isNew) continue;
      const std::string& name = endpoints != nullptr ? weighted.outliers->rule : rule.failover->rule;
      entry->second = {backends.newest(weighted.backend), name, endpoints, whole};
    }
  });
  std::vector<routing::BackendEjections> result;
  for (auto& [key, each] : found) result.push_back(std::move(each));
  const auto key = [](const routing::BackendEjections& each) {
    return std::tie(each.backend->name, each.backend->port, each.backend->hostname, each.rule);
  };
  std::sort(result.begin(), result.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return result;
}

}  // namespace sluice::compile
