// Builds values in the program, as the common form of several spellings. They get the position of the text that they
// stand for.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "config/ground/document.h"

namespace sluice::config {

inline Value emptyValue(Value::Kind kind, const Position& position) {
  Value value;
  value.kind = kind;
  value.position = position;
  return value;
}

/// Builds a scalar.
inline Value scalarValue(Value::Kind kind, std::string_view text, const Position& position) {
  Value value = emptyValue(kind, position);
  value.text = text;
  return value;
}

inline void addMember(Value& map, std::string_view key, Value value) {
  Position position = value.position;
  map.members.push_back(Member{std::string(key), std::move(position), std::move(value)});
}

}  // namespace sluice::config
