// RouteOrder is the order in which routes are attached. Older routes come first, because the first route wins a
// conflict between two. Routes without a time of creation, as in files, come last: HTTPRoutes before GRPCRoutes, and
// then by name.
#pragma once

#include <memory>
#include <vector>

#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// Remembers the order of the last compilation, because most routes keep their places. It belongs to the loading
/// thread.
class RouteOrder {
 public:
  using Plans = std::vector<std::shared_ptr<const RoutePlan>>;

  Plans sorted(Plans plans);

 private:
  Plans last_;
};

}  // namespace sluice::compile
