// Writes the statuses of HTTPRoutes and GRPCRoutes that have no parent to report them; attachRoute() writes the others.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// These write the statuses of refused routes that name no parent or have no legible part.
void httpRouteStatuses(const StatusSources& sources, Statuses& statuses);
void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
