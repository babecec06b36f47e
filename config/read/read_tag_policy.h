// Reads sluice.dev/v1alpha1 TagPolicy.
#pragma once

#include <optional>

#include "config/fields/field_reader.h"
#include "config/model/tag_policy.h"

namespace sluice::config {

/// Returns, after errors, the legible part if it says what it targets; else nullopt.
std::optional<TagPolicy> readTagPolicy(FieldReader& root, ObjectMeta meta);

}  // namespace sluice::config
