// Writes the statuses of GatewayClasses and Gateways.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Writes the statuses of classes with the controllerName of this controller, and of classes that their schema refused.
void gatewayClassStatuses(const StatusSources& sources, Statuses& statuses);
/// Writes the statuses of Gateways that have a plan, and of Gateways without any readable part.
void gatewayStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
