#include "proxy/content/schema/json_schema.h"

#include <algorithm>
#include <cstddef>

#include "proxy/content/json.h"
#include "proxy/content/json_pointer.h"
#include "proxy/content/schema/compiled_schema.h"
#include "proxy/content/schema/schema_bounds.h"
#include "proxy/content/schema/schema_check.h"
#include "proxy/content/schema/schema_compiler.h"
#include "proxy/content/schema/schema_defaults.h"

namespace sluice::content {
namespace {

constexpr std::size_t kMaxMessageBytes = 300;

/// Returns one line of bounded length.
std::string tidied(std::string message) {
  if (message.size() > kMaxMessageBytes) {
    std::size_t end = kMaxMessageBytes;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80)
      --end;  // do not cut inside a UTF-8 sequence
    message.resize(end);
    message += "...";
  }
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return message;
}

base::Error schemaError(const Value& document, const SchemaFault& fault) {
  const std::string pointer = pointerTo(document, *fault.at).value_or("");
  return base::Error::config((pointer.empty() ? "the schema" : tidied(pointer)) + ": " + tidied(fault.message));
}

/// Counts the values of a document, and stops at the first bound that it exceeds.
class DocumentSize {
 public:
  /// Returns the fault, or "".
  std::string measure(const Value& value, std::size_t depth) {
    if (depth > kMaxSchemaDepth) return "is nested deeper than " + std::to_string(kMaxSchemaDepth);
    if (++nodes_ > kMaxSchemaNodes) return "has more than " + std::to_string(kMaxSchemaNodes) + " values";
    std::string fault;
    const auto below = [&](const Value& each) { return (fault = measure(each, depth + 1)).empty(); };
    if (!std::all_of(value.items.begin(), value.items.end(), below)) return fault;
    for (const Member& member : value.members) {
      if (!below(member.value)) return fault;
    }
    return fault;
  }

 private:
  std::size_t nodes_ = 0;
};

}  // namespace

base::Result<JsonSchema> JsonSchema::compile(std::string_view text) {
  auto parsed = parseJson(text, {kMaxSchemaBytes, kMaxSchemaDepth});
  if (!parsed) return std::move(parsed).error();
  return compile(std::move(*parsed));
}

base::Result<JsonSchema> JsonSchema::compile(Value schema, const SchemaDocuments& known) {
  if (std::string fault = DocumentSize().measure(schema, 0); !fault.empty()) {
    return schemaError(schema, {&schema, std::move(fault)});
  }
  auto compiled = std::make_unique<CompiledSchema>();
  compiled->document = std::move(schema);
  const SchemaFault fault = SchemaCompiler(*compiled, known).run();
  if (fault) return schemaError(compiled->document, fault);
  return JsonSchema(std::shared_ptr<const CompiledSchema>(std::move(compiled)));
}

base::Status JsonSchema::checkDefaults() const {
  SchemaCheck check(*compiled_);
  for (const SchemaNode& node : compiled_->nodes) {
    if (node.defaultValue == nullptr) continue;
    const std::vector<SchemaFault> faults = check.run(node, *node.defaultValue);
    if (faults.empty()) continue;
    return schemaError(compiled_->document, {faults.front().at, "as a default, " + faults.front().message});
  }
  return base::Done{};
}

std::vector<JsonSchema::Violation> JsonSchema::check(const Value& value) const {
  std::vector<Violation> violations;
  for (SchemaFault& fault : SchemaCheck(*compiled_).run(*compiled_->root, value)) {
    violations.push_back({tidied(pointerTo(value, *fault.at).value_or("")), tidied(std::move(fault.message))});
  }
  return violations;
}

std::vector<JsonSchema::Violation> JsonSchema::apply(Value& value) const {
  std::vector<Violation> violations = check(value);
  if (!violations.empty()) return violations;
  if (std::string fault = fillDefaults(*compiled_, value); !fault.empty()) violations.push_back({"", std::move(fault)});
  return violations;
}

std::string describe(const std::vector<JsonSchema::Violation>& violations) {
  std::string text;
  for (const JsonSchema::Violation& violation : violations) {
    if (!text.empty()) text += "; ";
    text += violation.pointer.empty() ? violation.message : violation.pointer + ": " + violation.message;
  }
  return text;
}

}  // namespace sluice::content
