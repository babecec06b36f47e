// The order in which routes are attached. Older routes come first, because the first route keeps what two of them want.
#pragma once

#include <memory>
#include <vector>

#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// Remembers the order of the last compilation, in which most routes have their places already. It belongs to the
/// loading thread.
class RouteOrder {
 public:
  using Plans = std::vector<std::shared_ptr<const RoutePlan>>;

  Plans sorted(Plans plans);

 private:
  Plans last_;
};

}  // namespace sluice::compile
