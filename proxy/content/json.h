// Reads JSON text (RFC 8259) into a Value, and writes it.
//
// Pure functions. Strict where leniency hides mistakes or lets two readers disagree: no duplicate names, comments,
// trailing commas or bytes behind the value, strings are UTF-8, and no escape is half of a surrogate pair. Numbers are
// kept as they were written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

struct JsonLimits {
  std::size_t bytes = 1024 * 1024;
  std::size_t depth = 64;  // the deepest nesting of maps and lists
};

/// Parses a text. Values know line and column, but no file. The error has config's origin and begins with the position:
/// "line 2, column 7: ...". It quotes nothing but the name of a member that is repeated.
base::Result<Value> parseJson(std::string_view text, const JsonLimits& limits = {});

/// Writes without spaces, members in their order. Numbers in a spelling of YAML that JSON does not have ("0x1F", "+1",
/// ".5") are converted to JSON's.
std::string writeJson(const Value& value);

/// Returns the number in JSON's spelling; a JSON number is returned unchanged.
std::string jsonNumber(std::string_view number);
/// Returns `text` with its quotes and escapes.
std::string jsonString(std::string_view text);

}  // namespace sluice::content
