// DnsTerms name the address families that are looked up for a name, and the time for which its addresses are used,
// where a policy overrides the settings of the process. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "proxy/base/clock.h"

namespace sluice::base {

enum class LookupFamily : std::uint8_t {
  kOfSettings,     // IPv4, and IPv6 too if dns.ipv6 is true
  kIpv4,           // alone
  kIpv6,           // alone
  kIpv4Preferred,  // IPv6 only if there is no IPv4 address
  kIpv6Preferred,  // IPv4 only if there is no IPv6 address
  kBoth            // IPv4 before IPv6
};

struct DnsTerms {
  /// How long addresses are used that have no TTL, or whose TTL is not respected.
  static constexpr std::chrono::seconds kUsualRefreshRate{30};

  LookupFamily family = LookupFamily::kOfSettings;
  bool respectTtl = true;
  std::optional<Duration> refreshRate = std::nullopt;  // in place of kUsualRefreshRate
  /// The dns_question_name of metrics, where clients choose the names; empty: the name itself. Names that clients
  /// choose have shares of their own of all that the resolver bounds, so that they take no room from others.
  std::string seriesName = {};

  bool ofClients() const { return !seriesName.empty(); }

  friend bool operator==(const DnsTerms&, const DnsTerms&) = default;
};

}  // namespace sluice::base
