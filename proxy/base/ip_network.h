// A network of IP addresses, as a CIDR writes it. A value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sluice::base {

/// 4 bytes of IPv4 or 16 of IPv6, in network order.
using AddressBytes = std::span<const std::uint8_t>;

struct IpNetwork {
  std::array<std::uint8_t, 16> prefix{};  // bits behind the prefix are zero
  std::uint8_t bytes = 4;                 // 4 or 16
  std::uint8_t bits = 32;                 // at most bytes * 8

  /// Parses "10.0.0.0/8" or "fd00::/8"; without a slash, a single address. Bits behind the prefix are ignored.
  static std::optional<IpNetwork> parse(std::string_view text);

  bool contains(AddressBytes address) const;
  friend bool operator==(const IpNetwork&, const IpNetwork&) = default;
};

}  // namespace sluice::base
