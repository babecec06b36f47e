// An address and port where this process cannot listen, as it has found out when it tried.
//
// compile() leaves such places out and says so in conditions, so that one Gateway does not keep the others from being
// served.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::compile {

struct UnusablePlace {
  std::string address;  // as in routing::Bind: "" for all addresses
  std::uint16_t port = 0;
  std::string why;  // "192.0.2.1:443: Cannot assign requested address"

  friend bool operator==(const UnusablePlace&, const UnusablePlace&) = default;
};

using UnusablePlaces = std::vector<UnusablePlace>;

}  // namespace sluice::compile
