// Gathers the Secrets that a compiled route is made of, or would be if all of it could run: those of its Backends and
// of its processors.
//
// A pure function.
#pragma once

#include "proxy/base/object_names.h"
#include "proxy/control/compile/routes/compile_route.h"

namespace sluice::control {

/// What cannot be served counts too: it may lack the right to read its Secrets.
base::ObjectNames secretsOfRoute(const RoutePlan& plan);

}  // namespace sluice::control
