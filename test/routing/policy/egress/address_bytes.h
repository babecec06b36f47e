// The bytes of an IP address that a test writes as text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "proxy/base/ip_network.h"

namespace sluice::routing::test {

inline std::vector<std::uint8_t> addressBytes(std::string_view text) {
  const auto network = base::IpNetwork::parse(text);
  if (!network) return {};
  return {network->prefix.begin(), network->prefix.begin() + network->bytes};
}

}  // namespace sluice::routing::test
