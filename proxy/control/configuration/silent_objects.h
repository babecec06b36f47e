// Finds objects that are valid but have no effect, which is probably a mistake.
#pragma once

#include "config/ground/problem.h"
#include "config/model/model.h"

namespace sluice::control {

/// Returns a warning for each of them: classes whose controllerName is almost that of this program, routes without a
/// parent, Services without endpoints, EndpointSlices of no Service, BackendTLSPolicies for missing targets, and
/// objects without a namespace, which are in "default", among others that name theirs.
config::Problems silentObjects(const config::Model& model);

/// Returns the error for a configuration without a class of this program, with a hint at the class that was probably
/// meant.
config::Problem missingClass(const config::Model& model);

}  // namespace sluice::control
