// Fills in what a JSON Schema says about members that a value leaves out (E-83).
//
// As Kubernetes does it with schemas of its own: before anything is judged, in maps that are there or have come by a
// default themselves, at every depth. Only by keywords that hold for every value (properties, items, prefixItems,
// additionalProperties, allOf, $ref): what depends on a choice (anyOf, oneOf, if, not) fills in nothing.
#pragma once

#include "proxy/content/value.h"

namespace sluice::content {

/// `schema` has passed checkSchemaDocument(). What is filled in stands where the value does that gets it.
void fillDefaults(const Value& schema, Value& value);

}  // namespace sluice::content
