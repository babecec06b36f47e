// An UnusablePlace is an address and port where this process has tried to listen and failed.
//
// compile() leaves such places out and reports them in conditions, so that one Gateway does not prevent the others from
// being served.
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
