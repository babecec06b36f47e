// Updates a served configuration with the current Secrets, Services and EndpointSlices while the newer objects of users
// are refused or must not be served yet: keys are rotated and Pods move in the meantime.
//
// Pure functions; any thread.
#pragma once

#include "config/load/object_set.h"

namespace sluice::kubernetes {

/// Returns `served` with its Secrets, Services and their EndpointSlices replaced by those of `newest`, or removed if
/// `newest` lacks them, as long as the objects of both name them and the API server lets them be read. All others stay
/// unchanged, because only the objects that the newest objects name are followed.
config::ObjectSet refreshedObjects(const config::ObjectSet& served, const config::ObjectSet& newest);

}  // namespace sluice::kubernetes
