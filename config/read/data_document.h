// Reads a key of a ConfigMap whose value is YAML in one of this program's own formats: the settings and the entries of
// catalogs.
#pragma once

#include <functional>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/ground/problem.h"
#include "config/model/model.h"

namespace sluice::config {

/// Passes the only document of the text to `take`, which reads all of it. An empty text is an empty map. Problems name
/// `object` (the ConfigMap) and `key`, and the line in the ConfigMap's own file as precisely as it is known. Returns
/// false if there was an error.
bool readDataDocument(const ConfigMap::DataEntry& entry, std::string_view object, std::string_view key,
                      Problems& problems, const std::function<void(FieldReader)>& take);

}  // namespace sluice::config
