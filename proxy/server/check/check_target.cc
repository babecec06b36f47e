#include "proxy/server/check/check_target.h"

#include <charconv>
#include <system_error>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"

namespace sluice::server {
namespace {

constexpr std::string_view kUdpScheme = "udp://";

constexpr std::string_view kDefaultTargets[] = {
    "1.1.1.1:443",
    "1.1.1.1:80",
    "8.8.8.8:443",
    "9.9.9.9:53",
    "udp://8.8.8.8:53",
    "[2606:4700:4700::1111]:443",
    "[2001:4860:4860::8888]:53",
    "udp://[2001:4860:4860::8888]:53",
    "example.com:443",
};

base::Error notATarget(std::string_view text) {
  return base::Error::config(base::quote(text) +
                             " is not HOST:PORT or udp://HOST:PORT, as 1.1.1.1:443, [2606:4700:4700::1111]:443 or "
                             "example.com:443");
}

}  // namespace

std::string CheckTarget::text() const { return address ? address->toString() : host + ":" + std::to_string(port); }

std::string_view protocolName(net::ProbeProtocol protocol) {
  return protocol == net::ProbeProtocol::kTcp ? "TCP" : "UDP";
}

base::Result<CheckTarget> parseCheckTarget(std::string_view text) {
  CheckTarget target;
  std::string_view rest = text;
  if (rest.starts_with(kUdpScheme)) {
    target.protocol = net::ProbeProtocol::kUdp;
    rest.remove_prefix(kUdpScheme.size());
  }
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return notATarget(text);
  const char* end = rest.data() + rest.size();
  const auto parsed = std::from_chars(rest.data() + colon + 1, end, target.port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || target.port == 0) return notATarget(text);
  std::string_view host = rest.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  target.host = host;
  target.address = net::Address::parse(host, target.port);
  if (target.address ? target.address->isIpv6() != bracketed : bracketed) return notATarget(text);
  if (!target.address && (!config::isDomainName(host) || config::endsInNumber(host))) return notATarget(text);
  return target;
}

std::vector<CheckTarget> defaultTargets() {
  std::vector<CheckTarget> targets;
  for (const std::string_view text : kDefaultTargets) targets.push_back(*parseCheckTarget(text));
  return targets;
}

}  // namespace sluice::server
