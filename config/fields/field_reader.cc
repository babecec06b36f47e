#include "config/fields/field_reader.h"

#include <algorithm>
#include <charconv>

#include "proxy/base/duration.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostOfALongList = 1024;

/// Returns "must be a list, but is a string"; for a value that is almost right, the text suggests the correction.
std::string wrongKind(std::string_view expected, const Value& value) {
  std::string message("must be ");
  message.append(expected).append(", but is ").append(describe(value.kind));
  const bool scalar = value.kind == Value::Kind::kNumber || value.kind == Value::Kind::kBool;
  if (expected == "a string" && scalar) message += ": put it in quotes";
  // A text that is no number can have been written without quotes.
  const bool number = !value.text.empty() && std::all_of(value.text.begin(), value.text.end(), isDigit);
  if (expected == "a number" && value.isString() && number) message += ": leave the quotes out";
  return message;
}

std::string join(const std::string& path, std::string_view key) {
  if (path.empty()) return std::string(key);
  return path + "." + std::string(key);
}

}  // namespace

void ObjectContext::error(const Position& position, std::string field, std::string message) {
  ++illegible_;
  if (errors_++ == 0) firstError_ = field.empty() ? message : field + ": " + message;
  problems_.push_back(Problem{Severity::kError, position, object_, std::move(field), std::move(message)});
}

void ObjectContext::warning(const Position& position, std::string field, std::string message) {
  problems_.push_back(Problem{Severity::kWarning, position, object_, std::move(field), std::move(message)});
}

void ObjectContext::unknownField(const Position& position, std::string field, std::string message) {
  if (unknownFields_ == Severity::kError) {
    error(position, std::move(field), std::move(message));
  } else {
    ++illegible_;
    warning(position, std::move(field), std::move(message));
  }
}

FieldReader::FieldReader(const Value* value, std::string path, Position position, ObjectContext& context)
    : value_(nullptr), path_(std::move(path)), position_(std::move(position)), context_(context) {
  if (value == nullptr || value->isNull()) return;
  position_ = value->position;
  if (value->isMap()) {
    value_ = value;
  } else {
    context_.error(position_, path_, wrongKind("a map", *value));
  }
}

std::string FieldReader::pathOf(std::string_view key) const { return join(path_, key); }

const Position& FieldReader::positionOf(std::string_view key) const {
  const Value* field = value_ == nullptr ? nullptr : value_->find(key);
  return field == nullptr ? position_ : field->position;
}

const Value* FieldReader::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const Value* field = value_ == nullptr ? nullptr : value_->find(key);
  return field == nullptr || field->isNull() ? nullptr : field;
}

const Value* FieldReader::require(std::string_view key) {
  const Value* field = find(key);
  if (field == nullptr) context_.error(position_, pathOf(key), "is required");
  return field;
}

void FieldReader::unsupported(std::string_view key, std::string message, bool altersTraffic,
                              std::vector<UnsupportedField>& unsupported) {
  const Value* field = find(key);
  if (field == nullptr) return;
  unsupported.push_back(UnsupportedField{pathOf(key), field->position, std::move(message), altersTraffic});
}

std::optional<std::string> readText(const Value& value, const std::string& path, const TextRule& rule,
                                    ObjectContext& context) {
  std::string message;
  if (!value.isString()) {
    message = wrongKind("a string", value);
  } else if (value.text.empty()) {
    message = "must not be empty";
  } else if (value.text.size() > rule.maxLength) {
    message = "is longer than " + std::to_string(rule.maxLength) + " bytes";
  } else if (!rule.matches(value.text)) {
    message = "must be " + std::string(rule.expected) + ", but is " + base::quote(value.text);
    if (rule.hint != nullptr) message += rule.hint(value.text);
  } else {
    return value.text;
  }
  context.error(value.position, path, std::move(message));
  return std::nullopt;
}

std::optional<std::int64_t> readInteger(const Value& value, const std::string& path, std::int64_t minimum,
                                        std::int64_t maximum, ObjectContext& context) {
  const std::string range = "between " + std::to_string(minimum) + " and " + std::to_string(maximum);
  if (value.kind != Value::Kind::kNumber) {
    context.error(value.position, path, wrongKind("a number", value));
    return std::nullopt;
  }
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [used, error] = std::from_chars(value.text.data(), end, number);
  const std::size_t digits = value.text.starts_with('-') ? 1 : 0;
  const bool leadingZero = value.text.size() > digits + 1 && value.text[digits] == '0';
  if (used != end || error == std::errc::invalid_argument || leadingZero) {
    context.error(value.position, path, "must be a whole number in decimal, but is " + base::quote(value.text));
  } else if (error != std::errc() || number < minimum || number > maximum) {
    context.error(value.position, path, "must be " + range + ", but is " + value.text);
  } else {
    return number;
  }
  return std::nullopt;
}

std::string FieldReader::text(std::string_view key, const TextRule& rule) {
  const Value* field = find(key);
  return field == nullptr ? std::string() : readText(*field, pathOf(key), rule, context_).value_or("");
}

std::string FieldReader::requiredText(std::string_view key, const TextRule& rule) {
  return require(key) == nullptr ? std::string() : text(key, rule);
}

std::string FieldReader::anyText(std::string_view key, std::size_t maxLength) {
  const Value* field = find(key);
  if (field == nullptr || (field->isString() && field->text.empty())) return {};
  return text(key, TextRule{isAnyText, "text", maxLength});
}

bool FieldReader::boolean(std::string_view key, bool absent) {
  const Value* field = find(key);
  if (field == nullptr) return absent;
  if (field->kind == Value::Kind::kBool) return field->text == "true";
  error(key, wrongKind("true or false", *field));
  return absent;
}

std::optional<std::int64_t> FieldReader::integer(std::string_view key, std::int64_t minimum, std::int64_t maximum) {
  const Value* field = find(key);
  if (field == nullptr) return std::nullopt;
  return readInteger(*field, pathOf(key), minimum, maximum, context_);
}

std::uint16_t FieldReader::port(std::string_view key) {
  return static_cast<std::uint16_t>(integer(key, 1, 65535).value_or(0));
}

std::uint16_t FieldReader::requiredPort(std::string_view key) { return require(key) == nullptr ? 0 : port(key); }

std::optional<base::Duration> FieldReader::duration(std::string_view key) {
  const Value* field = find(key);
  if (field == nullptr) return std::nullopt;
  const std::optional<base::Duration> duration = field->isString() ? base::parseDuration(field->text) : std::nullopt;
  if (!duration) error(key, "must be a duration like 10s, 500ms or 1h30m, but is " + base::quote(field->text));
  return duration;
}

std::optional<std::size_t> FieldReader::choiceIndex(std::string_view key, std::span<const std::string_view> words,
                                                    bool ignoreCase) {
  const Value* field = find(key);
  if (field == nullptr) return std::nullopt;
  if (!field->isString()) {
    error(key, wrongKind("a string", *field));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (ignoreCase ? base::equalsIgnoringCase(field->text, words[i]) : field->text == words[i]) return i;
  }
  error(key, "must be " + base::joinChoices(words) + ", but is " + base::quote(field->text));
  return std::nullopt;
}

std::vector<Item> FieldReader::list(std::string_view key, std::size_t maxItems) {
  std::vector<Item> items;
  const Value* field = find(key);
  if (field == nullptr) return items;
  if (!field->isList()) {
    error(key, wrongKind("a list", *field));
    return items;
  }
  if (field->items.size() > maxItems) {
    error(key, "has " + std::to_string(field->items.size()) + " items; at most " + std::to_string(maxItems) +
                   " are allowed");
  }
  // A list that is far too long must not cost an error for each of its elements.
  const std::size_t most = std::max(maxItems, kMostOfALongList);
  for (std::size_t i = 0; i < field->items.size() && i < most; ++i) {
    items.push_back(Item{&field->items[i], pathOf(key) + "[" + std::to_string(i) + "]"});
  }
  return items;
}

std::vector<std::string> FieldReader::texts(std::string_view key, const TextRule& rule, std::size_t maxItems) {
  std::vector<std::string> texts;
  for (const Item& item : list(key, maxItems)) {
    if (std::optional<std::string> text = readText(*item.value, item.path, rule, context_))
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
      context_.error(member.value.position, path, wrongKind("a string", member.value));
    } else if (member.value.text.size() > maxLength) {
      context_.error(member.value.position, path, "is longer than " + std::to_string(maxLength) + " bytes");
    } else {
      texts.emplace(member.key, member.value.text);
    }
  }
  return texts;
}

FieldReader FieldReader::map(std::string_view key) { return FieldReader(find(key), pathOf(key), position_, context_); }

FieldReader FieldReader::map(const Item& item) const {
  FieldReader reader(item.value, item.path, item.value->position, context_);
  if (item.value->isNull()) context_.error(item.value->position, item.path, "must be a map, but is null");
  return reader;
}

void FieldReader::error(std::string_view key, std::string message) {
  context_.error(positionOf(key), pathOf(key), std::move(message));
}

void FieldReader::finish() {
  if (value_ == nullptr || othersIgnored_) return;
  for (const Member& member : value_->members) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    std::string message = "unknown field";
    const std::string_view meant = base::closestWord(member.key, known_);
    if (!meant.empty()) message += ": did you mean " + std::string(meant) + "?";
    context_.unknownField(member.position, join(path_, isHeaderName(member.key) ? member.key : base::quote(member.key)),
                          std::move(message));
  }
}

}  // namespace sluice::config
