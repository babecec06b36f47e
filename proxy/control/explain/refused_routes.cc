#include "proxy/control/explain/refused_routes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/authority.h"
#include "proxy/routing/table/hostname.h"

namespace sluice::control {
namespace {

/// Returns the route of the status; nullptr if it is no route, or if its schema refuses it beyond recognition.
template <typename RouteType>
const config::Route* routeIn(const config::Model& model, const config::ObjectStatus& status) {
  if (status.kind != RouteType::kKind) return nullptr;
  if (const auto* found = model.find<RouteType>(status.nameSpace, status.name)) return found;
  for (const config::Rejected& each : model.rejected) {
    const bool isSame = each.kind == status.kind && each.nameSpace == status.nameSpace && each.name == status.name;
    if (isSame) return each.legible<RouteType>();
  }
  return nullptr;
}

bool isForHost(const config::Route& route, std::string_view host) {
  if (route.hostnames.empty()) return true;
  return std::any_of(route.hostnames.begin(), route.hostnames.end(),
                     [&](const std::string& each) { return routing::hostnamesIntersect(each, host); });
}

/// Returns true if the reference may be to this listener, or to any if none gets the request.
bool mayMean(const config::ParentRef& ref, const std::string& gateway, const Explanation& explanation) {
  if (!explanation.listener) return true;
  const ExplainedListener& listener = *explanation.listener;
  return gateway == listener.gateway && (ref.sectionName.empty() || ref.sectionName == listener.name) &&
         (ref.port == 0 || ref.port == listener.port);
}

}  // namespace

void addRefusedRoutes(const config::Model& model, const config::StatusList& statuses, Explanation& explanation) {
  const std::string_view host = http::hostOf(explanation.authority);
  for (const config::ObjectStatus& status : statuses) {
    const config::Route* route = routeIn<config::HttpRoute>(model, status);
    if (route == nullptr) route = routeIn<config::GrpcRoute>(model, status);
    if (route == nullptr || !isForHost(*route, host)) continue;
    for (const config::ParentStatus& parent : status.parents) {
      const config::ObjectRef& ref = parent.parentRef.object;
      const std::string gateway = (ref.nameSpace.empty() ? status.nameSpace : ref.nameSpace) + "/" + ref.name;
      const config::Condition* accepted = config::findCondition(parent.conditions, "Accepted");
      const bool isRefused = accepted != nullptr && accepted->status == config::ConditionStatus::kFalse;
      if (!isRefused || !mayMean(parent.parentRef, gateway, explanation)) continue;
      if (explanation.refused.size() == kMostRefused) return;
      explanation.refused.push_back({std::string(status.kind), status.nameSpace + "/" + status.name, gateway,
                                     accepted->reason, accepted->message});
    }
  }
}

}  // namespace sluice::control
