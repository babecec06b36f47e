#include "filters/expression/text_functions.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "proxy/base/text.h"

namespace sluice::filters {
namespace {

constexpr std::string_view kTextTooLong = "a value is too long";

/// Returns where `part` begins in `text`, or npos. The C library looks for it in linear time.
std::size_t placeOf(std::string_view part, std::string_view text) {
  if (part.size() > text.size()) return std::string_view::npos;
  const void* const found = memmem(text.data(), text.size(), part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// Returns the bytes of the first character of a text that is not empty.
std::size_t characterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (size > text.size()) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return size;
}

/// Returns the bytes of the white space of Unicode (property White_Space) that `text` begins with; 0 if it does not.
std::size_t spaceSize(std::string_view text) {
  const char first = text.front();
  if (first == ' ' || (first >= '\t' && first <= '\r')) return 1;
  const std::string_view character = text.substr(0, characterSize(text));
  if (character == "\u0085" || character == "\u00A0") return 2;
  const bool isSpace = character == "\u1680" || (character >= "\u2000" && character <= "\u200A") ||
                       character == "\u2028" || character == "\u2029" || character == "\u202F" ||
                       character == "\u205F" || character == "\u3000";
  return isSpace && character.size() == 3 ? 3 : 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && spaceSize(text) > 0) text.remove_prefix(spaceSize(text));
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (spaceSize(text.substr(begin)) != text.size() - begin) break;
    text = text.substr(0, begin);
  }
  return text;
}

Datum withCase(std::string_view text, bool lower, Meter& meter) {
  char* const room = meter.bytes(text.size());
  if (room == nullptr) return Datum::error(kTextTooLong);
  std::transform(text.begin(), text.end(), room, [lower](char c) {
    if (lower) return base::toLower(c);
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return Datum::string({room, text.size()});
}

/// Finds one occurrence after the other. An empty part occurs in front of each character and at the end.
class Occurrences {
 public:
  Occurrences(std::string_view text, std::string_view part) : text_(text), part_(part) {}

  /// Returns the text between the last occurrence and the next one, and moves behind that one; false if there is none.
  bool next(std::string_view& before) {
    const std::size_t length = part_.empty() ? toBoundary() : placeOf(part_, text_.substr(begin_));
    if (length == std::string_view::npos) return false;
    before = text_.substr(begin_, length);
    begin_ += length + part_.size();
    isFirst_ = false;
    return true;
  }
  std::string_view rest() const { return text_.substr(begin_); }

 private:
  std::size_t toBoundary() const {
    if (isFirst_) return 0;
    return begin_ == text_.size() ? std::string_view::npos : characterSize(text_.substr(begin_));
  }

  const std::string_view text_;
  const std::string_view part_;
  std::size_t begin_ = 0;
  bool isFirst_ = true;
};

Datum replaced(std::string_view text, std::string_view part, std::string_view by, std::int64_t most, Meter& meter) {
  const auto bound = most < 0 ? std::numeric_limits<std::int64_t>::max() : most;
  std::string_view before;
  std::size_t count = 0;
  Occurrences counted(text, part);
  while (static_cast<std::int64_t>(count) < bound && meter.spend(Meter::kPieceSteps) && counted.next(before)) ++count;
  if (count > 0 && by.size() > Meter::kMostMadeBytes / count) return Datum::error(kTextTooLong);
  const std::size_t size = text.size() - count * part.size() + count * by.size();
  char* const room = meter.bytes(size);
  if (room == nullptr || !meter.step(size)) return Datum::error(kTextTooLong);
  Occurrences found(text, part);
  char* to = room;
  for (std::size_t i = 0; i < count && found.next(before); ++i) {
    to = std::copy(before.begin(), before.end(), to);
    to = std::copy(by.begin(), by.end(), to);
  }
  const std::string_view rest = found.rest();
  std::copy(rest.begin(), rest.end(), to);
  return Datum::string({room, size});
}

/// An empty separator cuts between characters; `most` bounds the pieces, of which the last one keeps the rest.
Datum splitBy(std::string_view text, std::string_view separator, std::int64_t most, Meter& meter) {
  const auto bound = most < 0 ? std::numeric_limits<std::int64_t>::max() : most;
  if (bound == 0 || (separator.empty() && text.empty())) return Datum::list({});
  const auto walk = [&](auto&& take) {
    std::string_view piece;
    Occurrences found(text, separator);
    if (separator.empty()) found.next(piece);
    std::int64_t taken = 1;
    while (taken < bound && found.next(piece)) {
      if (!take(piece) || (separator.empty() && found.rest().empty())) return;
      ++taken;
    }
    take(found.rest());
  };
  std::size_t count = 0;
  walk([&](std::string_view) {
    ++count;
    return meter.spend(Meter::kPieceSteps);
  });
  auto* const items = meter.isExhausted() ? nullptr : meter.array<Datum>(count);
  if (items == nullptr) return Datum::error(kTextTooLong);
  Datum* to = items;
  walk([&](std::string_view piece) {
    *to++ = Datum::string(piece);
    return true;
  });
  return Datum::list({items, count});
}

Datum cutOut(std::string_view text, std::int64_t from, const Datum* to) {
  const Datum wrong = Datum::error("a position is outside of the string");
  if (from < 0 || (to != nullptr && to->asInt() < from)) return wrong;
  std::size_t begin = 0;
  std::int64_t at = 0;
  for (; at < from && begin < text.size(); ++at) begin += characterSize(text.substr(begin));
  if (at < from) return wrong;
  if (to == nullptr) return Datum::string(text.substr(begin));
  std::size_t end = begin;
  for (; at < to->asInt() && end < text.size(); ++at) end += characterSize(text.substr(end));
  return at < to->asInt() ? wrong : Datum::string(text.substr(begin, end - begin));
}

/// Returns the optional bound of replace() and split(); -1 if it is not given.
std::int64_t boundOf(std::span<const Datum> arguments, std::size_t at) {
  return arguments.size() > at ? arguments[at].asInt() : -1;
}

/// Returns true if the first `strings` arguments are strings and the others integers.
bool haveTypes(std::span<const Datum> arguments, std::size_t strings) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is(i < strings ? DatumType::kString : DatumType::kInt)) return false;
  }
  return true;
}

std::size_t stringsOf(Function function) {
  if (function == Function::kReplace) return 3;
  return function == Function::kSubstring || function == Function::kTrim ? 1 : 2;
}

}  // namespace

std::size_t countCharacters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(characterSize(text));
  return count;
}

Datum callTextFunction(Function function, std::span<const Datum> arguments, Meter& meter) {
  if (!haveTypes(arguments, stringsOf(function))) return noOverload();
  const std::string_view text = arguments[0].text();
  if (!meter.step(text.size())) return Datum::error("the evaluation takes too many steps");
  switch (function) {
    case Function::kStartsWith:
      return Datum::boolean(text.starts_with(arguments[1].text()));
    case Function::kEndsWith:
      return Datum::boolean(text.ends_with(arguments[1].text()));
    case Function::kContains:
      return Datum::boolean(placeOf(arguments[1].text(), text) != std::string_view::npos);
    case Function::kLowerAscii:
    case Function::kUpperAscii:
      return withCase(text, function == Function::kLowerAscii, meter);
    case Function::kTrim:
      return Datum::string(trimmed(text));
    case Function::kReplace:
      return replaced(text, arguments[1].text(), arguments[2].text(), boundOf(arguments, 3), meter);
    case Function::kSplit:
      return splitBy(text, arguments[1].text(), boundOf(arguments, 2), meter);
    case Function::kSubstring:
      return cutOut(text, arguments[1].asInt(), arguments.size() > 2 ? &arguments[2] : nullptr);
    case Function::kHas:
    case Function::kJson:
    case Function::kSize:
    case Function::kString:
    case Function::kInt:
    case Function::kDouble:
    case Function::kMatches:
      break;
  }
  return noOverload();
}

}  // namespace sluice::filters
