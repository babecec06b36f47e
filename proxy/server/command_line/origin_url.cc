#include "proxy/server/command_line/origin_url.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "config/read/backends/external_hostname.h"
#include "proxy/base/text.h"
#include "proxy/net/address.h"
#include "proxy/routing/policy/address_guard.h"

namespace sluice::server {
namespace {

struct OriginScheme {
  std::string_view prefix;
  std::uint16_t port;  // if the URL names none
  std::string_view portMembers;
};

constexpr OriginScheme kOriginSchemes[] = {
    {"https://", 443, ", tls: {mode: Simple}"}, {"http://", 80, ""}, {"h2c://", 80, ", protocol: HTTP2"}};

/// Divides "host", "host:port", "[v6]" and "[v6]:port". The port has its colon, and is empty if there is none.
std::pair<std::string_view, std::string_view> dividedHost(std::string_view authority) {
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon = authority.find(':', std::min(bracket, authority.size()));
  const std::string_view host = authority.substr(0, colon);
  return {host, colon == std::string_view::npos ? std::string_view() : authority.substr(colon)};
}

std::optional<std::uint16_t> portIn(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

/// Returns the address that the host is, which has brackets if it is one of IPv6.
std::optional<net::Address> addressIn(std::string_view host) {
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  auto address = net::Address::parse(bracketed ? host.substr(1, host.size() - 2) : host, 0);
  if (address && address->isIpv6() != bracketed) address.reset();
  return address;
}

base::Status takeAddress(const net::Address& address, OriginUrl& url) {
  url.isAddress = true;
  url.host = address.ip();
  if (routing::AddressGuard().permits(address.bytes())) return base::Done{};
  url.allowance = url.host + (address.isIpv6() ? "/128" : "/32");
  const auto guard = routing::AddressGuard::make({url.allowance});
  if (guard && guard->permits(address.bytes())) return base::Done{};
  return base::Error::config("must have the IPv4 address itself, which this address contains");
}

base::Status takeHost(std::string_view host, OriginUrl& url) {
  if (const auto address = addressIn(host)) return takeAddress(*address, url);
  const std::string_view fault = config::externalHostnameFault(host);
  if (!fault.empty()) {
    return base::Error::config("its host " + std::string(fault) +
                               "; name a server that is not public by its address, such as 127.0.0.1 or [::1]");
  }
  url.host = host;
  return base::Done{};
}

}  // namespace

base::Result<OriginUrl> parseOriginUrl(std::string_view text) {
  const auto* const scheme = std::find_if(std::begin(kOriginSchemes), std::end(kOriginSchemes),
                                          [&](const OriginScheme& each) { return text.starts_with(each.prefix); });
  if (scheme == std::end(kOriginSchemes)) {
    return base::Error::config("must begin with https://, http:// or h2c://, as https://api.example.com");
  }
  text.remove_prefix(scheme->prefix.size());
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const auto [host, port] = dividedHost(text.substr(0, end));
  if (text.substr(0, end).find('@') != std::string_view::npos) {
    return base::Error::config("cannot have a user or a password");
  }
  if (!text.substr(end).empty() && text.substr(end) != "/") {
    return base::Error::config("must end after the host or its port; path and query are those of each request");
  }
  const auto number = port.empty() ? scheme->port : portIn(port.substr(1));
  if (!number) {
    return base::Error::config("its port must be a number from 1 to 65535; an IPv6 address is written in brackets");
  }
  OriginUrl url{"", *number, false, scheme->portMembers, ""};
  if (const base::Status taken = takeHost(host, url); !taken.ok()) return taken.error();
  return url;
}

}  // namespace sluice::server
