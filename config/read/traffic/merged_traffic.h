// Merges a BackendTrafficPolicy in Envoy Gateway's form with its parent, the one for the listener or the Gateway, as
// its mergeType says: a field at any depth is the policy's own, or else the parent's.
//
// For the fields that this program serves, both types mean a merge patch (RFC 7396): a list counts as a whole, and a
// field that is null is removed.
#pragma once

#include <string>

#include "config/model/traffic_policy.h"

namespace sluice::config {

struct MergedTraffic {
  TrafficPolicy policy;  // with the metadata of the one that merges, and without targets
  std::string error;     // the first field that is wrong, and why; empty if the policy is valid
};

/// Both must have TrafficPolicy::shipped.
MergedTraffic mergedTraffic(const TrafficPolicy& parent, const TrafficPolicy& policy);

}  // namespace sluice::config
