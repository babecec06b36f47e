// A RouteCache keeps the compiled routes of the last compilation. A route is not compiled again if its object and its
// Backends did not change, and its Rules stay the same objects.
//
// The key is the address of the route's object, which never changes and is kept for as long. It belongs to the loading
// thread.
#pragma once

#include <memory>
#include <optional>

#include "config/model/model.h"
#include "proxy/base/cache.h"
#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

struct CompiledRoute {
  std::shared_ptr<const config::Route> route;  // holding it keeps its address from reuse
  std::shared_ptr<const RoutePlan> plan;
};

/// The key is the address of the route; a round is one compilation.
using RouteCache = base::Cache<const config::Route*, CompiledRoute>;

template <typename RouteType>
std::shared_ptr<const RoutePlan> planOf(const std::shared_ptr<const RouteType>& route, const RouteTools& tools,
                                        RouteCache& cache) {
  const auto unchanged = [&](const CompiledRoute& before) { return meansTheSame(*before.plan, tools); };
  const auto compile = [&] {
    return CompiledRoute{route, std::make_shared<const RoutePlan>(compileRoute(*route, tools, std::nullopt))};
  };
  return cache.get(static_cast<const config::Route*>(route.get()), unchanged, compile).plan;
}

}  // namespace sluice::compile
