// Gathers the Secrets that a compiled route is made of, or would be if all of it could run: those of its Backends and
// of its processors.
//
// A pure function.
#pragma once

#include "proxy/base/object_names.h"
#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// Returns the Secrets of a route. Backends and processors that cannot be served count too, because they may lack
/// nothing but the right to read their Secrets. A route that is not served itself has none.
base::ObjectNames secretsOfRoute(const RoutePlan& plan);

}  // namespace sluice::compile
