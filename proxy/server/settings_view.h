// The settings as the lower layers name them: they know nothing of configuration.
#pragma once

#include "config/settings.h"
#include "proxy/http/limits.h"
#include "proxy/net/resolver.h"
#include "proxy/net/tls.h"
#include "proxy/routing/snapshot.h"

namespace sluice::server {

/// A stream's window is bounded by limits.exchangeBuffer too: what was granted and not yet passed on is what an exchange holds.
http::Limits httpLimits(const config::LimitSettings& limits);
net::DnsSettings dnsSettings(const config::DnsSettings& dns);
net::TlsServerSettings tlsServerSettings(const routing::Bind& bind);

}  // namespace sluice::server
