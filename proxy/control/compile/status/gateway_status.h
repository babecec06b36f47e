// These writers say what GatewayClasses and Gateways are told.
#pragma once

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

/// Writes those of classes with our controllerName, and of those that their schema refused.
void gatewayClassStatuses(const StatusSources& sources, Statuses& statuses);
/// Writes those of Gateways that have a plan, and of those of which nothing was legible.
void gatewayStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::control
