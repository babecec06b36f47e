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

/// Reads the text of settings.yaml. `entry` gives its position, so that messages name the line in the ConfigMap's own
/// file; `object` is the ConfigMap's name in messages. Returns nullopt if anything is wrong and adds that to
/// `problems`.
std::optional<base::Settings> readSettings(const ConfigMap::DataEntry& entry, std::string_view object,
                                           Problems& problems);

/// Reads the settings that a Gateway has of its own into `settings`, which are those of its GatewayClass. What it does
/// not give stays.
void readGatewaySettings(FieldReader reader, base::Settings& settings);

}  // namespace sluice::config
