// Makes values from the types of C++: texts, numbers, flags, lists and maps.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "proxy/content/value.h"

namespace sluice::content {

inline Value makeScalar(Value::Kind kind, std::string text) {
  Value value;
  value.kind = kind;
  value.text = std::move(text);
  return value;
}

inline Value makeValue(Value value) { return value; }

inline Value makeValue(std::string_view text) { return makeScalar(Value::Kind::kString, std::string(text)); }

template <std::integral Number>
Value makeValue(Number number) {
  if constexpr (std::is_same_v<Number, bool>) {
    return makeScalar(Value::Kind::kBool, number ? "true" : "false");
  } else {
    return makeScalar(Value::Kind::kNumber, std::to_string(number));
  }
}

/// Returns a list of what `make` makes of each item.
template <typename Items, typename Make>
Value makeList(const Items& items, Make&& make) {
  Value list;
  list.kind = Value::Kind::kList;
  for (const auto& item : items) list.items.push_back(make(item));
  return list;
}

template <typename Item>
Value makeValue(const std::vector<Item>& items) {
  return makeList(items, [](const Item& item) { return makeValue(item); });
}

/// Returns what `make` makes of the thing; null if there is none.
template <typename Thing, typename Make>
Value makeOrNull(const std::optional<Thing>& thing, Make&& make) {
  return thing ? make(*thing) : Value();
}

/// A member of a map. It is left out if it has no value.
struct MapEntry {
  MapEntry(std::string_view name, Value thing) : key(name), value(std::move(thing)) {}
  template <typename Thing>
  MapEntry(std::string_view name, const Thing& thing) : key(name), value(makeValue(thing)) {}
  template <typename Thing>
  MapEntry(std::string_view name, const std::optional<Thing>& thing) : key(name) {
    if (thing) value = makeValue(*thing);
  }

  std::string_view key;
  mutable std::optional<Value> value;  // mutable, because an initializer list would have it copied otherwise
};

/// Returns the text for a member that is left out if the text is empty.
inline std::optional<std::string_view> ifAny(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Adds members to a map.
void addMembers(Value& map, std::initializer_list<MapEntry> entries);
/// Returns a map with these members. They are made in their order, as everything between braces is, so that they may
/// add lines to a text on the way.
Value makeMap(std::initializer_list<MapEntry> entries);

}  // namespace sluice::content
