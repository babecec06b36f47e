// Makes an event when a Backend takes no connections, when the reason for that is another one, and when it takes
// connections again. Whoever has the events logs them, too.
//
// A pure function; the loading thread calls it.
#pragma once

#include "proxy/base/clock.h"
#include "proxy/compile/status/backend_health.h"
#include "proxy/observe/events.h"

namespace sluice::control {

/// Compares two compilations. A Backend that is new is taken to have been reachable before.
void noteBackends(const compile::BackendHealths& before, const compile::BackendHealths& now, base::WallTime clock,
                  observe::EventBatch& events);

}  // namespace sluice::control
