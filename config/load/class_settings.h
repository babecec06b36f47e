// Finds the ConfigMap with the settings of a GatewayClass, and reads them.
#pragma once

#include <string>
#include <string_view>

#include "config/ground/problem.h"
#include "config/model/model.h"

namespace sluice::config {

/// Sets model.settings, settingsFault and gatewayClassName from the ConfigMap that this controller's GatewayClass
/// names. If several classes have its controllerName, the oldest is used, then the first by name. If its settings.yaml
/// cannot be read, settingsFault has the reason, and the set cannot be served.
void resolveSettings(Model& model, Problems& problems);

/// Returns the object with the settings of the GatewayClass for messages, "ConfigMap demo/settings"; the GatewayClass
/// itself if it names none, and nothing if there is no GatewayClass.
std::string settingsOwner(const Model& model);
/// Returns the problem of a setting of the GatewayClass whose value was good when it was read. It is at the ConfigMap
/// with the settings, in the place where `key` is written, such as "accessLog.path".
Problem settingsProblem(const Model& model, Severity severity, std::string_view key, std::string message);

}  // namespace sluice::config
