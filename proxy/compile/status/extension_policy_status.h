// Writes the statuses of extension policies. They report whether a policy takes effect for its targets, and which of
// its uses cannot run.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void extensionPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
