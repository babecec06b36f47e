// Converts the settings to HTTP's limits.
#pragma once

#include "proxy/base/settings.h"
#include "proxy/http/limits.h"

namespace sluice::server {

/// A stream's window is bounded by limits.exchangeBuffer too, because an exchange holds the bytes that were granted
/// and not yet passed on.
http::Limits httpLimits(const base::LimitSettings& limits);

}  // namespace sluice::server
