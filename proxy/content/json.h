// JSON text (RFC 8259) -> Value, and back.
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
  std::size_t depth = 64;  // maps and lists inside each other
};

/// Values know line and column; no file. The error is config's, and says where: "line 2, column 7: ...". It quotes
/// nothing but the name of a member that is repeated.
base::Result<Value> parseJson(std::string_view text, const JsonLimits& limits = {});

/// Without spaces, members in their order. Numbers that YAML writes in another way than JSON does ("0x1F", "+1", ".5")
/// become JSON's.
std::string writeJson(const Value& value);

/// The number in JSON's spelling; as it is if it is JSON's already.
std::string jsonNumber(std::string_view number);
/// `text` with its quotes and escapes.
std::string jsonString(std::string_view text);

}  // namespace sluice::content
