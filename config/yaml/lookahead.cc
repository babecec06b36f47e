#include "config/yaml/lookahead.h"

#include <array>

namespace sluice::config {
namespace {

/// The number of half tokens for each character. A string has two quotes, each of which is half a token. An opening
/// bracket and a comma include the token of a possible key. A comma also includes the token of an unquoted scalar, and
/// an opening bracket what the parser stores for it.
constexpr std::array<unsigned char, 256> kHalfTokens = [] {
  std::array<unsigned char, 256> table{};
  for (const char c : {'[', '{', ','}) table[static_cast<unsigned char>(c)] = 6;
  for (const char c : {']', '}', ':', '?', '&', '*', '!'}) table[static_cast<unsigned char>(c)] = 2;
  for (const char c : {'"', '\''}) table[static_cast<unsigned char>(c)] = 1;
  return table;
}();

constexpr bool isOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

constexpr std::string_view kSpaces = " \t\r\n";

/// Returns true for characters that occur in numbers, true, false and null.
constexpr bool isOfPlainScalar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || isOneOf(c, "+-.E");
}

}  // namespace

std::size_t Lookahead::take(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (json_ != JsonPart::kNone && isInString(text[at])) continue;
    halfTokens_ += kHalfTokens[static_cast<unsigned char>(text[at])];
    if (halfTokens_ > maxHalfTokens_) return at;
  }
  return std::string_view::npos;
}

bool Lookahead::isInString(char c) {
  switch (json_) {
    case JsonPart::kNone:
      return false;
    case JsonPart::kEscaped:
      json_ = JsonPart::kString;
      return true;
    case JsonPart::kString:
      if (c == '\\') json_ = JsonPart::kEscaped;
      if (c == '"') json_ = JsonPart::kBetween;
      return c != '"';
    case JsonPart::kBetween:
      json_ = partAfter(c);
      if (!isOneOf(c, kSpaces)) before_ = c;
      if (c == '[' || c == '{') ++depth_;
      // Another document may follow, and it may be something else than JSON.
      if ((c == ']' || c == '}') && --depth_ == 0) json_ = JsonPart::kNone;
      return false;
  }
  return false;
}

// In YAML, a quote after anything but a bracket, comma or colon belongs to an unquoted scalar. So does a colon after
// anything but a string.
Lookahead::JsonPart Lookahead::partAfter(char c) const {
  const bool begins = before_ == '\0';
  if (isOneOf(c, kSpaces)) return JsonPart::kBetween;
  if (c == '[' || c == '{') return begins || isOneOf(before_, "[{,:") ? JsonPart::kBetween : JsonPart::kNone;
  if (begins) return JsonPart::kNone;
  if (c == '"') return isOneOf(before_, "[{,:") ? JsonPart::kString : JsonPart::kNone;
  if (c == ':') return before_ == '"' ? JsonPart::kBetween : JsonPart::kNone;
  return isOneOf(c, "]},") || isOfPlainScalar(c) ? JsonPart::kBetween : JsonPart::kNone;
}

}  // namespace sluice::config
