// Gathers the Secrets that a compiled route uses, or would use if all its parts could run: those of its Backends and of
// its processors.
//
// This is a pure function.
#pragma once

#include "proxy/base/object_names.h"
#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {

/// Returns the Secrets of a route. Those of Backends and processors that cannot be served are included, because the
/// right to read their Secrets may be the only thing that they lack. A route that is not served itself has no Secrets.
base::ObjectNames secretsOfRoute(const RoutePlan& plan);

}  // namespace sluice::compile
