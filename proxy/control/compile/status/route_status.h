// These writers say what HTTPRoutes and GRPCRoutes are told: attachRoute() has said most of it.
#pragma once

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

/// They write those of routes with parents of ours, and of refused ones for which no parent can speak.
void httpRouteStatuses(const StatusSources& sources, Statuses& statuses);
void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::control
