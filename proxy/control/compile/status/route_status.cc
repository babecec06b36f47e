#include "proxy/control/compile/status/route_status.h"

#include <utility>

#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/refused_objects.h"

namespace sluice::control {
namespace {

template <typename Route>
void statusesOfRoutes(const StatusSources& sources, Statuses& statuses) {
  statuses.reserve(sources.model.all<Route>().size());
  for (config::ObjectStatus& each : sources.attached) {
    if (each.kind == Route::kKind) statuses.push_back(std::move(each));
  }
  forEachRefused<Route>(sources.model, [&](const config::Rejected& each) {
    const Route* legible = each.legible<Route>();
    if (legible == nullptr || legible->parentRefs.empty()) statuses.push_back(rejectedStatus(each));
  });
}

}  // namespace

void httpRouteStatuses(const StatusSources& sources, Statuses& statuses) {
  statusesOfRoutes<config::HttpRoute>(sources, statuses);
}

void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses) {
  statusesOfRoutes<config::GrpcRoute>(sources, statuses);
}

}  // namespace sluice::control
