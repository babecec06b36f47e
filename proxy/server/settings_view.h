// The settings as the lower layers name them: they know nothing of configuration.
#pragma once

#include "proxy/base/settings.h"
#include "proxy/http/limits.h"
#include "proxy/net/dns/resolver.h"

namespace sluice::server {

/// A stream's window is bounded by limits.exchangeBuffer too: what was granted and not yet passed on is what an
/// exchange holds.
http::Limits httpLimits(const base::LimitSettings& limits);
net::DnsSettings dnsSettings(const base::DnsSettings& dns);

}  // namespace sluice::server
