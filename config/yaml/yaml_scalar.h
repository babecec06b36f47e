// Decides the type of a plain YAML scalar as Kubernetes' own reader does (YAML 1.2 core schema).
#pragma once

#include <string_view>

#include "config/ground/document.h"

namespace sluice::config {

/// Returns kBool, kNumber or kString. `yes`, `on` and dates are strings, because the rules of YAML 1.1 do not apply.
Value::Kind plainScalarKind(std::string_view text);

}  // namespace sluice::config
