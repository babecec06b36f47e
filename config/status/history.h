// Adds to statuses what only earlier ones can tell: since when an object's version is served and each condition has its
// status, and how often the object has changed.
#pragma once

#include "config/status/status_list.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// Fills in servedSince, changes and lastTransitionTime. They are taken over from `before`, the statuses of the
/// configuration that is served until now, as far as nothing has changed; else they begin at `now`. Objects whose
/// source counts no generation, as files do not, get `changes` as observedGeneration. A status in which nothing has
/// changed is shared with `before`.
void carryHistory(StatusList& statuses, const StatusList& before, base::WallTime now);

}  // namespace sluice::config
