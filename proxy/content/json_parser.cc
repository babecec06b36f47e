#include "proxy/content/json_parser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/base/text.h"
#include "proxy/content/json_bytes.h"

namespace sluice::content {
namespace {

std::string placed(const Position& at, std::string_view message) {
  return "line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ": " + std::string(message);
}

/// Returns the code of an escape that skipEscape() has accepted.
std::uint32_t codeOfEscape(const char* at, const char* end) {
  const auto first = static_cast<std::uint32_t>(codeOfHex(at + 2, end));
  if (!isHighSurrogate(first)) return first;
  const auto second = static_cast<std::uint32_t>(codeOfHex(at + 8, end));
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

}  // namespace

base::Result<Value> JsonParser::parse() {
  Value value;
  bool whole = takeValue(value);
  if (whole) {
    skipSpaces();
    whole = at_ == end_ || fail("more follows behind the value");
  }
  if (!whole) return base::Error::config(std::move(fault_));
  if (!repetition_.empty()) return base::Error::config(std::move(repetition_));
  return value;
}

bool JsonParser::takeValue(Value& value) {
  skipSpaces();
  if (at_ == end_) return fail(depth_ == 0 ? "has no value" : "a value is expected");
  value.position = here();
  switch (*at_) {
    case '{':
      return takeMap(value);
    case '[':
      return takeList(value);
    case '"':
      value.kind = Value::Kind::kString;
      return takeString(value.text);
    case 't':
      return takeWord(value, Value::Kind::kBool, "true");
    case 'f':
      return takeWord(value, Value::Kind::kBool, "false");
    case 'n':
      return takeWord(value, Value::Kind::kNull, "null");
    default:
      return takeNumber(value);
  }
}

bool JsonParser::enter() {
  if (depth_ == mostDepth_) return fail("nesting exceeds " + std::to_string(mostDepth_) + " lists and maps");
  ++depth_;
  ++at_;
  return true;
}

bool JsonParser::takeMap(Value& map) {
  map.kind = Value::Kind::kMap;
  if (!enter()) return false;
  if (!takes('}')) {
    do {
      if (!takeMember(map)) return false;
    } while (takes(','));
    if (!takes('}')) return fail("a comma or the end of the map is expected");
  }
  --depth_;
  checkNames(map);
  return true;
}

bool JsonParser::takeMember(Value& map) {
  skipSpaces();
  if (!isNext('"')) return fail("a name in quotes is expected");
  Member& member = map.members.emplace_back();
  member.position = here();
  if (!takeString(member.key)) return false;
  if (!takes(':')) return fail("a colon is expected");
  return takeValue(member.value);
}

bool JsonParser::takeList(Value& list) {
  list.kind = Value::Kind::kList;
  if (!enter()) return false;
  if (!takes(']')) {
    do {
      if (!takeValue(list.items.emplace_back())) return false;
    } while (takes(','));
    if (!takes(']')) return fail("a comma or the end of the list is expected");
  }
  --depth_;
  return true;
}

bool JsonParser::takeString(std::string& string) {
  ++at_;
  for (;;) {
    const char* const plain = skipPlain(at_, end_);
    string.append(at_, plain);
    at_ = plain;
    if (at_ == end_) return fail("the end of the string is missing");
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte == '"') break;
    if (byte == '\\') {
      if (!takeEscape(string)) return false;
      continue;
    }
    if (byte < 0x20) return fail("a control character is not escaped");
    const char* const behind = skipCharacter(at_, end_);
    if (behind == nullptr) return fail("a string is not UTF-8");
    string.append(at_, behind);
    at_ = behind;
  }
  ++at_;
  return true;
}

bool JsonParser::takeEscape(std::string& string) {
  const char* const behind = skipEscape(at_, end_);
  if (behind == nullptr) {
    const int code = end_ - at_ > 1 && at_[1] == 'u' ? codeOfHex(at_ + 2, end_) : -1;
    const auto unit = static_cast<std::uint32_t>(code);
    const bool half = code >= 0 && (isHighSurrogate(unit) || isLowSurrogate(unit));
    return fail(half ? "Half of a surrogate pair" : "no such escape");
  }
  if (at_[1] == 'u') {
    char bytes[4];
    string.append(bytes, writeUtf8(bytes, codeOfEscape(at_, end_)));
  } else {
    string += escapeMeans(at_[1]);
  }
  at_ = behind;
  return true;
}

bool JsonParser::takeNumber(Value& number) {
  const char* const begin = at_;
  number.kind = Value::Kind::kNumber;
  if (isNext('-')) ++at_;
  if (isNext('0')) {
    ++at_;
  } else if (!takeDigits()) {
    return fail(at_ == begin ? "a value is expected" : "a digit is expected");
  }
  if (isNext('.')) {
    ++at_;
    if (!takeDigits()) return fail("a digit is expected");
  }
  if (isNext('e') || isNext('E')) {
    ++at_;
    if (isNext('+') || isNext('-')) ++at_;
    if (!takeDigits()) return fail("a digit is expected");
  }
  number.text.assign(begin, at_);
  return true;
}

/// Takes at least one digit.
bool JsonParser::takeDigits() {
  const char* const begin = std::exchange(at_, skipDigits(at_, end_));
  return at_ != begin;
}

bool JsonParser::takeWord(Value& value, Value::Kind kind, std::string_view word) {
  if (!std::string_view(at_, end_).starts_with(word)) return fail("a value is expected");
  at_ += word.size();
  value.kind = kind;
  if (kind == Value::Kind::kBool) value.text = word;
  return true;
}

bool JsonParser::takes(char punctuation) {
  skipSpaces();
  if (!isNext(punctuation)) return false;
  ++at_;
  return true;
}

void JsonParser::skipSpaces() { at_ = skipSpace(at_, end_); }

bool JsonParser::fail(std::string message) {
  fault_ = placed(here(), message);
  return false;
}

Position JsonParser::here() {
  for (; counted_ < at_; ++counted_) {
    if (*counted_ != '\n') continue;
    ++line_;
    lineBegin_ = counted_ + 1;
  }
  return {nullptr, line_, static_cast<std::uint32_t>(at_ - lineBegin_ + 1)};
}

// Sorts the names, because a map of a hostile text may have very many.
void JsonParser::checkNames(const Value& map) {
  if (!repetition_.empty()) return;
  std::vector<const Member*> members;
  members.reserve(map.members.size());
  for (const Member& member : map.members) members.push_back(&member);
  std::stable_sort(members.begin(), members.end(),
                   [](const Member* one, const Member* other) { return one->key < other->key; });
  const auto twin = std::adjacent_find(members.begin(), members.end(),
                                       [](const Member* one, const Member* other) { return one->key == other->key; });
  if (twin != members.end()) repetition_ = placed((*(twin + 1))->position, "repeats " + base::quote((*twin)->key));
}

}  // namespace sluice::content
