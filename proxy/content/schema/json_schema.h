// JSON Schema 2020-12, which the config of a payload processor must satisfy.
//
// Compiled once, then immutable and shared by all holders of a copy, on any thread. It supports the whole dialect:
// `format` is an annotation, as the specification says, and `pattern` has RE2's syntax. References lead to schemas in
// the same document and in documents that the caller knows, which are the meta-schemas of the dialect unless it names
// others; nothing is ever loaded. schema_bounds.h bounds the schema, and the work of checking a value.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/schema/meta_schemas.h"
#include "proxy/content/value.h"

namespace sluice::content {

struct CompiledSchema;

class JsonSchema {
 public:
  /// One fault of a value. Both are one line of bounded length, and may quote the value.
  struct Violation {
    std::string pointer;  // JSON Pointer of the faulty part; empty for the whole
    std::string message;
  };

  /// Compiles a schema. Errors have config's origin and begin with the JSON Pointer of the faulty part.
  static base::Result<JsonSchema> compile(std::string_view text);
  static base::Result<JsonSchema> compile(Value schema, const SchemaDocuments& known = metaSchemaText);

  /// Fails if a default does not satisfy the schema that contains it. The specification allows that, so it is no fault
  /// of the schema itself.
  base::Status checkDefaults() const;

  /// Returns the faults of the value, at most kMaxViolations.
  std::vector<Violation> check(const Value& value) const;
  /// Returns the faults of the value as it is. If there are none, fills in the defaults of the schema; if they exceed a
  /// bound, that is a fault, and the value must not be used.
  std::vector<Violation> apply(Value& value) const;

 private:
  explicit JsonSchema(std::shared_ptr<const CompiledSchema> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const CompiledSchema> compiled_;
};

/// Returns "/a: message; /b: message".
std::string describe(const std::vector<JsonSchema::Violation>& violations);

}  // namespace sluice::content
