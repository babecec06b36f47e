// Finds the ConfigMap with the settings of a GatewayClass, and reads them.
#pragma once

#include "config/ground/problem.h"
#include "config/model/model.h"

namespace sluice::config {

/// Sets model.settings, settingsFault and gatewayClassName from the ConfigMap that this controller's GatewayClass
/// names. If several classes have its controllerName, the oldest is used, then the first by name. If its settings.yaml
/// cannot be read, settingsFault has the reason, and the set cannot be served.
void resolveSettings(Model& model, Problems& problems);

}  // namespace sluice::config
