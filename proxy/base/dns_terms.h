// DnsTerms say which addresses of a name are looked up, and for how long they count, where a policy says something else
// than the settings of the process. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "proxy/base/clock.h"

namespace sluice::base {

enum class LookupFamily : std::uint8_t {
  kOfSettings,     // IPv4, and IPv6 as dns.ipv6 says
  kIpv4,           // alone
  kIpv6,           // alone
  kIpv4Preferred,  // IPv6 only if there is no IPv4 address
  kIpv6Preferred,  // IPv4 only if there is no IPv6 address
  kBoth            // IPv4 before IPv6
};

struct DnsTerms {
  /// How long addresses count that have no TTL, or whose TTL does not count.
  static constexpr std::chrono::seconds kUsualRefreshRate{30};

  LookupFamily family = LookupFamily::kOfSettings;
  bool respectTtl = true;
  std::optional<Duration> refreshRate = std::nullopt;  // in place of kUsualRefreshRate

  friend bool operator==(const DnsTerms&, const DnsTerms&) = default;
};

}  // namespace sluice::base
