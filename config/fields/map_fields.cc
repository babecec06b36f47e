#include "config/fields/map_fields.h"

#include <algorithm>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kKeysOfMostMaps = 8;

std::string join(const std::string& path, std::string_view key) {
  if (path.empty()) return std::string(key);
  return path + "." + std::string(key);
}

}  // namespace

std::string wrongKind(std::string_view expected, const Value& value) {
  std::string message("must be ");
  message.append(expected).append(", but is ").append(describe(value.kind));
  const bool scalar = value.kind == Value::Kind::kNumber || value.kind == Value::Kind::kBool;
  if (expected == "a string" && scalar) message += ": put it in quotes";
  // A text that is not a number was probably written without quotes.
  const bool number = !value.text.empty() && std::all_of(value.text.begin(), value.text.end(), isDigit);
  if (expected == "a number" && value.isString() && number) message += ": leave the quotes out";
  return message;
}

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

MapFields::MapFields(const Value* value, std::string path, Position position, ObjectContext& context)
    : value_(nullptr),
      given_(value != nullptr && !value->isNull()),
      path_(std::move(path)),
      position_(std::move(position)),
      context_(context),
      errorsBefore_(context.errors()) {
  if (!given_) return;
  position_ = value->position;
  if (value->isMap()) {
    value_ = value;
    known_.reserve(kKeysOfMostMaps);
  } else {
    context_.error(position_, path_, wrongKind("a map", *value));
  }
}

std::string MapFields::pathOf(std::string_view key) const { return join(path_, key); }

const Position& MapFields::positionOf(std::string_view key) const {
  const Value* field = value_ == nullptr ? nullptr : value_->find(key);
  return field == nullptr ? position_ : field->position;
}

Value MapFields::knownPart() const {
  Value part = *value_;
  std::erase_if(part.members, [this](const Member& member) {
    return member.value.isNull() || std::find(known_.begin(), known_.end(), member.key) == known_.end();
  });
  return part;
}

const Value* MapFields::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const Value* field = value_ == nullptr ? nullptr : value_->find(key);
  return field == nullptr || field->isNull() ? nullptr : field;
}

const Value* MapFields::require(std::string_view key) {
  const Value* field = find(key);
  if (field == nullptr) context_.error(position_, pathOf(key), "is required");
  return field;
}

void MapFields::unsupported(std::string_view key, std::string message, bool altersTraffic) {
  const Value* field = find(key);
  if (field != nullptr) addUnsupported({pathOf(key), field->position, std::move(message), altersTraffic});
}

void MapFields::error(std::string_view key, std::string message) {
  context_.error(positionOf(key), pathOf(key), std::move(message));
}

void MapFields::checkGoesWith(std::string_view key, bool wanted, const std::string& condition) {
  if (has(key) == wanted) return;
  error(key, (wanted ? "is required when " : "must not be given when ") + condition);
}

void MapFields::finish() {
  if (value_ == nullptr || othersIgnored_) return;
  othersIgnored_ = true;
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
