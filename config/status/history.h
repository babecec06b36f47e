// Adds to statuses the parts that depend on earlier ones: since when an object's version is served, since when each
// condition has its status, and how often the object has changed.
#pragma once

#include "config/status/status_list.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// Sets servedSince, changes and lastTransitionTime. As far as nothing has changed, they come from `before`, the
/// statuses of the configuration that is served until now. Otherwise they begin at `now`. Objects without a generation,
/// such as those from files, get `changes` as observedGeneration. A status without any change is shared with `before`.
void carryHistory(StatusList& statuses, const StatusList& before, base::WallTime now);

}  // namespace sluice::config
