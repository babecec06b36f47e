// A JSON Schema in the form in which values are checked against it: a graph of nodes, one for each schema in the
// document.
//
// Made by the SchemaCompiler, then immutable and usable on any thread. Nodes refer to each other and to the documents,
// so that all live and die with the CompiledSchema.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/content/schema/exact_decimal.h"
#include "proxy/content/schema/schema_pattern.h"
#include "proxy/content/value.h"

namespace sluice::content {

struct SchemaNode;
using SchemaNodes = std::vector<const SchemaNode*>;
/// Schemas with their names. They are sorted by name, unless a member states that they have the order of the document.
using NamedSchemas = std::vector<std::pair<std::string_view, const SchemaNode*>>;
/// Sorted names.
using SortedNames = std::vector<std::string_view>;

/// Returns nullptr if there is none of this name.
const SchemaNode* findNamed(const NamedSchemas& schemas, std::string_view name);

/// A number that is the value of a keyword.
struct SchemaNumber {
  ExactDecimal number;
  std::string_view text;
};

struct NumberRules {
  std::optional<SchemaNumber> multipleOf;
  std::optional<SchemaNumber> minimum;
  std::optional<SchemaNumber> exclusiveMinimum;
  std::optional<SchemaNumber> maximum;
  std::optional<SchemaNumber> exclusiveMaximum;
};

struct StringRules {
  std::optional<std::uint64_t> minLength;
  std::optional<std::uint64_t> maxLength;
  const SchemaPattern* pattern = nullptr;
};

struct ListRules {
  std::optional<std::uint64_t> minItems;
  std::optional<std::uint64_t> maxItems;
  std::optional<std::uint64_t> minContains;
  std::optional<std::uint64_t> maxContains;
  bool uniqueItems = false;
  SchemaNodes prefixItems;
  const SchemaNode* items = nullptr;
  const SchemaNode* contains = nullptr;
  const SchemaNode* unevaluated = nullptr;
};

struct MapRules {
  std::optional<std::uint64_t> minProperties;
  std::optional<std::uint64_t> maxProperties;
  SortedNames required;
  std::vector<std::pair<std::string_view, SortedNames>> dependentRequired;
  NamedSchemas properties;
  std::vector<std::pair<const SchemaPattern*, const SchemaNode*>> patternProperties;
  const SchemaNode* additional = nullptr;
  const SchemaNode* names = nullptr;
  const SchemaNode* unevaluated = nullptr;
  /// The properties that have a default, in the order of the document.
  std::vector<std::pair<std::string_view, const Value*>> defaults;
};

/// The schemas that apply to the same value as the node itself.
struct InPlaceRules {
  const SchemaNode* ref = nullptr;
  const SchemaNode* dynamicRef = nullptr;
  /// If set, the outermost resource in scope that has this dynamic anchor decides where `dynamicRef` leads.
  std::string_view dynamicAnchor;
  SchemaNodes allOf;
  SchemaNodes anyOf;
  SchemaNodes oneOf;
  const SchemaNode* inverted = nullptr;  // `not`
  const SchemaNode* condition = nullptr;
  const SchemaNode* then = nullptr;
  const SchemaNode* otherwise = nullptr;
  NamedSchemas dependent;  // dependentSchemas
};

/// The kinds of values by bits, in the order of Value::Kind; and one more bit for whole numbers.
using SchemaKinds = std::uint8_t;
inline constexpr SchemaKinds kWholeNumber = 1 << 6;
inline constexpr SchemaKinds kEveryKind = (1 << 6) - 1;
constexpr SchemaKinds kindBit(Value::Kind kind) { return static_cast<SchemaKinds>(1 << static_cast<int>(kind)); }

/// The values of `enum`, or that of `const`.
struct AllowedValues {
  std::vector<std::string> keys;  // sorted; see value_key.h
  std::string described;          // their beginning, for messages
};

struct SchemaNode {
  std::uint32_t resource = 0;
  bool refusesAll = false;  // the schema `false`
  SchemaKinds kinds = kEveryKind;
  const Value* defaultValue = nullptr;
  std::optional<AllowedValues> enumerated;
  std::optional<AllowedValues> constant;
  std::unique_ptr<NumberRules> numbers;
  std::unique_ptr<StringRules> strings;
  std::unique_ptr<ListRules> lists;
  std::unique_ptr<MapRules> maps;
  std::unique_ptr<InPlaceRules> inPlace;
};

struct CompiledSchema {
  Value document;
  std::deque<Value> others;  // the known documents that it refers to, directly or through others
  std::deque<SchemaNode> nodes;
  SchemaPatterns patterns;
  std::vector<NamedSchemas> dynamicAnchors;  // by resource
  const SchemaNode* root = nullptr;
};

}  // namespace sluice::content
