// Writes the statuses of Backends, in each of their spellings.
#pragma once

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

void backendStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::control
