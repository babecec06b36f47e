#include "proxy/content/schema/schema_keywords.h"

#include <algorithm>
#include <set>

#include "proxy/content/schema/exact_decimal.h"
#include "proxy/content/schema/schema_bounds.h"

namespace sluice::content {
namespace {

using enum KeywordShape;

constexpr SchemaKeyword kSchemaKeywords[] = {
    // sorted by name
    {"$anchor", kAnchor},
    {"$comment", kString},
    {"$defs", kSchemaMap},
    {"$dynamicAnchor", kAnchor},
    {"$dynamicRef", kString},
    {"$id", kIdentifier},
    {"$recursiveAnchor", kAnchor},
    {"$recursiveRef", kString},
    {"$ref", kString},
    {"$schema", kDialect},
    {"$vocabulary", kVocabulary},
    {"additionalProperties", kSchema},
    {"allOf", kSchemaList},
    {"anyOf", kSchemaList},
    {"const", kAnything},
    {"contains", kSchema},
    {"contentEncoding", kString},
    {"contentMediaType", kString},
    {"contentSchema", kSchema},
    {"default", kAnything},
    {"definitions", kSchemaMap},
    {"dependencies", kDependencies},
    {"dependentRequired", kNamesByName},
    {"dependentSchemas", kSchemaMap},
    {"deprecated", kBoolean},
    {"description", kString},
    {"else", kSchema},
    {"enum", kList},
    {"examples", kList},
    {"exclusiveMaximum", kNumber},
    {"exclusiveMinimum", kNumber},
    {"format", kString},
    {"if", kSchema},
    {"items", kSchema},
    {"maxContains", kCount},
    {"maxItems", kCount},
    {"maxLength", kCount},
    {"maxProperties", kCount},
    {"maximum", kNumber},
    {"minContains", kCount},
    {"minItems", kCount},
    {"minLength", kCount},
    {"minProperties", kCount},
    {"minimum", kNumber},
    {"multipleOf", kPositiveNumber},
    {"not", kSchema},
    {"oneOf", kSchemaList},
    {"pattern", kString},
    {"patternProperties", kSchemaMap},
    {"prefixItems", kSchemaList},
    {"properties", kSchemaMap},
    {"propertyNames", kSchema},
    {"readOnly", kBoolean},
    {"required", kNames},
    {"then", kSchema},
    {"title", kString},
    {"type", kTypes},
    {"unevaluatedItems", kSchema},
    {"unevaluatedProperties", kSchema},
    {"uniqueItems", kBoolean},
    {"writeOnly", kBoolean},
};
static_assert(std::is_sorted(std::begin(kSchemaKeywords), std::end(kSchemaKeywords),
                             [](const SchemaKeyword& a, const SchemaKeyword& b) { return a.name < b.name; }));

constexpr std::string_view kTypeNames[] = {"array", "boolean", "integer", "null", "number", "object", "string"};

bool isSchema(const Value& value) { return value.isMap() || value.kind == Value::Kind::kBool; }

bool isTypeName(const Value& value) {
  return value.isString() &&
         std::find(std::begin(kTypeNames), std::end(kTypeNames), value.text) != std::end(kTypeNames);
}

/// Returns true for a list of different strings.
bool isNames(const Value& value) {
  std::set<std::string_view> names;
  return value.isList() && std::all_of(value.items.begin(), value.items.end(), [&](const Value& item) {
           return item.isString() && names.insert(item.text).second;
         });
}

bool isTypes(const Value& value) {
  if (value.isString()) return isTypeName(value);
  return isNames(value) && !value.items.empty() && std::all_of(value.items.begin(), value.items.end(), isTypeName);
}

/// Returns true for the names that an anchor may have (core section 8.2.2).
bool isAnchor(const Value& value) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto isFurther = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return value.isString() && !value.text.empty() && isLetter(value.text.front()) &&
         std::all_of(value.text.begin(), value.text.end(), isFurther);
}

bool isIdentifier(const Value& value) {
  return value.isString() && std::min(value.text.find('#'), value.text.size()) + 1 >= value.text.size();
}

bool isDialect(const Value& value) {
  return value.isString() && (value.text == kSchemaDialect || value.text == std::string(kSchemaDialect) + "#");
}

template <typename Holds>
bool isMapOf(const Value& value, Holds holds) {
  return value.isMap() && std::all_of(value.members.begin(), value.members.end(),
                                      [&](const Member& member) { return holds(member.value); });
}

std::string numberShapeFault(KeywordShape shape, const Value& value) {
  if (value.kind != Value::Kind::kNumber) return "must be a number";
  const ExactDecimal number(value.text);
  if (shape == kCount && !number.asCount()) return "must be a whole number of at least 0";
  if (shape != kPositiveNumber) return "";
  if (!number.isPositive()) return "must be greater than 0";
  if (number.digitCount() <= kMaxDivisorDigits) return "";
  return "must not have more than " + std::to_string(kMaxDivisorDigits) + " digits";
}

}  // namespace

const SchemaKeyword* findSchemaKeyword(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kSchemaKeywords), std::end(kSchemaKeywords), name,
                                       [](const SchemaKeyword& a, std::string_view b) { return a.name < b; });
  return found != std::end(kSchemaKeywords) && found->name == name ? found : nullptr;
}

std::string shapeFault(KeywordShape shape, const Value& value) {
  const auto unless = [](bool good, std::string_view fault) { return good ? std::string() : std::string(fault); };
  switch (shape) {
    case kAnything:
      return "";
    case kBoolean:
      return unless(value.kind == Value::Kind::kBool, "must be a boolean");
    case kString:
      return unless(value.isString(), "must be a string");
    case kNumber:
    case kPositiveNumber:
    case kCount:
      return numberShapeFault(shape, value);
    case kList:
      return unless(value.isList(), "must be a list");
    case kNames:
      return unless(isNames(value), "must be a list of different strings");
    case kNamesByName:
      return unless(isMapOf(value, isNames), "must be a map of lists of different strings");
    case kTypes:
      return unless(isTypes(value),
                    "must be array, boolean, integer, null, number, object or string, or a list of different ones");
    case kDialect:
      return unless(isDialect(value), "must be " + std::string(kSchemaDialect));
    case kIdentifier:
      return unless(isIdentifier(value), "must be a URI without a fragment");
    case kAnchor:
      return unless(isAnchor(value), "must be a letter or '_', and then letters, digits, '-', '.' and '_'");
    case kVocabulary:
      return unless(isMapOf(value, [](const Value& each) { return each.kind == Value::Kind::kBool; }),
                    "must be a map of booleans");
    case kSchema:
      return unless(isSchema(value), "must be a schema: a map or a boolean");
    case kSchemaList:
      return unless(value.isList() && !value.items.empty(), "must be a list of at least one schema");
    case kSchemaMap:
      return unless(value.isMap(), "must be a map of schemas");
    case kDependencies:
      return unless(isMapOf(value, [](const Value& each) { return isSchema(each) || isNames(each); }),
                    "must be a map of schemas and of lists of different strings");
  }
  return "";
}

void forEachSubschema(const Value& schema, const std::function<void(const Value&)>& visit) {
  for (const Member& member : schema.members) {
    const SchemaKeyword* keyword = findSchemaKeyword(member.key);
    if (keyword == nullptr) continue;
    if (keyword->shape == kSchema) visit(member.value);
    if (keyword->shape == kSchemaList) {
      for (const Value& each : member.value.items) visit(each);
    }
    if (keyword->shape != kSchemaMap && keyword->shape != kDependencies) continue;
    for (const Member& each : member.value.members) {
      if (keyword->shape == kSchemaMap || isSchema(each.value)) visit(each.value);
    }
  }
}

}  // namespace sluice::content
