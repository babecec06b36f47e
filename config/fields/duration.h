// Durations as Gateway API writes them (GEP-2257): "10s", "1h30m", "500ms", "0s".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/settings.h"

namespace sluice::config {

/// One to four groups of up to five digits and h, m, s or ms, and nothing else; nullopt otherwise.
std::optional<base::Duration> parseDuration(std::string_view text);

/// The shortest spelling that parseDuration() reads back, for values that it can have returned; milliseconds and up.
std::string formatDuration(base::Duration duration);

}  // namespace sluice::config
