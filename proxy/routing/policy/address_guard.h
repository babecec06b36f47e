// The address guard decides to which addresses an external name may resolve: by default only to public ones. A name
// outside the cluster that resolves to loopback, to the metadata service or into a private network is an attack or a
// mistake, whatever the name is.
//
// The decision is about the very address that is about to be dialled, made in the same step, on every attempt. A value;
// shared as const.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/ip_network.h"
#include "proxy/base/result.h"

namespace sluice::routing {

/// The purpose of an address (IANA's special-purpose registries). Everything but kPublic is denied unless it was
/// allowed.
enum class AddressClass : std::uint8_t {
  kPublic,
  kUnspecified,   // 0.0.0.0/8, ::
  kLoopback,      // 127.0.0.0/8, ::1
  kLinkLocal,     // 169.254.0.0/16, fe80::/10
  kMetadata,      // 169.254.169.254, fd00:ec2::254 and others that clouds use
  kPrivate,       // RFC 1918, fc00::/7, fec0::/10
  kCarrierNat,    // 100.64.0.0/10
  kMulticast,     // 224.0.0.0/4, ff00::/8
  kReserved,      // documentation, benchmarking, protocol assignments, 240.0.0.0/4, broadcast
  kV4Mapped,      // ::ffff:0:0/96
  kV4Translated,  // ::ffff:0:0:0/96
  kV4Compatible,  // ::/96
  kNat64,         // 64:ff9b::/96, 64:ff9b:1::/48
  k6to4,          // 2002::/16
  kTeredo,        // 2001::/32
};
inline constexpr std::size_t kAddressClasses = 15;

/// Returns "public", "loopback", ...: the label of sluice_address_denied_total.
std::string_view addressClassName(AddressClass addressClass);

using base::AddressBytes;

AddressClass classify(AddressBytes address);
/// Returns the IPv4 address that a form of IPv6 carries (mapped, NAT64, ...).
std::optional<std::array<std::uint8_t, 4>> carriedV4(AddressBytes address);

class AddressGuard {
 public:
  /// Makes a guard that allows only public addresses.
  AddressGuard() = default;
  /// `allow` holds entries like those of addressGuard.allow in the settings: "10.0.0.0/8", "fd00::/8", or a single
  /// address. Errors name the entry.
  static base::Result<AddressGuard> make(const std::vector<std::string>& allow);

  /// Returns true if the address may be dialled. If it carries an IPv4 address (mapped, NAT64, ...), both must be
  /// allowed.
  bool permits(AddressBytes address) const;
  /// Returns true if an endpoint of a Service may be dialled. It is in the cluster, so private networks are expected.
  /// But an author of EndpointSlices must not reach through the gateway those addresses that only the gateway can
  /// reach: its own loopback, its links, the metadata service (CVE-2021-25740), however they are written.
  bool permitsEndpoint(AddressBytes address) const;

 private:
  bool isAllowed(AddressBytes address) const;

  std::vector<base::IpNetwork> allowed_;
};

}  // namespace sluice::routing
