#include "proxy/kubernetes/access/server_url.h"

#include <charconv>
#include <optional>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"
#include "proxy/net/address.h"

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kMaxUrlBytes = 4096;
constexpr std::size_t kMaxHostBytes = 254;  // a name of 253 and the dot of the root

bool isThisMachine(const std::string& host) {
  const std::optional<net::Address> address = net::Address::parse(host, 0);
  return address ? address->isLoopback() : host == "localhost" || host.ends_with(".localhost");
}

std::optional<std::uint16_t> decimalPort(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || used != end || port == 0) return std::nullopt;
  return port;
}

/// Removes the scheme from `text`, and sets the members that depend on it. Returns false if it is neither http nor
/// https.
bool takeScheme(std::string_view& text, ServerUrl& url) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!base::equalsIgnoringCase(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    url.tls = scheme == "https://";
    url.port = url.tls ? 443 : 80;
    return true;
  }
  return false;
}

/// Reads "host", "host:port", "[address]" or "[address]:port". Returns the fault, or nothing.
std::string readAuthority(std::string_view text, ServerUrl& url) {
  const bool brackets = text.starts_with('[');
  const std::size_t end = brackets ? text.find(']') : text.rfind(':');
  if (brackets && end == std::string_view::npos) return "has a [ without a ]";
  const std::string_view host = text.substr(brackets ? 1 : 0, brackets ? end - 1 : end);
  const std::string_view rest = end == std::string_view::npos ? "" : text.substr(end + (brackets ? 1 : 0));
  url.host = canonicalHost(host);
  const bool isIpv6 = url.host.find(':') != std::string::npos;
  if (url.host.empty() || isIpv6 != brackets)
    return "must name a host, or an IP address, IPv6 in brackets, but has " + base::quote(text);
  if (rest.empty()) return {};
  const std::optional<std::uint16_t> port = rest.front() == ':' ? decimalPort(rest.substr(1)) : std::nullopt;
  if (!port) return "must have a port between 1 and 65535, but has " + base::quote(rest);
  url.port = *port;
  return {};
}

}  // namespace

std::string canonicalHost(std::string_view text) {
  if (const std::optional<net::Address> address = net::Address::parse(text, 0)) return address->ip();
  return text.size() <= kMaxHostBytes && config::isDomainName(text) ? base::toLower(text) : std::string();
}

base::Result<ServerUrl> parseServerUrl(std::string_view text) {
  ServerUrl url;
  if (text.size() > kMaxUrlBytes)
    return base::Error::config("is longer than " + std::to_string(kMaxUrlBytes) + " bytes");
  if (!takeScheme(text, url)) return base::Error::config("must begin with https://");
  const std::size_t end = text.find_first_of("/?#");
  const std::string_view authority = text.substr(0, end);
  if (text.find('@') != std::string_view::npos)
    return base::Error::config("must not hold an @: users and passwords have no place in it");
  if (std::string wrong = readAuthority(authority, url); !wrong.empty()) return base::Error::config(std::move(wrong));
  std::string_view path = end == std::string_view::npos ? "" : text.substr(end);
  if (path.find_first_of("?#") != std::string_view::npos)
    return base::Error::config("must not have a query or a fragment");
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty() && !config::isPathValue(path))
    return base::Error::config("must have a path like /k8s/clusters/c-1, but has " + base::quote(path));
  if (!url.tls && !isThisMachine(url.host))
    return base::Error::config("must begin with https://, because http:// is for this machine alone");
  url.pathPrefix = path;
  return url;
}

}  // namespace sluice::kubernetes
