#include "proxy/routing/policy/address_guard.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace sluice::routing {
namespace {

struct Range {
  std::array<std::uint8_t, 16> prefix;
  std::uint8_t bits;
  AddressClass addressClass;
};

constexpr std::array<std::uint8_t, 16> v4(std::uint8_t a, std::uint8_t b = 0, std::uint8_t c = 0, std::uint8_t d = 0) {
  return {a, b, c, d};
}

constexpr std::array<std::uint8_t, 16> v6(std::uint16_t a, std::uint16_t b = 0, std::uint16_t c = 0) {
  const auto high = [](std::uint16_t group) { return static_cast<std::uint8_t>(group >> 8); };
  const auto low = [](std::uint16_t group) { return static_cast<std::uint8_t>(group & 0xFF); };
  return {high(a), low(a), high(b), low(b), high(c), low(c)};
}

// The first range that holds an address decides its class: narrower ranges come before the ranges around them.
constexpr Range kV4Ranges[] = {
    {v4(0), 8, AddressClass::kUnspecified},
    {v4(127), 8, AddressClass::kLoopback},
    {v4(169, 254, 169, 254), 32, AddressClass::kMetadata},
    {v4(169, 254, 170, 2), 32, AddressClass::kMetadata},
    {v4(169, 254, 170, 23), 32, AddressClass::kMetadata},
    {v4(169, 254, 42, 42), 32, AddressClass::kMetadata},
    {v4(169, 254, 0, 23), 32, AddressClass::kMetadata},
    {v4(100, 100, 100, 200), 32, AddressClass::kMetadata},
    {v4(168, 63, 129, 16), 32, AddressClass::kMetadata},
    {v4(192, 0, 0, 192), 32, AddressClass::kMetadata},
    {v4(169, 254), 16, AddressClass::kLinkLocal},
    {v4(10), 8, AddressClass::kPrivate},
    {v4(172, 16), 12, AddressClass::kPrivate},
    {v4(192, 168), 16, AddressClass::kPrivate},
    {v4(100, 64), 10, AddressClass::kCarrierNat},
    {v4(192, 0, 0), 24, AddressClass::kReserved},
    {v4(192, 0, 2), 24, AddressClass::kReserved},
    {v4(192, 88, 99), 24, AddressClass::kReserved},
    {v4(198, 18), 15, AddressClass::kReserved},
    {v4(198, 51, 100), 24, AddressClass::kReserved},
    {v4(203, 0, 113), 24, AddressClass::kReserved},
    {v4(224), 4, AddressClass::kMulticast},
    {v4(240), 4, AddressClass::kReserved},
};

constexpr std::array<std::uint8_t, 16> kV6Loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::array<std::uint8_t, 16> kV6Mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr std::array<std::uint8_t, 16> kV6Translated{0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

// 169.254.169.254 as the interface identifier of a link-local address, where OpenStack and others answer.
constexpr std::array<std::uint8_t, 16> kV6LinkLocalMetadata{0xFE, 0x80, 0, 0, 0,    0,    0,    0,
                                                            0,    0,    0, 0, 0xA9, 0xFE, 0xA9, 0xFE};

constexpr Range kV6Ranges[] = {
    {v6(0), 128, AddressClass::kUnspecified},
    {kV6Loopback, 128, AddressClass::kLoopback},
    {kV6Mapped, 96, AddressClass::kV4Mapped},
    {kV6Translated, 96, AddressClass::kV4Translated},
    {v6(0), 96, AddressClass::kV4Compatible},
    {v6(0x0064, 0xFF9B), 96, AddressClass::kNat64},
    {v6(0x0064, 0xFF9B, 0x0001), 48, AddressClass::kNat64},
    {v6(0), 8, AddressClass::kReserved},
    {v6(0x0100), 64, AddressClass::kReserved},
    {v6(0x2001), 32, AddressClass::kTeredo},
    {v6(0x2001), 23, AddressClass::kReserved},
    {v6(0x2001, 0x0DB8), 32, AddressClass::kReserved},
    {v6(0x2002), 16, AddressClass::k6to4},
    {v6(0x3FFF), 20, AddressClass::kReserved},
    {v6(0x5F00), 16, AddressClass::kReserved},
    // Clouds keep these networks for services of the host: Amazon (::254, ::23 and others), Google, Oracle, Scaleway
    // (::42) and Akamai (::1).
    {v6(0xFD00, 0x0EC2), 32, AddressClass::kMetadata},
    {v6(0xFD20, 0x00CE), 32, AddressClass::kMetadata},
    {v6(0xFD00, 0x00C1), 32, AddressClass::kMetadata},
    {v6(0xFD00, 0x0042), 32, AddressClass::kMetadata},
    {v6(0xFD00, 0xA9FE, 0xA9FE), 48, AddressClass::kMetadata},
    {kV6LinkLocalMetadata, 128, AddressClass::kMetadata},
    {v6(0xFC00), 7, AddressClass::kPrivate},
    {v6(0xFE80), 10, AddressClass::kLinkLocal},
    {v6(0xFEC0), 10, AddressClass::kPrivate},
    {v6(0xFF00), 8, AddressClass::kMulticast},
};

bool inPrefix(AddressBytes address, const std::uint8_t* prefix, unsigned bits) {
  const unsigned whole = bits / 8;
  if (std::memcmp(address.data(), prefix, whole) != 0) return false;
  const unsigned rest = bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xFF << (8 - rest));
  return (address[whole] & mask) == (prefix[whole] & mask);
}

std::optional<std::array<std::uint8_t, 4>> carriedIn(AddressBytes address, AddressClass addressClass) {
  const auto at = [&](std::size_t first) {
    return std::array<std::uint8_t, 4>{address[first], address[first + 1], address[first + 2], address[first + 3]};
  };
  switch (addressClass) {
    case AddressClass::kV4Mapped:
    case AddressClass::kV4Translated:  // RFC 2765 section 2.1
    case AddressClass::kV4Compatible:
      return at(12);
    // RFC 6052 section 2.2 places the address elsewhere for shorter prefixes: 64:ff9b:1::/48 has it around the eighth
    // byte.
    case AddressClass::kNat64:
      if (address[5] == 1) return std::array<std::uint8_t, 4>{address[6], address[7], address[9], address[10]};
      return at(12);
    case AddressClass::k6to4:
      return at(2);
    case AddressClass::kTeredo: {  // RFC 4380 section 4: the client's address, inverted
      auto client = at(12);
      for (std::uint8_t& byte : client) byte = static_cast<std::uint8_t>(~byte);
      return client;
    }
    case AddressClass::kPublic:
    case AddressClass::kUnspecified:
    case AddressClass::kLoopback:
    case AddressClass::kLinkLocal:
    case AddressClass::kMetadata:
    case AddressClass::kPrivate:
    case AddressClass::kCarrierNat:
    case AddressClass::kMulticast:
    case AddressClass::kReserved:
      return std::nullopt;
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, kAddressClasses> kNames{
    "public",   "unspecified", "loopback",      "link_local",    "metadata", "private", "carrier_nat", "multicast",
    "reserved", "v4_mapped",   "v4_translated", "v4_compatible", "nat64",    "6to4",    "teredo"};

}  // namespace

std::string_view addressClassName(AddressClass addressClass) { return kNames[static_cast<std::size_t>(addressClass)]; }

std::optional<std::array<std::uint8_t, 4>> carriedV4(AddressBytes address) {
  return carriedIn(address, classify(address));
}

AddressClass classify(AddressBytes address) {
  const std::span<const Range> ranges =
      address.size() == 4 ? std::span<const Range>(kV4Ranges) : std::span<const Range>(kV6Ranges);
  for (const Range& range : ranges) {
    if (inPrefix(address, range.prefix.data(), range.bits)) return range.addressClass;
  }
  // In IPv6 only 2000::/3 is global unicast; everything else is unassigned.
  if (address.size() == 16 && (address[0] & 0xE0) != 0x20) return AddressClass::kReserved;
  return AddressClass::kPublic;
}

base::Result<AddressGuard> AddressGuard::make(const std::vector<std::string>& allow) {
  AddressGuard guard;
  for (const std::string& entry : allow) {
    const auto network = base::IpNetwork::parse(entry);
    if (!network) {
      return base::Error::config("addressGuard.allow: '" + entry +
                                 "' is no address range such as 10.0.0.0/8 or fd00::/8");
    }
    guard.allowed_.push_back(*network);
  }
  return guard;
}

bool AddressGuard::isAllowed(AddressBytes address) const {
  return std::any_of(allowed_.begin(), allowed_.end(),
                     [&](const base::IpNetwork& network) { return network.contains(address); });
}

bool AddressGuard::permitsEndpoint(AddressBytes address) const {
  switch (classify(address)) {
    case AddressClass::kPublic:
    case AddressClass::kPrivate:
    case AddressClass::kCarrierNat:
    case AddressClass::kReserved:  // some clusters number their pods out of these
      return true;
    case AddressClass::kUnspecified:
    case AddressClass::kLoopback:
    case AddressClass::kLinkLocal:
    case AddressClass::kMetadata:
    case AddressClass::kMulticast:
    case AddressClass::kV4Mapped:
    case AddressClass::kV4Translated:
    case AddressClass::kV4Compatible:
    case AddressClass::kNat64:
    case AddressClass::k6to4:
    case AddressClass::kTeredo:
      return permits(address);
  }
  return false;
}

bool AddressGuard::permits(AddressBytes address) const {
  const AddressClass addressClass = classify(address);
  if (addressClass == AddressClass::kPublic) return true;
  if (!isAllowed(address)) return false;
  const auto carried = carriedIn(address, addressClass);
  return !carried || permits(*carried);
}

}  // namespace sluice::routing
