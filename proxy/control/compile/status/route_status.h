// These writers say what HTTPRoutes and GRPCRoutes are told for which no parent can speak: attachRoute() has said what
// the others are.
#pragma once

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

/// They write those of refused routes that name no parent, or of which nothing was legible.
void httpRouteStatuses(const StatusSources& sources, Statuses& statuses);
void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::control
