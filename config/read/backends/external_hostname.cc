#include "config/read/backends/external_hostname.h"

#include <algorithm>
#include <string>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// Names that RFC 6761 and the hosts files of common systems assign to the machine itself and to its links.
constexpr std::string_view kOwnNames[] = {"localhost",     "localhost4",     "localhost6",   "localdomain",
                                          "localdomain4",  "localdomain6",   "loopback",     "broadcasthost",
                                          "ip6-localhost", "ip6-loopback",   "ip6-localnet", "ip6-mcastprefix",
                                          "ip6-allnodes",  "ip6-allrouters", "ip6-allhosts"};

/// Domains of Services: those of a cluster, those of a set of clusters (KEP-1645), and the suffix that the search
/// domains of a Pod complete.
constexpr std::string_view kClusterDomains[] = {"cluster.local", "clusterset.local", "svc"};

bool isWithin(std::string_view hostname, std::string_view domain) {
  if (!hostname.ends_with(domain)) return false;
  return hostname.size() == domain.size() || hostname[hostname.size() - domain.size() - 1] == '.';
}

template <std::size_t kCount>
bool isWithinAny(std::string_view hostname, const std::string_view (&domains)[kCount]) {
  return std::any_of(std::begin(domains), std::end(domains),
                     [&](std::string_view domain) { return isWithin(hostname, domain); });
}

}  // namespace

bool coversInnerNames(std::string_view suffix) {
  const auto covers = [suffix](std::string_view domain) { return isWithin(domain, suffix); };
  return std::any_of(std::begin(kOwnNames), std::end(kOwnNames), covers) ||
         std::any_of(std::begin(kClusterDomains), std::end(kClusterDomains), covers);
}

std::string_view externalHostnameFault(std::string_view hostname) {
  std::string name = base::toLower(hostname);
  if (name.ends_with('.')) name.pop_back();
  if (!hostnameHint(name).empty()) return "must be a domain name";  // a URL, or a part of a URL
  if (name.find_first_of(":[]") != std::string::npos || endsInNumber(name)) {
    return "must be a name, not an address in any of its forms";
  }
  if (!isDomainName(name) || name.ends_with('.')) return "must be a domain name";
  if (isWithinAny(name, kOwnNames)) return "must not name the gateway's own machine";
  if (isWithinAny(name, kClusterDomains)) return "must not name a Service of the cluster";
  return {};
}

}  // namespace sluice::config
