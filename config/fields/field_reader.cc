#include "config/fields/field_reader.h"

#include <algorithm>
#include <charconv>

#include "config/fields/quantity.h"
#include "proxy/base/duration.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostOfALongList = 1024;

/// Returns an empty text if `value` is a text that obeys `rule`.
std::string textFault(const Value& value, const TextRule& rule) {
  if (!value.isString()) return wrongKind("a string", value);
  if (value.text.empty()) return "must not be empty";
  if (value.text.size() > rule.maxLength) return "is longer than " + std::to_string(rule.maxLength) + " bytes";
  if (rule.matches(value.text)) return {};
  std::string fault = "must be " + std::string(rule.expected) + ", but is " + base::quote(value.text);
  if (rule.hint != nullptr) fault += rule.hint(value.text);
  return fault;
}

/// Returns an empty text, and stores the number, if `value` is a decimal integer in `range`.
std::string integerFault(const Value& value, const NumberRange& range, std::int64_t& number) {
  if (value.kind != Value::Kind::kNumber) return wrongKind("a number", value);
  const char* end = value.text.data() + value.text.size();
  const auto [used, error] = std::from_chars(value.text.data(), end, number);
  const std::size_t digits = value.text.starts_with('-') ? 1 : 0;
  const bool leadingZero = value.text.size() > digits + 1 && value.text[digits] == '0';
  if (used != end || error == std::errc::invalid_argument || leadingZero) {
    return "must be a whole number in decimal, but is " + base::quote(value.text);
  }
  if (error == std::errc() && number >= range.least && number <= range.most) return {};
  return "must be between " + std::to_string(range.least) + " and " + std::to_string(range.most) + ", but is " +
         value.text;
}

}  // namespace

void FieldReader::refuseTrue(std::string_view key) {
  if (boolean(key, false)) refuse(key);
}

std::optional<std::string> readText(const Value& value, const std::string& path, const TextRule& rule,
                                    ObjectContext& context) {
  std::string fault = textFault(value, rule);
  if (fault.empty()) return value.text;
  context.error(value.position, path, std::move(fault));
  return std::nullopt;
}

std::optional<std::int64_t> readInteger(const Value& value, const std::string& path, const NumberRange& range,
                                        ObjectContext& context) {
  std::int64_t number = 0;
  std::string fault = integerFault(value, range, number);
  if (fault.empty()) return number;
  context.error(value.position, path, std::move(fault));
  return std::nullopt;
}

std::string FieldReader::text(std::string_view key, const Value& field, const TextRule& rule) {
  std::string fault = textFault(field, rule);
  if (fault.empty()) return field.text;
  error(key, std::move(fault));
  return {};
}

std::string FieldReader::text(std::string_view key, const TextRule& rule) {
  const Value* field = find(key);
  return field == nullptr ? std::string() : text(key, *field, rule);
}

std::string FieldReader::requiredText(std::string_view key, const TextRule& rule) {
  const Value* field = require(key);
  return field == nullptr ? std::string() : text(key, *field, rule);
}

std::string FieldReader::anyText(std::string_view key, std::size_t maxLength) {
  const Value* field = find(key);
  if (field == nullptr || (field->isString() && field->text.empty())) return {};
  return text(key, *field, TextRule{isAnyText, "text", maxLength});
}

bool FieldReader::boolean(std::string_view key, bool absent) {
  std::optional<bool> given;
  read(key, given);
  return given.value_or(absent);
}

std::optional<std::int64_t> FieldReader::integer(std::string_view key, std::int64_t minimum, std::int64_t maximum) {
  const Value* field = find(key);
  if (field == nullptr) return std::nullopt;
  return integer(key, *field, {minimum, maximum});
}

std::optional<std::int64_t> FieldReader::integer(std::string_view key, const Value& field, const NumberRange& range) {
  std::int64_t number = 0;
  std::string fault = integerFault(field, range, number);
  if (fault.empty()) return number;
  error(key, std::move(fault));
  return std::nullopt;
}

std::uint16_t FieldReader::port(std::string_view key) {
  return static_cast<std::uint16_t>(integer(key, 1, 65535).value_or(0));
}

std::optional<base::Duration> FieldReader::duration(std::string_view key) {
  const Value* field = find(key);
  return field == nullptr ? std::nullopt : duration(key, *field);
}

std::optional<base::Duration> FieldReader::duration(std::string_view key, const Value& field) {
  const std::optional<base::Duration> duration = field.isString() ? base::parseDuration(field.text) : std::nullopt;
  if (!duration) error(key, "must be a duration like 10s, 500ms or 1h30m, but is " + base::quote(field.text));
  return duration;
}

std::optional<std::uint64_t> FieldReader::quantity(std::string_view key, std::uint64_t minimum, std::uint64_t maximum) {
  const Value* given = find(key);
  if (given == nullptr) return std::nullopt;
  const bool scalar = given->kind == Value::Kind::kNumber || given->isString();
  const std::optional<std::uint64_t> quantity = scalar ? parseQuantity(given->text) : std::nullopt;
  if (!quantity) {
    error(key, "must be a quantity like 100, 64Ki or 2Mi, but is " + base::quote(given->text));
  } else if (*quantity < minimum || *quantity > maximum) {
    error(key,
          "must be between " + std::to_string(minimum) + " and " + std::to_string(maximum) + ", but is " + given->text);
  } else {
    return quantity;
  }
  return std::nullopt;
}

std::optional<std::size_t> FieldReader::choiceIndex(std::string_view key, const Value& field,
                                                    std::span<const std::string_view> words, bool ignoreCase) {
  if (!field.isString()) {
    error(key, wrongKind("a string", field));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (ignoreCase ? base::equalsIgnoringCase(field.text, words[i]) : field.text == words[i]) return i;
  }
  error(key, "must be " + base::joinChoices(words) + ", but is " + base::quote(field.text));
  return std::nullopt;
}

std::string_view FieldReader::word(FieldKey key, std::span<const std::string_view> words, std::string_view absent) {
  const Value* field = valueOf(key);
  if (field == nullptr) return absent;
  const std::optional<std::size_t> index = choiceIndex(key.name, *field, words, /*ignoreCase=*/false);
  return index ? words[*index] : absent;
}

std::vector<Item> FieldReader::list(std::string_view key, std::size_t maxItems) {
  return list(key, find(key), maxItems);
}

std::vector<Item> FieldReader::list(std::string_view key, const Value* field, std::size_t maxItems) {
  std::vector<Item> items;
  if (field == nullptr) return items;
  if (!field->isList()) {
    error(key, wrongKind("a list", *field));
    return items;
  }
  if (field->items.size() > maxItems) {
    error(key, "has " + std::to_string(field->items.size()) + " items; at most " + std::to_string(maxItems) +
                   " are allowed");
  }
  // Reads only part of a list that is far too long, so that it does not cause an error for each of its elements.
  const std::size_t read = std::min(field->items.size(), std::max(maxItems, kMostOfALongList));
  const std::string path = pathOf(key) + "[";
  items.reserve(read);
  for (std::size_t i = 0; i < read; ++i) items.push_back(Item{&field->items[i], path + std::to_string(i) + "]"});
  return items;
}

std::vector<std::string> FieldReader::texts(std::string_view key, const TextRule& rule, std::size_t maxItems) {
  return texts(list(key, maxItems), rule);
}

std::vector<std::string> FieldReader::texts(const std::vector<Item>& items, const TextRule& rule) const {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const Item& item : items) {
    if (std::optional<std::string> text = readText(*item.value, item.path, rule, context()))
      texts.push_back(std::move(*text));
  }
  return texts;
}

std::map<std::string, std::string> FieldReader::textMap(std::string_view key, std::size_t maxLength) {
  std::map<std::string, std::string> texts;
  const Value* field = find(key);
  if (field == nullptr) return texts;
  if (!field->isMap()) {
    error(key, wrongKind("a map", *field));
    return texts;
  }
  for (const Member& member : field->members) {
    const std::string path = pathOf(key) + "[" + base::quote(member.key) + "]";
    if (!member.value.isString()) {
      context().error(member.value.position, path, wrongKind("a string", member.value));
    } else if (member.value.text.size() > maxLength) {
      context().error(member.value.position, path, "is longer than " + std::to_string(maxLength) + " bytes");
    } else {
      texts.emplace(member.key, member.value.text);
    }
  }
  return texts;
}

std::vector<Item> FieldReader::listOfSome(std::string_view key, std::size_t maxItems) {
  std::vector<Item> items = list(key, maxItems);
  if (items.empty() && has(key)) error(key, "must have at least one item");
  return items;
}

FieldReader FieldReader::map(std::string_view key) { return map(key, find(key)); }

FieldReader FieldReader::map(std::string_view key, const Value* field) const {
  FieldReader reader(field, pathOf(key), position(), context());
  if (unsupportedList() != nullptr) reader.collectUnsupported(*unsupportedList());
  return reader;
}

FieldReader FieldReader::map(const Item& item) const {
  FieldReader reader(item.value, item.path, item.value->position, context());
  if (unsupportedList() != nullptr) reader.collectUnsupported(*unsupportedList());
  if (item.value->isNull()) context().error(item.value->position, item.path, "must be a map, but is null");
  return reader;
}

FieldReader& FieldReader::read(FieldKey key, bool& member) {
  std::optional<bool> given;
  read(key, given);
  member = given.value_or(member);
  return *this;
}

FieldReader& FieldReader::read(FieldKey key, std::optional<bool>& member) {
  const Value* field = valueOf(key);
  if (field == nullptr) return *this;
  if (field->kind == Value::Kind::kBool) {
    member = field->text == "true";
  } else {
    error(key.name, wrongKind("true or false", *field));
  }
  return *this;
}

FieldReader& FieldReader::read(FieldKey key, base::Duration& member, const TimeRule& rule) {
  std::optional<base::Duration> given = member;
  read(key, given, rule);
  member = *given;
  return *this;
}

FieldReader& FieldReader::read(FieldKey key, std::optional<base::Duration>& member, const TimeRule& rule) {
  const Value* field = valueOf(key);
  const std::optional<base::Duration> given = field == nullptr ? std::nullopt : duration(key.name, *field);
  if (!given) return *this;
  member = given;
  if (*given < rule.least || *given > rule.most) error(key.name, std::string(rule.fault));
  return *this;
}

FieldReader& FieldReader::read(FieldKey key, std::string& member, const TextRule& rule) {
  if (const Value* field = valueOf(key)) member = text(key.name, *field, rule);
  return *this;
}

FieldReader& FieldReader::read(FieldKey key, std::string& member, std::span<const std::string_view> words) {
  member = word(key, words, member);
  return *this;
}

FieldReader& FieldReader::read(FieldKey key, std::vector<std::string>& member, const TextRule& rule,
                               std::size_t maxItems) {
  if (const Value* field = valueOf(key)) member = texts(list(key.name, field, maxItems), rule);
  return *this;
}

}  // namespace sluice::config
