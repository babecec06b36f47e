#include "proxy/kubernetes/revisions/standby_revisions.h"

#include <tuple>

namespace sluice::kubernetes {

bool StandbyRevision::isNeeded() const {
  const bool refused = newest->state == RevisionState::kRefused || newest->state == RevisionState::kTainted;
  return good != nullptr && (refused || newest->awaitsCanary());
}

std::map<NamedGateway, StandbyRevision> standbysOf(const std::map<ApiObjectKey, EgressRevision>& revisions) {
  const auto gatewayOf = [](const EgressRevision& each) {
    return NamedGateway{each.gatewayKind, each.nameSpace, each.gateway};
  };
  std::map<NamedGateway, StandbyRevision> standbys;
  for (const auto& [key, each] : revisions) {
    if (!each.judged) continue;
    const EgressRevision*& newest = standbys[gatewayOf(each)].newest;
    if (newest == nullptr || std::tie(each.created, each.name) > std::tie(newest->created, newest->name))
      newest = &each;
  }
  for (const auto& [key, each] : revisions) {
    if (!each.isGood()) continue;
    StandbyRevision& standby = standbys.at(gatewayOf(each));
    if (standby.newest == &each) continue;
    if (standby.good == nullptr || each.wasServedAfter(*standby.good)) standby.good = &each;
  }
  return standbys;
}

}  // namespace sluice::kubernetes
