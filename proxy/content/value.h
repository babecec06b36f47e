// A tree of values as texts write them, whatever their format is: what configuration, the schemas of processors and
// JSON bodies are read into.
//
// Plain values, owned by whoever holds them. Every node knows where it stands, so that a message can name file, line
// and column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::content {

/// Where something was written. Line and column count from 1; 0 is unknown.
struct Position {
  std::shared_ptr<const std::string> file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  std::string_view fileName() const { return file ? std::string_view(*file) : std::string_view(); }
};

struct Member;

struct Value {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kList, kMap };

  Kind kind = Kind::kNull;
  /// A scalar's text: "true" or "false", a number as it was written, or the string itself. Empty for the others.
  std::string text;
  std::vector<Value> items;     // kList
  std::vector<Member> members;  // kMap, in the order of the text; keys are unique
  Position position;
  /// Of a literal block ("|"): the column in which its lines begin, one below the other from the line after `position`.
  /// Else 0.
  std::uint32_t blockColumn = 0;

  bool isNull() const { return kind == Kind::kNull; }
  bool isString() const { return kind == Kind::kString; }
  bool isList() const { return kind == Kind::kList; }
  bool isMap() const { return kind == Kind::kMap; }

  /// The value of `key`; nullptr if there is none or this is no map.
  const Value* find(std::string_view key) const;
};

/// One key of a map and what it names.
struct Member {
  std::string key;
  Position position;  // of the key
  Value value;
};

/// "null", "a boolean", "a number", "a string", "a list", "a map": for messages.
std::string_view describe(Value::Kind kind);

}  // namespace sluice::content
