// Validates texts by schemas that are texts, for the tests of JSON Schema.
#pragma once

#include <string>
#include <string_view>

#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"

namespace sluice::test {

/// Returns why the schema cannot be compiled, or "none".
inline std::string compileError(std::string_view schema) {
  const auto compiled = content::JsonSchema::compile(schema);
  return compiled ? "none" : compiled.error().detail;
}

/// Returns "ok", or the faults of the value.
inline std::string judged(std::string_view schema, const content::Value& value) {
  const auto compiled = content::JsonSchema::compile(schema);
  if (!compiled) return "no schema: " + compiled.error().detail;
  const auto violations = compiled->check(value);
  return violations.empty() ? "ok" : content::describe(violations);
}

inline std::string judged(std::string_view schema, std::string_view text) {
  const auto value = content::parseJson(text);
  return value ? judged(schema, *value) : "no value: " + value.error().detail;
}

/// Returns "ok" and the value with its defaults, or the faults.
inline std::string applied(std::string_view schema, std::string_view text) {
  const auto compiled = content::JsonSchema::compile(schema);
  if (!compiled) return "no schema: " + compiled.error().detail;
  auto value = content::parseJson(text, {text.size(), 1000});
  if (!value) return "no value: " + value.error().detail;
  const auto violations = compiled->apply(*value);
  return violations.empty() ? "ok " + content::writeJson(*value) : content::describe(violations);
}

}  // namespace sluice::test
