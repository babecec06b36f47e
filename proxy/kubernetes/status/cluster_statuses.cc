#include "proxy/kubernetes/status/cluster_statuses.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "proxy/kubernetes/provision/provision_plan.h"

namespace sluice::kubernetes {
namespace {

using GatewayKey = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

/// Leaves out statuses about parents that are no Gateways of this controller: only their own controllers write about
/// them, and no controller does if the Gateway does not exist. For files there are no other controllers, so they report
/// a missing Gateway.
config::StatusList withoutForeignParents(const config::StatusList& statuses) {
  std::set<GatewayKey> gateways;
  for (const config::ObjectStatus& each : statuses) {
    if (each.shape == config::StatusShape::kGateway) {
      gateways.emplace(each.group, each.kind, each.nameSpace, each.name);
    }
  }
  config::StatusList kept = statuses;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const config::ObjectStatus& each = statuses[i];
    if (each.shape != config::StatusShape::kParents) continue;
    const auto isForeign = [&](const config::ParentStatus& parent) {
      const auto& object = parent.parentRef.object;
      return !gateways.contains(
          {object.group, object.kind, object.nameSpace.empty() ? each.nameSpace : object.nameSpace, object.name});
    };
    if (std::none_of(each.parents.begin(), each.parents.end(), isForeign)) continue;
    auto changed = std::make_shared<config::ObjectStatus>(each);
    std::erase_if(changed->parents, isForeign);
    kept.replace(i, std::move(changed));
  }
  return kept;
}

}  // namespace

config::StatusList clusterStatuses(const control::CompiledConfiguration& compiled, bool keepsPods) {
  const config::StatusList statuses = withoutForeignParents(compiled.compiled.statuses);
  return keepsPods ? withServiceAddresses(statuses, compiled.model) : statuses;
}

}  // namespace sluice::kubernetes
