// Builds values in the program, as the common form of several spellings. A value gets the position of the text that it
// replaces. The default is the position of the map to which it is added.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

inline Value emptyMap(const Position& position) { return emptyValue(Value::Kind::kMap, position); }
inline Value textValue(std::string_view text, const Position& position) {
  return scalarValue(Value::Kind::kString, text, position);
}

/// Returns the member, which is valid until the next one is added.
inline Value& addMember(Value& map, std::string_view key, Value value) {
  Position position = value.position;
  return map.members.emplace_back(Member{std::string(key), std::move(position), std::move(value)}).value;
}

inline void addText(Value& map, std::string_view key, std::string_view text) {
  addMember(map, key, textValue(text, map.position));
}
inline void addFlag(Value& map, std::string_view key, bool flag) {
  addMember(map, key, scalarValue(Value::Kind::kBool, flag ? "true" : "false", map.position));
}
inline void addNumber(Value& map, std::string_view key, std::uint64_t number) {
  addMember(map, key, scalarValue(Value::Kind::kNumber, std::to_string(number), map.position));
}
inline Value& addMap(Value& map, std::string_view key) { return addMember(map, key, emptyMap(map.position)); }
inline Value& addList(Value& map, std::string_view key, const Position& position) {
  return addMember(map, key, emptyValue(Value::Kind::kList, position));
}
inline void addTexts(Value& map, std::string_view key, const std::vector<std::string>& texts,
                     const Position& position) {
  Value& list = addList(map, key, position);
  for (const std::string& text : texts) list.items.push_back(textValue(text, position));
}

}  // namespace sluice::config
