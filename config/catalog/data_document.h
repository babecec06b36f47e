// A key of a ConfigMap that holds YAML of ours: the settings, the entries of a catalog.
#pragma once

#include <functional>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/model.h"
#include "config/problem.h"

namespace sluice::config {

/// Hands the text's one document to `take`, which reads it to its end; an empty text is an empty map. Problems name
/// `object` (the ConfigMap), `key`, and the line in the ConfigMap's own file as well as it can be told. False if there
/// was an error.
bool readDataDocument(const ConfigMap::Entry& entry, std::string_view object, std::string_view key, Problems& problems,
                      const std::function<void(FieldReader)>& take);

}  // namespace sluice::config
