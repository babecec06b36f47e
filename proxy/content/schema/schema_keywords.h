// The keywords of JSON Schema 2020-12, and the values that each of them may have.
//
// Constant data and pure functions. They accept the same values as the meta-schemas of the dialect, so that later
// readers of a schema need not check them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/content/value.h"

namespace sluice::content {

inline constexpr std::string_view kSchemaDialect = "https://json-schema.org/draft/2020-12/schema";

enum class KeywordShape : std::uint8_t {
  kAnything,
  kBoolean,
  kString,
  kNumber,
  kPositiveNumber,
  kCount,        // a whole number of at least 0
  kList,         // of anything
  kNames,        // a list of different strings
  kNamesByName,  // a map of such lists
  kTypes,        // one type or a list of different ones
  kDialect,
  kIdentifier,  // a URI reference without a fragment
  kAnchor,
  kVocabulary,  // a map of booleans
  kSchema,
  kSchemaList,  // at least one schema
  kSchemaMap,
  kDependencies  // a map of schemas and lists of names, which only older dialects evaluate
};

struct SchemaKeyword {
  std::string_view name;
  KeywordShape shape;
};

/// Returns nullptr for a name that is no keyword.
const SchemaKeyword* findSchemaKeyword(std::string_view name);

/// Returns why the keyword may not have `value`, or "" if it may. Does not look into schemas below it.
std::string shapeFault(KeywordShape shape, const Value& value);

/// Calls `visit` for each schema right below a schema.
void forEachSubschema(const Value& schema, const std::function<void(const Value&)>& visit);

}  // namespace sluice::content
