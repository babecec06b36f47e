// Writes the statuses of extension policies: whether they count for what they name, and which of their uses cannot run.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void extensionPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
