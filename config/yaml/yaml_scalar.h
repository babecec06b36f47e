// What a plain YAML scalar means, as Kubernetes' own reader resolves it (YAML 1.2 core schema).
#pragma once

#include <string_view>

#include "config/yaml/document.h"

namespace sluice::config {

/// kBool, kNumber or kString. `yes`, `on` and dates are strings: YAML 1.1's surprises are not ours.
Value::Kind plainScalarKind(std::string_view text);

}  // namespace sluice::config
