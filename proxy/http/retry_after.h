// The field Retry-After (RFC 9110 section 10.2.3), and those of model providers that give the same in milliseconds.
#pragma once

#include <optional>

#include "proxy/base/clock.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// Returns how long the sender asks others to wait, never less than zero: by retry-after-ms, x-ms-retry-after-ms, or
/// Retry-After (seconds, or a date as an IMF-fixdate), the first of them that has its form. Returns nullopt if none
/// has.
std::optional<base::Duration> retryAfter(const Headers& headers, base::WallTime now);

}  // namespace sluice::http
