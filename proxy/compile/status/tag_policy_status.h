// Writes the statuses of TagPolicies.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void tagPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
