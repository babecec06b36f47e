// Finds the references to other objects in the configs of payload processors, and judges whether a config is within the
// bounds of the settings.
//
// These are pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/model.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// A field of the config of a type that refers to other objects, or to a list of them. All others are no references,
/// whatever their names are.
struct ReferenceField {
  std::string_view type;
  std::string_view name;
  std::string_view kind;  // that of a reference which names none
};
std::span<const ReferenceField> referenceFields();

/// Returns the references in the config of a use; none if the config is beyond a bound.
std::vector<ObjectRef> referencesIn(const ProcessorUse& use, const base::LimitSettings& limits);

/// Returns the bound that the config of a use exceeds (limits.configBytes, limits.references); nullopt if it exceeds
/// none.
std::optional<Finding> excessOf(const ProcessorUse& use, const base::LimitSettings& limits);

}  // namespace sluice::config
