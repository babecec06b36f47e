// Merges a BackendTrafficPolicy in Envoy Gateway's form with its parent, which is the policy for the listener or the
// Gateway, according to its mergeType. A field at any depth comes from the policy, or else from the parent.
//
// For the fields that this program supports, both merge types mean a merge patch (RFC 7396): a list is replaced as a
// whole, and a field that is null is removed.
#pragma once

#include <string>

#include "config/model/traffic_policy.h"

namespace sluice::config {

struct MergedTraffic {
  TrafficPolicy policy;  // has the metadata of the policy that merges, and no targets
  std::string error;     // the first wrong field and the reason; empty if the policy is valid
};

/// Both policies must have TrafficPolicy::shipped.
MergedTraffic mergedTraffic(const TrafficPolicy& parent, const TrafficPolicy& policy);

}  // namespace sluice::config
