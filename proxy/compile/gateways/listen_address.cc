#include "proxy/compile/gateways/listen_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "proxy/routing/policy/address_guard.h"

namespace sluice::compile {
namespace {

using V4 = std::array<std::uint8_t, 4>;
using V6 = std::array<std::uint8_t, 16>;

template <typename Bytes>
bool parse(int family, std::string_view text, Bytes& bytes) {
  return ::inet_pton(family, std::string(text).c_str(), bytes.data()) == 1;
}

}  // namespace

const char* whyUnusable(std::string_view canonical) {
  V4 v4{};
  if (parse(AF_INET, canonical, v4)) {
    if (routing::classify(v4) == routing::AddressClass::kMulticast) return "a multicast address takes no connections";
    const bool broadcast = std::all_of(v4.begin(), v4.end(), [](std::uint8_t byte) { return byte == 255; });
    return broadcast ? "the broadcast address takes no connections" : nullptr;
  }
  V6 v6{};
  if (!parse(AF_INET6, canonical, v6)) return nullptr;
  switch (routing::classify(v6)) {
    case routing::AddressClass::kMulticast:
      return "a multicast address takes no connections";
    case routing::AddressClass::kV4Mapped:
      return "an IPv4 address is written as such";
    case routing::AddressClass::kLinkLocal:
      return "a link-local address means nothing without its link, which has no place here";
    default:
      return nullptr;
  }
}

bool isAnyAddress(std::string_view canonical) {
  return canonical.empty() || canonical == "0.0.0.0" || canonical == "::";
}

}  // namespace sluice::compile
