// Writes the statuses of HTTPRoutes and GRPCRoutes.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/gateways/attach.h"
#include "proxy/compile/processors/asked_servers.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Returns the status of a route with conditions for each of `parents`. If the previous version of the route is served
/// because the schema refuses the newest one, `kept` is the fault for the route's conditions.
config::ObjectStatus routeStatus(const RoutePlan& plan, const std::vector<ParentAttachment>& parents,
                                 const std::optional<Fault>& kept, const AskedServers& servers);

/// These write the statuses of refused routes that name no parent or have no readable part.
void httpRouteStatuses(const StatusSources& sources, Statuses& statuses);
void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
