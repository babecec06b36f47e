// Names that clients choose have shares of their own of the resolver's bounds, so that they take no room from the names
// of the configuration.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sluice::net {

/// Returns the share of a bound that the names have which clients choose.
constexpr std::size_t clientShareOf(std::size_t bound) { return std::max<std::size_t>(bound / 2, 1); }

}  // namespace sluice::net
