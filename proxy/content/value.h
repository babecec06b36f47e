// A tree of values, independent of the text's format: configuration, the schemas of processors and JSON bodies are
// read into it.
//
// Plain values. Every node knows its position, so that a message can name file, line and column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::content {

/// The position at which a value was written. Line and column count from 1; 0 is unknown.
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
  /// A scalar's text: "true" or "false", a number as it was written, or the string itself. Empty for other kinds.
  std::string text;
  std::vector<Value> items;     // kList
  std::vector<Member> members;  // kMap, in the order of the text; keys are unique
  Position position;
  /// For a literal block ("|"), the column in which its lines begin, one below the other from the line after
  /// `position`; 0 for other values.
  std::uint32_t blockColumn = 0;

  bool isNull() const { return kind == Kind::kNull; }
  bool isString() const { return kind == Kind::kString; }
  bool isList() const { return kind == Kind::kList; }
  bool isMap() const { return kind == Kind::kMap; }

  /// Returns the value of `key`; nullptr if there is none or this is no map.
  const Value* find(std::string_view key) const;
};

/// One key of a map and its value.
struct Member {
  std::string key;
  Position position;  // the position of the key
  Value value;
};

/// Returns "null", "a boolean", "a number", "a string", "a list" or "a map", for messages.
std::string_view describe(Value::Kind kind);

}  // namespace sluice::content
