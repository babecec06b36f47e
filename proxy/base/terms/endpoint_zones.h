// EndpointZones says where an endpoint of a Service is, and whose requests it is to get. A value.
#pragma once

#include <string>
#include <vector>

namespace sluice::base {

struct EndpointZones {
  std::string zone;                // where it is; empty: unknown
  std::vector<std::string> hints;  // the zones whose clients are to use it; empty: it has no hints

  friend bool operator==(const EndpointZones&, const EndpointZones&) = default;
};

}  // namespace sluice::base
