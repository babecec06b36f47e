// A RouteCache keeps the compiled routes of the last compilation. A route is compiled again only if its object has
// changed, or something else that its plan is made from (meansTheSame()). Otherwise its Rules stay the same objects.
//
// It belongs to the loading thread.
#pragma once

#include <memory>
#include <optional>

#include "config/model/model.h"
#include "proxy/base/cache.h"
#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// The key is the address of the route. The plan owns the route, so that the address is not used again. A round is one
/// compilation.
using RouteCache = base::Cache<const config::Route*, std::shared_ptr<const RoutePlan>>;

/// Returns true if compiling the route again would make an equal plan, because its hooks, Backends, policies and
/// payload processors are unchanged.
bool meansTheSame(const RoutePlan& plan, const RouteTools& tools);

/// `turnedAway` is true for a route that no listener may take.
template <typename RouteType>
std::shared_ptr<const RoutePlan> planOf(const std::shared_ptr<const RouteType>& route, const RouteTools& tools,
                                        bool turnedAway, RouteCache& cache) {
  const auto unchanged = [&](const std::shared_ptr<const RoutePlan>& before) {
    return before->turnedAway == turnedAway && (turnedAway || meansTheSame(*before, tools));
  };
  const auto compile = [&] {
    return std::make_shared<const RoutePlan>(turnedAway ? turnedAwayRoute(RouteType::kKind, route, std::nullopt)
                                                        : compileRoute(route, tools, std::nullopt));
  };
  return cache.get(static_cast<const config::Route*>(route.get()), unchanged, compile);
}

}  // namespace sluice::compile
