#include "proxy/kubernetes/revisions/standby_revisions.h"

namespace sluice::kubernetes {
namespace {

/// A creationTimestamp has seconds. Of two revisions of one second, the one that was not served yet is the newer one.
bool isNewer(const EgressRevision& a, const EgressRevision& b) {
  if (a.created != b.created) return a.created > b.created;
  if (a.wasServed() != b.wasServed()) return b.wasServed();
  return a.name > b.name;
}

}  // namespace

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
    if (newest == nullptr || isNewer(each, *newest)) newest = &each;
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
