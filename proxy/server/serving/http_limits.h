// Converts the settings to the limits of codecs and upstreams.
#pragma once

#include "proxy/base/settings.h"
#include "proxy/http/limits.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::server {

/// A stream's window is bounded by limits.exchangeBuffer too, because an exchange holds the bytes that were granted
/// and not yet passed on.
http::Limits httpLimits(const base::Settings& settings);
upstream::UpstreamPolicy policyOf(const routing::Snapshot& snapshot);

}  // namespace sluice::server
