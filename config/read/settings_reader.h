// settings.yaml -> Settings, and which ConfigMap it is read from.
#pragma once

#include <optional>
#include <string_view>

#include "config/model/model.h"
#include "config/problem.h"
#include "proxy/base/settings.h"

namespace sluice::config {

inline constexpr std::string_view kSettingsKey = "settings.yaml";

/// Reads the text of settings.yaml. `entry` says where it stands, so that messages name the line in the ConfigMap's own
/// file; `object` is the ConfigMap's name for them. nullopt if anything is wrong, which is then in `problems`.
std::optional<base::Settings> readSettings(const ConfigMap::Entry& entry, std::string_view object, Problems& problems);

/// Fills model.settings, settingsFault and gatewayClassName: from the oldest GatewayClass with our controllerName, by
/// name among equals, and the ConfigMap that it names. If that one's settings.yaml is refused, the settings of
/// `previous` serve on, if it is given and has valid ones: then settingsKept says why instead of settingsFault.
void resolveSettings(Model& model, const Model* previous, Problems& problems);

}  // namespace sluice::config
