// Gives a configuration that is served the Secrets, Services and EndpointSlices of now, while what users have written
// since then is refused, or must not be served yet: keys are rotated and Pods move, whatever becomes of that.
//
// Pure functions; any thread.
#pragma once

#include "config/load/object_set.h"

namespace sluice::kubernetes {

/// Returns `served` with the Secrets, Services and EndpointSlices of these as `newest` has or lacks them, if the
/// objects of both name them and the API server lets them be read. All others stay as they were, because only what the
/// newest objects name is followed.
config::ObjectSet refreshedObjects(const config::ObjectSet& served, const config::ObjectSet& newest);

}  // namespace sluice::kubernetes
