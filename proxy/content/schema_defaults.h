// Fills in the defaults that a JSON Schema gives for members that a value leaves out.
//
// Works as Kubernetes does with its own schemas: before validation, in maps that are present or were filled in by a
// default themselves, at every depth. Only keywords that apply to every value fill in defaults (properties, items,
// prefixItems, additionalProperties, allOf, $ref), not those that depend on a choice (anyOf, oneOf, if, not).
#pragma once

#include "proxy/content/value.h"

namespace sluice::content {

/// `schema` has passed checkSchemaDocument(). A default gets the position of the value that it is filled into.
void fillDefaults(const Value& schema, Value& value);

}  // namespace sluice::content
