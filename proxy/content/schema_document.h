// Checks a JSON Schema as a document before it is compiled, and follows its references.
//
// Pure functions. Schemas are read from objects that anybody with a namespace may write: none of them may refer to
// anything outside itself, or make its evaluation run in circles.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

inline constexpr std::string_view kSchemaDialect = "https://json-schema.org/draft/2020-12/schema";
inline constexpr std::size_t kMaxSchemaDepth = 32;
inline constexpr std::size_t kMaxSchemaNodes = 20000;
/// The number of schemas that one value may be checked against at once, through allOf, $ref and similar keywords.
inline constexpr std::size_t kMaxSchemaFanOut = 1000;

/// Fails (with an error of config's origin and the JSON Pointer of the fault) unless the schema is of the dialect that
/// it names, is within the bounds above, has only references into itself and none that lead back to where they stand
/// without a step into the value, and uses none of: $anchor, $dynamicAnchor, $dynamicRef, $vocabulary, $id and $schema
/// except at the top, patternProperties (Kubernetes forbids it in schemas too).
base::Status checkSchemaDocument(const Value& root);

/// Returns the schema that `ref` ("#", "#/$defs/name") refers to; nullptr if there is none in this document.
const Value* referredSchema(const Value& root, std::string_view ref);

}  // namespace sluice::content
