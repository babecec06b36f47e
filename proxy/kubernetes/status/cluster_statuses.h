// Selects the compiled statuses that are written to a cluster. A pure function.
#pragma once

#include "config/status/status_list.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::kubernetes {

/// Returns the statuses of a configuration's objects in the form in which they are written to the API server.
/// `keepsPods` is true if the controller runs the Pods of Gateways, so that their addresses are those of Services.
config::StatusList clusterStatuses(const control::CompiledConfiguration& compiled, bool keepsPods);

}  // namespace sluice::kubernetes
