// Makes choices of random numbers.
#pragma once

#include <cstdint>

namespace sluice::routing {

/// Returns a number that is uniform over [0, bound) if `random` is uniform over 64 bits: the high half of the product,
/// without the bias and the division of a remainder. 0 if `bound` is 0.
inline std::uint64_t scaled(std::uint64_t random, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random) * bound) >> 64);
}

}  // namespace sluice::routing
