// A target that a check tries to reach, in the form of a flag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/net/dial_probe.h"

namespace sluice::server {

struct CheckTarget {
  net::ProbeProtocol protocol = net::ProbeProtocol::kTcp;
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = 0;
  std::optional<net::Address> address = std::nullopt;  // nothing if the host is a name

  /// Returns "example.com:443" or "[2001:db8::1]:443".
  std::string text() const;
};

/// Returns "TCP" or "UDP".
std::string_view protocolName(net::ProbeProtocol protocol);

/// Parses "HOST:PORT" for TCP and "udp://HOST:PORT", where HOST is a name or an address. Errors name the fault.
base::Result<CheckTarget> parseCheckTarget(std::string_view text);

/// Returns public targets outside the cluster: addresses of name servers of several operators, because names are not
/// resolved where DNS is closed, of both families and on the ports of HTTP, HTTPS and DNS; and one name.
std::vector<CheckTarget> defaultTargets();

}  // namespace sluice::server
