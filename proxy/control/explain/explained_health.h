// Says whether the Backends of an explanation serve, as far as the running gateway knows.
#pragma once

#include "proxy/control/explain/explanation.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Sets the health of all Backends that the explanation names. `snapshot` is the one that is served, whose health the
/// workers and the health checker of this process write.
void addHealth(const routing::Snapshot& snapshot, Explanation& explanation);

}  // namespace sluice::control
