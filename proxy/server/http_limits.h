// This makes HTTP's limits of the settings.
#pragma once

#include "proxy/base/settings.h"
#include "proxy/http/limits.h"

namespace sluice::server {

/// A stream's window is bounded by limits.exchangeBuffer too: what was granted and not yet passed on is what an
/// exchange holds.
http::Limits httpLimits(const base::LimitSettings& limits);

}  // namespace sluice::server
