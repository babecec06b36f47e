// Writes the statuses of TrafficPolicies. They report whether a policy takes effect for its targets, and whether the
// backendRefs of its priorities exist.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void trafficPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
