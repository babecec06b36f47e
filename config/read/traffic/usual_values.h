// The values of fields that are not supported otherwise, because they ask for what happens anyway. A field with such a
// value is accepted; it closes no target and needs no condition.
#pragma once

#include <span>
#include <string_view>

#include "config/fields/field_reader.h"

namespace sluice::config {

/// A value of a field of `spec`.
struct UsualValue {
  std::string_view field;  // "loadBalancer.type"; items of a list have the name of the list
  std::string_view value;  // as it is written in YAML
};

/// The values in the form of BackendTrafficPolicy that Envoy Gateway ships.
std::span<const UsualValue> usualShippedValues();

/// Notes the field `key` of `reader` as not supported, unless every value in it is a usual one. `place` is the path of
/// the map in the spec, such as "healthCheck"; empty for the spec. A list without items is usual.
void refuseUnusual(FieldReader& reader, std::string_view place, std::string_view key,
                   std::span<const UsualValue> usual);

}  // namespace sluice::config
