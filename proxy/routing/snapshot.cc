#include "proxy/routing/snapshot.h"

namespace sluice::routing {

const WeightedBackend* Rule::choose(std::uint64_t random) const {
  // The high half of random * totalWeight is uniform over [0, totalWeight), without the bias and the division of a
  // remainder.
  __extension__ using Wide = unsigned __int128;
  auto ticket = static_cast<std::uint64_t>((static_cast<Wide>(random) * totalWeight) >> 64);
  for (const WeightedBackend& share : backends) {
    if (ticket < share.weight) return &share;
    ticket -= share.weight;
  }
  return nullptr;
}

const std::shared_ptr<const BackendPlan>* planFor(const http::RequestHead& request,
                                                  const std::shared_ptr<const BackendPlan>& backend) {
  if (request.body != http::Body::kTunnel) return &backend;
  if (backend->protocol == UpstreamProtocol::kHttp2) return nullptr;
  return backend->http11 ? &backend->http11 : &backend;
}

}  // namespace sluice::routing
