// Makes the configurations of people's files whole for commands that judge them: a GatewayClass belongs to a cluster,
// and often is not among the files of those who write a Gateway for it.
#pragma once

#include "config/load/object_set.h"

namespace sluice::config {

/// Adds a GatewayClass of this program if the set has none, and a Gateway names a class that is not in the set. A
/// warning of that class says so. The class has no settings, and is not part of the revision.
void assumeClass(ObjectSet& set);

}  // namespace sluice::config
