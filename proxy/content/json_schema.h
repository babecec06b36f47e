// JSON Schema 2020-12: what the config of a payload processor must be like (E-80, E-82..E-84).
//
// Compiled once, then immutable and shared by whoever holds a copy, on any thread. `format` is an annotation, as the
// specification has it. `pattern` is RE2's syntax and linear in time, and is not tried on long values.
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
  /// Longer strings than that, where a `pattern` applies, are violations.
  static constexpr std::size_t kMaxPatternedBytes = 1024;
  static constexpr std::size_t kMaxViolations = 20;

  /// One thing that is wrong with a value. One line; may quote the value.
  struct Violation {
    std::string pointer;  // JSON Pointer of the part that is wrong; empty: the whole
    std::string message;
  };

  /// Errors are config's and say where the schema is wrong. See checkSchemaDocument() for what no schema may have.
  static base::Result<JsonSchema> compile(std::string_view text);
  static base::Result<JsonSchema> compile(const Value& schema);

  /// Fills the schema's defaults in, then says what is wrong with the value; at most kMaxViolations.
  std::vector<Violation> apply(Value& value) const;

 private:
  struct Compiled;
  explicit JsonSchema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

/// "/a: message; /b: message".
std::string describe(const std::vector<JsonSchema::Violation>& violations);

}  // namespace sluice::content
