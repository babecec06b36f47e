// Finds the ConfigMap that holds the settings of a GatewayClass, and has them read.
#pragma once

#include "config/ground/problem.h"
#include "config/model/model.h"

namespace sluice::config {

/// Fills model.settings, settingsFault and gatewayClassName from the ConfigMap that our GatewayClass names. Among
/// several classes with our controllerName the oldest counts, and among equally old ones the first by name. If its
/// settings.yaml cannot be read, settingsFault says why, and the set cannot be served.
void resolveSettings(Model& model, Problems& problems);

}  // namespace sluice::config
