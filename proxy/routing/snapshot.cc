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

}  // namespace sluice::routing
