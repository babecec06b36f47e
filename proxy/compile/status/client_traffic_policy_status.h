// Writes the statuses of ClientTrafficPolicies.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Writes the statuses of all policies of that type: each takes effect at a Gateway or a listener, or closes it.
void clientTrafficPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
