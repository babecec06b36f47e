// Writes the statuses of TrafficPolicies: whether they count for what they name, and whether the backendRefs of their
// priorities are there.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void trafficPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
