// Durations as Gateway API writes them (GEP-2257): "10s", "1h30m", "500ms", "0s".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"

namespace sluice::base {

/// Parses one to four groups of up to five digits and h, m, s or ms. Returns nullopt for anything else.
std::optional<Duration> parseDuration(std::string_view text);

/// Returns the shortest spelling that parseDuration() reads back. `duration` must be a value that parseDuration() can
/// return; fractions of a millisecond are lost.
std::string formatDuration(Duration duration);

}  // namespace sluice::base
