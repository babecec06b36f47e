// Fills in the defaults that a JSON Schema gives for members that a value leaves out.
//
// Works in maps that are present or were filled in by a default themselves, at every depth. Only keywords that apply to
// every value fill in defaults (properties, patternProperties, additionalProperties, items, prefixItems, allOf, $ref),
// not those that depend on a choice (anyOf, oneOf, if, not), nor a $dynamicRef.
#pragma once

#include <string>

#include "proxy/content/schema/compiled_schema.h"
#include "proxy/content/value.h"

namespace sluice::content {

/// Returns "", or the bound that the defaults exceed; some of them have been filled in then. The value satisfies the
/// schema. A default gets the position of the map that it is filled into.
std::string fillDefaults(const CompiledSchema& schema, Value& value);

}  // namespace sluice::content
