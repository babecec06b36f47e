// Gives a configuration that is served the Secrets, Services and EndpointSlices of now, while what users have written
// since then is refused, or must not be served yet: keys are rotated and Pods move, whatever becomes of that.
//
// Pure functions; any thread.
#pragma once

#include "config/object_set.h"

namespace sluice::control {

/// Returns `served` with the Secrets and Services of `newest`, and the EndpointSlices of these Services, as far as the
/// API server has given both. What `newest` does not name any more, or what may not be read any more, stays as it was.
config::ObjectSet refreshedObjects(const config::ObjectSet& served, const config::ObjectSet& newest);

}  // namespace sluice::control
