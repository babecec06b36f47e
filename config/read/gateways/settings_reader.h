// Reads settings.yaml into Settings.
#pragma once

#include <optional>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/ground/problem.h"
#include "config/model/model.h"
#include "proxy/base/settings.h"

namespace sluice::config {

inline constexpr std::string_view kSettingsKey = "settings.yaml";

/// Reads the text of settings.yaml. `entry` has its position, so that messages name the line in the ConfigMap's own
/// file. `object` is the ConfigMap's name in messages. If anything is wrong, returns nullopt and adds the errors to
/// `problems`.
std::optional<base::Settings> readSettings(const ConfigMap::DataEntry& entry, std::string_view object,
                                           Problems& problems);

/// Overwrites `settings`, which are those of the GatewayClass, with the settings of a Gateway. Absent settings stay as
/// they are.
void readGatewaySettings(FieldReader reader, base::Settings& settings);

}  // namespace sluice::config
