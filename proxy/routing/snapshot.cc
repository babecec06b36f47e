#include "proxy/routing/snapshot.h"

namespace sluice::routing {
namespace {

/// Uniform over [0, bound) if `random` is over 64 bits: the high half of the product, without the bias and the division
/// of a remainder.
std::uint64_t scale(std::uint64_t random, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random) * bound) >> 64);
}

}  // namespace

const WeightedBackend* Rule::choose(std::uint64_t random) const {
  std::uint64_t ticket = scale(random, totalWeight);
  for (const WeightedBackend& share : backends) {
    if (ticket < share.weight) return &share;
    ticket -= share.weight;
  }
  return nullptr;
}

const WeightedBackend* Rule::chooseAnother(std::uint64_t random, std::uint64_t tried) const {
  const auto weightOf = [&](std::size_t index) -> std::uint64_t {
    const WeightedBackend& share = backends[index];
    const bool serves = share.backend && !share.failure && !share.redirect;
    return serves && (tried >> index & 1) == 0 ? share.weight : 0;
  };
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < backends.size(); ++i) total += weightOf(i);
  std::uint64_t ticket = scale(random, total);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (ticket < weightOf(i)) return &backends[i];
    ticket -= weightOf(i);
  }
  return nullptr;
}

}  // namespace sluice::routing
