// Which of the statuses that were compiled are for a cluster. A pure function.
#pragma once

#include "config/status/status_list.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::kubernetes {

/// Returns the statuses of a configuration's objects as they are to be written to the API server. `keepsPods` says that
/// Gateways run in Pods that the controller keeps, so that their addresses are those of Services.
config::StatusList clusterStatuses(const control::CompiledConfiguration& compiled, bool keepsPods);

}  // namespace sluice::kubernetes
