// A FieldReader reads the fields of a map into typed members and reports what is wrong with them. All checks of single
// fields are here.
//
// Most readers are tables, whose rows name a key, the member that takes its value, and the values that are allowed:
//
//   void readBudget(FieldReader& reader, RetryBudgetFields& budget) {
//     reader.read("percent", budget.percent, {0, 100});
//     reader.read(required("interval"), budget.interval, kNotZero);
//     reader.read("servers", budget.servers, kMaxServers, readServer);
//   }
//
// Reading goes on after an error, so that a user sees all errors at once. A reader is short-lived; see MapFields.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields/field_rules.h"
#include "config/fields/map_fields.h"
#include "config/ground/document.h"
#include "config/ground/patterns.h"
#include "proxy/base/clock.h"

namespace sluice::config {

class FieldReader : public MapFields {
 public:
  using MapFields::MapFields;

  /// Notes a field as not supported if it is true.
  void refuseTrue(std::string_view key);

  /// Returns an empty text if the field is absent or wrong. If the field is present, its text must not be empty.
  std::string text(std::string_view key, const TextRule& rule);
  std::string requiredText(std::string_view key, const TextRule& rule);
  /// Does the same as text(), but accepts an empty text.
  std::string anyText(std::string_view key, std::size_t maxLength);
  bool boolean(std::string_view key, bool absent);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t minimum, std::int64_t maximum);
  std::uint16_t port(std::string_view key);  // 0 if absent
  std::optional<base::Duration> duration(std::string_view key);
  /// Reads a number that may have a unit; see parseQuantity().
  std::optional<std::uint64_t> quantity(std::string_view key, std::uint64_t minimum, std::uint64_t maximum);

  /// Returns the meaning of the word, or `absent` if the field is absent or wrong.
  template <typename T, std::size_t kCount>
  T choice(FieldKey key, const Choice<T> (&choices)[kCount], T absent, bool ignoreCase = false) {
    read(key, absent, choices, ignoreCase);
    return absent;
  }

  /// Returns one of the words, or `absent` if the field is absent or wrong.
  std::string_view word(FieldKey key, std::span<const std::string_view> words, std::string_view absent);

  /// Returns the elements of a list; empty if it is absent. More than `maxItems` elements are an error. Then only about
  /// the first thousand are returned, for the readable part of the object.
  std::vector<Item> list(std::string_view key, std::size_t maxItems);
  /// Returns the valid elements of a list of texts.
  std::vector<std::string> texts(std::string_view key, const TextRule& rule, std::size_t maxItems);
  std::map<std::string, std::string> textMap(std::string_view key, std::size_t maxLength);
  /// Does the same as list(), but a list without elements is an error.
  std::vector<Item> listOfSome(std::string_view key, std::size_t maxItems);
  FieldReader map(std::string_view key);
  FieldReader map(const Item& item) const;

  // The functions for rows of tables. If the field is absent or wrong, the member keeps its value, but a wrong text
  // becomes empty. A duration and a list of texts are stored even if they break their rule.

  FieldReader& read(FieldKey key, bool& member);
  FieldReader& read(FieldKey key, std::optional<bool>& member);
  FieldReader& read(FieldKey key, base::Duration& member, const TimeRule& rule = {});
  FieldReader& read(FieldKey key, std::optional<base::Duration>& member, const TimeRule& rule = {});
  FieldReader& read(FieldKey key, std::string& member, const TextRule& rule);
  FieldReader& read(FieldKey key, std::string& member, std::span<const std::string_view> words);
  FieldReader& read(FieldKey key, std::vector<std::string>& member, const TextRule& rule, std::size_t maxItems);
  /// Reads a number into a member of any type of integers.
  template <std::integral T>
  FieldReader& read(FieldKey key, T& member, const NumberRange& range) {
    if (const Value* field = valueOf(key)) member = static_cast<T>(integer(key.name, *field, range).value_or(member));
    return *this;
  }
  template <std::integral T>
  FieldReader& read(FieldKey key, std::optional<T>& member, const NumberRange& range) {
    const Value* field = valueOf(key);
    if (field == nullptr) return *this;
    if (const auto number = integer(key.name, *field, range)) member = static_cast<T>(*number);
    return *this;
  }
  /// Reads one of several words, each with a meaning.
  template <typename Member, typename T, std::size_t kCount>
  FieldReader& read(FieldKey key, Member& member, const Choice<T> (&choices)[kCount], bool ignoreCase = false) {
    const Value* field = valueOf(key);
    if (field == nullptr) return *this;
    std::string_view words[kCount];
    for (std::size_t i = 0; i < kCount; ++i) words[i] = choices[i].word;
    if (const auto index = choiceIndex(key.name, *field, words, ignoreCase)) member = choices[*index].value;
    return *this;
  }
  /// Reads a map with `fields` if it is present. Its position and its unsupported fields are stored too, if the model
  /// has members for them.
  template <typename T, ReadsFields<T> Fields>
  FieldReader& read(FieldKey key, T& member, Fields&& fields) {
    if (const Value* field = valueOf(key)) map(key.name, field).readInto(member, fields);
    return *this;
  }
  template <typename T, ReadsFields<T> Fields>
  FieldReader& read(FieldKey key, std::optional<T>& member, Fields&& fields) {
    if (const Value* field = valueOf(key)) map(key.name, field).readInto(member.emplace(), fields);
    return *this;
  }
  /// Reads a list of such maps.
  template <typename T, ReadsFields<T> Fields>
  FieldReader& read(FieldKey key, std::vector<T>& member, std::size_t maxItems, Fields&& fields) {
    const std::vector<Item> items = list(key.name, valueOf(key), maxItems);
    member.reserve(member.size() + items.size());
    for (const Item& item : items) map(item).readInto(member.emplace_back(), fields);
    return *this;
  }
  /// Reads this map with `fields`, as read() reads a map inside it, and finishes it. Returns isLegible().
  template <typename T, ReadsFields<T> Fields>
  bool readInto(T& model, Fields&& fields) {
    if constexpr (HasPlace<T>) {
      model.path = path();
      model.position = position();
    }
    if constexpr (HoldsUnsupported<T>) collectUnsupported(model.unsupported);
    std::invoke(fields, *this, model);
    finish();
    return isLegible();
  }

 private:
  // These functions read the value that was found for a key; a null pointer stands for an absent field.

  std::string text(std::string_view key, const Value& field, const TextRule& rule);
  std::optional<std::int64_t> integer(std::string_view key, const Value& field, const NumberRange& range);
  std::optional<base::Duration> duration(std::string_view key, const Value& field);
  std::optional<std::size_t> choiceIndex(std::string_view key, const Value& field,
                                         std::span<const std::string_view> words, bool ignoreCase);
  std::vector<Item> list(std::string_view key, const Value* field, std::size_t maxItems);
  std::vector<std::string> texts(const std::vector<Item>& items, const TextRule& rule) const;
  FieldReader map(std::string_view key, const Value* field) const;
};

/// Returns `value` as a text if it obeys `rule`. Otherwise reports an error with `path` and returns nullopt.
std::optional<std::string> readText(const Value& value, const std::string& path, const TextRule& rule,
                                    ObjectContext& context);
/// Returns a decimal integer. If `value` is not one or is out of range, reports an error and returns nullopt.
std::optional<std::int64_t> readInteger(const Value& value, const std::string& path, const NumberRange& range,
                                        ObjectContext& context);

}  // namespace sluice::config
