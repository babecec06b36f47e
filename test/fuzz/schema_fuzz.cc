// Takes a list of a JSON Schema and values, and validates each of the values: there is never a crash or an endless
// check, a schema that compiles is valid by the meta-schema of its dialect, and faults and defaults are bounded.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"
#include "proxy/content/schema/schema_bounds.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::content::JsonSchema;
using sluice::content::Value;
using sluice::test::require;
using Violations = std::vector<JsonSchema::Violation>;

std::size_t countValues(const Value& value) {
  std::size_t count = 1;
  for (const Value& item : value.items) count += countValues(item);
  for (const auto& member : value.members) count += countValues(member.value);
  return count;
}

bool isOneLine(std::string_view text) { return text.size() <= 400 && text.find('\n') == std::string_view::npos; }

void checkViolations(const Violations& violations) {
  require(violations.size() <= sluice::content::kMaxViolations, "there are too many violations");
  for (const JsonSchema::Violation& each : violations) {
    require(!each.message.empty() && isOneLine(each.message), "a message is not one bounded line");
    require(isOneLine(each.pointer), "a pointer is not one bounded line");
    require(each.pointer.empty() || each.pointer.front() == '/', "a pointer is none");
  }
}

bool reachedABound(const Violations& violations) {
  return !violations.empty() && violations.back().message.starts_with("the check needs more than");
}

const JsonSchema& metaSchema() {
  static const JsonSchema kMeta = *JsonSchema::compile(R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})");
  return kMeta;
}

void apply(const JsonSchema& schema, Value value) {
  const Violations violations = schema.check(value);
  checkViolations(violations);
  const std::size_t before = countValues(value);
  checkViolations(schema.apply(value));
  const std::size_t filled = countValues(value) - before;
  require(filled <= sluice::content::kMaxFilledValues, "too many defaults were filled in");
  require(violations.empty() || filled == 0, "a value with faults was changed");
}

}  // namespace

int sluice::test::fuzzSchema(const std::uint8_t* data, std::size_t size) {
  const auto input = content::parseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!input || !input->isList() || input->items.empty()) return 0;
  const Value& document = input->items.front();
  const auto schema = JsonSchema::compile(document);
  if (!schema) {
    require(!schema.error().detail.empty(), "a fault of a schema has no message");
    return 0;
  }
  const Violations faults = metaSchema().check(document);
  require(faults.empty() || reachedABound(faults), "the meta-schema refuses what was compiled");
  const auto defaults = schema->checkDefaults();
  require(defaults || !defaults.error().detail.empty(), "a fault of a default has no message");
  for (std::size_t i = 1; i < input->items.size() && i < 4; ++i) apply(*schema, input->items[i]);
  apply(*schema, document);
  return 0;
}
