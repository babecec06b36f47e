#include "proxy/compile/status/route_status.h"

#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/status/refused_objects.h"

namespace sluice::compile {
namespace {

template <typename Route>
void statusesOfRefusedRoutes(const StatusSources& sources, Statuses& statuses) {
  forEachRefused<Route>(sources.model, [&](const config::Rejected& each) {
    const Route* legible = each.legible<Route>();
    if (legible == nullptr || legible->parentRefs.empty()) statuses.push_back(rejectedStatus(each));
  });
}

}  // namespace

void httpRouteStatuses(const StatusSources& sources, Statuses& statuses) {
  statusesOfRefusedRoutes<config::HttpRoute>(sources, statuses);
}

void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses) {
  statusesOfRefusedRoutes<config::GrpcRoute>(sources, statuses);
}

}  // namespace sluice::compile
