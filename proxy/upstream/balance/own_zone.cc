#include "proxy/upstream/balance/own_zone.h"

#include <algorithm>

namespace sluice::upstream {
namespace {

/// Returns the indices of the endpoints that are for that zone. As in kube-proxy, hints count only if all endpoints
/// have them: without one, it is not known whom the others leave to it.
std::vector<std::size_t> endpointsFor(const std::string& zone, std::span<const base::EndpointZones> endpoints) {
  const bool hinted = std::none_of(endpoints.begin(), endpoints.end(),
                                   [](const base::EndpointZones& each) { return each.hints.empty(); });
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::vector<std::string>& hints = endpoints[i].hints;
    const bool isMeant =
        hinted ? std::find(hints.begin(), hints.end(), zone) != hints.end() : endpoints[i].zone == zone;
    if (isMeant) found.push_back(i);
  }
  return found;
}

}  // namespace

void OwnZone::renew(std::span<const base::EndpointZones> zones, std::span<const std::string> names) {
  const base::LoadBalancing& terms = balancer_.terms();
  balancer_.renew();
  members_.clear();
  names_.clear();
  counted_.reset();
  if (!terms.prefersZone || zone_.empty() || zones.size() < terms.minEndpoints) return;
  members_ = endpointsFor(zone_, zones);
  if (members_.size() < terms.minEndpointsInZone) members_.clear();
  if (!terms.hashes()) return;
  for (const std::size_t i : members_) names_.push_back(names[i]);
}

}  // namespace sluice::upstream
