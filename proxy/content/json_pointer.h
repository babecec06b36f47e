// JSON Pointer (RFC 6901): refers to one value inside another.
//
// Plain value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

class JsonPointer {
 public:
  /// Refers to the whole value.
  JsonPointer() = default;
  /// Parses "" or "/model", with ~0 for '~' and ~1 for '/'. Errors have config's origin.
  static base::Result<JsonPointer> parse(std::string_view text);

  const std::vector<std::string>& tokens() const { return tokens_; }
  std::string text() const;

  /// Returns nullptr if there is no such value. Elements of lists are named by decimal numbers without leading zeros.
  const Value* find(const Value& root) const;
  Value* find(Value& root) const { return const_cast<Value*>(find(std::as_const(root))); }

 private:
  std::vector<std::string> tokens_;
};

/// Returns the pointer of `part`, which is the very object inside `whole`, or `whole` itself; nullopt if it is not
/// there.
std::optional<std::string> pointerTo(const Value& whole, const Value& part);

/// Returns the index of the list element that a step names: decimal without leading zeros (RFC 6901 section 4).
std::optional<std::size_t> listIndex(std::string_view token);

/// Returns one step of a pointer with its escapes: "a~1b" for "a/b".
std::string pointerToken(std::string_view name);

}  // namespace sluice::content
