// Writes the statuses of EgressPolicies.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void egressPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
