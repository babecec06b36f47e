// A FieldWriter writes members of a model as fields of a map: the opposite of a FieldReader (config/fields).
//
// Writers are tables, whose rows name a key and the member with its value:
//
//   void writeRetryBudget(const RetryBudgetFields& budget, FieldWriter& to) {
//     to.number("percent", budget.percent);
//     to.time("interval", ifSet(budget.interval));
//     to.list("servers", budget.servers, writeServer);
//   }
//
// An absent optional is left out, and so are empty texts and lists. The map must outlive the writer.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields/field_rules.h"
#include "config/ground/document.h"
#include "config/yaml/value_builder.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// Returns nullopt for zero and false, where these stand for an absent field.
template <typename T>
std::optional<T> ifSet(const T& value) {
  return value == T{} ? std::nullopt : std::optional<T>(value);
}
template <typename T>
std::optional<T> ifSet(const std::optional<T>& value) {
  return value ? ifSet(*value) : std::nullopt;
}

class FieldWriter {
 public:
  explicit FieldWriter(Value& map) : map_(map) {}

  /// Returns the number of fields in the map.
  std::size_t size() const { return map_.members.size(); }

  FieldWriter& text(std::string_view key, std::string_view text);
  /// Writes an empty text too.
  FieldWriter& anyText(std::string_view key, std::string_view text);
  FieldWriter& texts(std::string_view key, const std::vector<std::string>& texts);
  FieldWriter& textMap(std::string_view key, const std::map<std::string, std::string>& texts);
  FieldWriter& flag(std::string_view key, const std::optional<bool>& flag);
  FieldWriter& time(std::string_view key, const std::optional<base::Duration>& time);
  template <std::integral T>
  FieldWriter& number(std::string_view key, const std::optional<T>& number) {
    if (number) addScalar(key, Value::Kind::kNumber, std::to_string(*number));
    return *this;
  }
  template <std::integral T>
  FieldWriter& number(std::string_view key, T number) {
    return this->number(key, std::optional<T>(number));
  }
  template <std::integral T>
  FieldWriter& numbers(std::string_view key, const std::vector<T>& numbers) {
    if (numbers.empty()) return *this;
    Value& list = addList(map_, key, map_.position);
    for (const T each : numbers) {
      list.items.push_back(scalarValue(Value::Kind::kNumber, std::to_string(each), map_.position));
    }
    return *this;
  }
  /// Writes the word with that meaning. A meaning without a word is left out.
  template <typename T, std::size_t kCount>
  FieldWriter& word(std::string_view key, const T& meaning, const Choice<T> (&choices)[kCount]) {
    for (const Choice<T>& each : choices) {
      if (each.value == meaning) return text(key, each.word);
    }
    return *this;
  }
  /// Writes a value as it is.
  FieldWriter& value(std::string_view key, const std::optional<PackedValue>& value);

  /// Writes a map with `fields`. A map without fields is left out, except that of an optional, which says by its
  /// presence that all fields have their defaults.
  template <typename T, std::invocable<const T&, FieldWriter&> Fields>
  FieldWriter& map(std::string_view key, const T& model, Fields&& fields) {
    Value inner = mapOf(model, fields);
    if (!inner.members.empty()) addMember(map_, key, std::move(inner));
    return *this;
  }
  template <typename T, std::invocable<const T&, FieldWriter&> Fields>
  FieldWriter& map(std::string_view key, const std::optional<T>& model, Fields&& fields) {
    if (model) addMember(map_, key, mapOf(*model, fields));
    return *this;
  }
  template <typename T, std::invocable<const T&, FieldWriter&> Fields>
  FieldWriter& list(std::string_view key, const std::vector<T>& models, Fields&& fields) {
    if (models.empty()) return *this;
    Value& items = addList(map_, key, map_.position);
    for (const T& each : models) items.items.push_back(mapOf(each, fields));
    return *this;
  }

 private:
  template <typename T, typename Fields>
  Value mapOf(const T& model, Fields&& fields) const {
    Value inner = emptyMap(map_.position);
    FieldWriter writer(inner);
    fields(model, writer);
    return inner;
  }
  void addScalar(std::string_view key, Value::Kind kind, std::string_view text);

  Value& map_;
};

}  // namespace sluice::config
