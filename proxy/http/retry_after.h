// The field Retry-After (RFC 9110 section 10.2.3).
#pragma once

#include <optional>

#include "proxy/base/clock.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// Returns how long the sender asks others to wait, never less than zero; nullopt if there is no such field, or it has
/// neither form (seconds, or a date as an IMF-fixdate).
std::optional<base::Duration> retryAfter(const Headers& headers, base::WallTime now);

}  // namespace sluice::http
