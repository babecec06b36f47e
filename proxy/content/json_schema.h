// JSON Schema 2020-12, which the config of a payload processor must satisfy.
//
// Compiled once, then immutable and shared by all holders of a copy, on any thread. `format` is an annotation, as the
// specification says. `pattern` has RE2's syntax, takes linear time, and is not tried on long values.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

class JsonSchema {
 public:
  static constexpr std::size_t kMaxTextBytes = 256 * 1024;
  /// A longer string is a violation where a `pattern` applies.
  static constexpr std::size_t kMaxPatternedBytes = 1024;
  static constexpr std::size_t kMaxViolations = 20;

  /// One fault of a value. One line; may quote the value.
  struct Violation {
    std::string pointer;  // JSON Pointer of the faulty part; empty for the whole
    std::string message;
  };

  /// Compiles a schema. Errors have config's origin and say where the schema is wrong. See checkSchemaDocument() for
  /// the features that no schema may use.
  static base::Result<JsonSchema> compile(std::string_view text);
  static base::Result<JsonSchema> compile(const Value& schema);

  /// Fills in the schema's defaults, then returns the faults of the value, at most kMaxViolations.
  std::vector<Violation> apply(Value& value) const;

 private:
  struct Compiled;
  explicit JsonSchema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

/// Returns "/a: message; /b: message".
std::string describe(const std::vector<JsonSchema::Violation>& violations);

}  // namespace sluice::content
