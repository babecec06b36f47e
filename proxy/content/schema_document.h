// A JSON Schema as a document: what is checked of it before anything is made of it, and how its references are
// followed.
//
// Pure functions. Schemas are read from objects that anybody with a namespace may write: none of them may reach out of
// itself, or make whoever evaluates it run in circles.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

inline constexpr std::string_view kSchemaDialect = "https://json-schema.org/draft/2020-12/schema";
inline constexpr std::size_t kMaxSchemaDepth = 32;
inline constexpr std::size_t kMaxSchemaNodes = 20000;
/// Schemas that one value is held against at once, through allOf, $ref and their like.
inline constexpr std::size_t kMaxSchemaFanOut = 1000;

/// An error (config's, with the JSON Pointer of the fault) unless the schema is of the dialect that it names, is within
/// the bounds above, has references into itself only and none that lead back to where they stand without a step into
/// the value, and uses none of: $anchor, $dynamicAnchor, $dynamicRef, $vocabulary, $id and $schema but at the top,
/// patternProperties (Kubernetes forbids it in schemas too).
base::Status checkSchemaDocument(const Value& root);

/// What `ref` ("#", "#/$defs/name") means; nullptr if it means nothing in this document.
const Value* referredSchema(const Value& root, std::string_view ref);

}  // namespace sluice::content
