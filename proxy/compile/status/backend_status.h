// Writes the statuses of Backends, in each of their spellings.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void backendStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
