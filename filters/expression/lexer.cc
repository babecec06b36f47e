#include "filters/expression/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/content/json_bytes.h"

namespace sluice::filters {
namespace {

constexpr std::array<std::string_view, 25> kMarks = {"==", "!=", "<=", ">=", "&&", "||", "<", ">", "+",
                                                     "-",  "*",  "/",  "%",  "!",  "?",  ":", ".", ",",
                                                     "(",  ")",  "[",  "]",  "{",  "}",  "="};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool beginsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continuesWord(char c) { return beginsWord(c) || isDigit(c); }

/// Returns the characters of a string's prefix in front of its quotes; npos if no string begins here.
std::size_t prefixOfString(std::string_view rest) {
  std::size_t size = 0;
  while (size < 2 && size < rest.size() && std::string_view("rRbB").find(rest[size]) != std::string_view::npos) ++size;
  return size < rest.size() && (rest[size] == '"' || rest[size] == '\'') ? size : std::string_view::npos;
}

/// Returns the meaning of an escape of one character (langdef.md, ESCAPE); NUL if there is none.
char simpleEscape(char c) {
  constexpr std::string_view kFrom = "abfnrtv\\?\"'`";
  constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\?\"'`";
  const std::size_t at = kFrom.find(c);
  return at == std::string_view::npos ? '\0' : kTo[at];
}

}  // namespace

base::Error expressionError(std::size_t position, std::string_view what) {
  return base::Error::config("at character " + std::to_string(position + 1) + ": " + std::string(what));
}

base::Result<Lexeme> ExpressionLexer::next() {
  skipSpace();
  const std::string_view rest = source_.substr(at_);
  Lexeme lexeme;
  lexeme.position = at_;
  if (rest.empty()) return lexeme;
  if (const std::size_t prefix = prefixOfString(rest); prefix != std::string_view::npos) return string(prefix);
  if (isDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && isDigit(rest[1]))) return number();
  if (beginsWord(rest[0])) {
    lexeme.kind = Lexeme::Kind::kName;
    const auto end = std::find_if_not(rest.begin(), rest.end(), continuesWord);
    lexeme.text = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  } else {
    const auto* const mark =
        std::find_if(kMarks.begin(), kMarks.end(), [&](auto each) { return rest.starts_with(each); });
    if (mark == kMarks.end()) return expressionError(at_, base::quote(rest.substr(0, 1)) + " is not part of any token");
    lexeme.kind = Lexeme::Kind::kMark;
    lexeme.text = *mark;
  }
  at_ += lexeme.text.size();
  return lexeme;
}

void ExpressionLexer::skipSpace() {
  while (true) {
    at_ = std::min(source_.find_first_not_of(" \t\r\n\f", at_), source_.size());
    if (!source_.substr(at_).starts_with("//")) return;
    at_ = std::min(source_.find('\n', at_), source_.size());
  }
}

base::Result<Lexeme> ExpressionLexer::number() {
  const std::string_view rest = source_.substr(at_);
  const auto digitsFrom = [&](std::size_t from) {
    while (from < rest.size() && isDigit(rest[from])) ++from;
    return from;
  };
  const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
  std::size_t size = digitsFrom(0);
  bool real = false;
  if (hex) {
    size = std::min(rest.find_first_not_of("0123456789abcdefABCDEF", 2), rest.size());
  } else {
    if (size + 1 < rest.size() && rest[size] == '.' && isDigit(rest[size + 1])) {
      real = true;
      size = digitsFrom(size + 1);
    }
    if (size < rest.size() && (rest[size] == 'e' || rest[size] == 'E')) {
      const bool sign = size + 1 < rest.size() && (rest[size + 1] == '+' || rest[size + 1] == '-');
      const std::size_t digits = size + (sign ? 2 : 1);
      if (digitsFrom(digits) == digits) return expressionError(at_, "the exponent of a number has no digits");
      real = true;
      size = digitsFrom(digits);
    }
  }
  Lexeme lexeme{real ? Lexeme::Kind::kDouble : Lexeme::Kind::kInt, at_, rest.substr(0, size), {}, 0, 0};
  if (size < rest.size() && (rest[size] == 'u' || rest[size] == 'U') && !real) {
    return expressionError(at_, "unsigned integers are not supported");
  }
  if (size < rest.size() && continuesWord(rest[size])) return expressionError(at_, "a number ends in a letter");
  const char* const begin = rest.data() + (hex ? 2 : 0);
  const char* const end = rest.data() + size;
  const auto read = real  ? std::from_chars(begin, end, lexeme.real)
                    : hex ? std::from_chars(begin, end, lexeme.magnitude, 16)
                          : std::from_chars(begin, end, lexeme.magnitude);
  if (read.ec == std::errc::result_out_of_range) return expressionError(at_, "a number is out of range");
  if (read.ec != std::errc() || read.ptr != end) return expressionError(at_, "a number has no digits");
  at_ += size;
  return lexeme;
}

base::Result<Lexeme> ExpressionLexer::string(std::size_t prefix) {
  const std::size_t begin = at_;
  bool raw = false;
  for (const char c : source_.substr(at_, prefix)) {
    if (c == 'b' || c == 'B') return expressionError(begin, "literals of bytes are not supported");
    if (raw) return expressionError(begin, "a string has two prefixes");
    raw = true;
  }
  at_ += prefix;
  const std::string_view one = source_.substr(at_, 1);
  const std::string three(3, one.front());
  const bool isLong = source_.substr(at_).starts_with(three);
  const std::string_view closing = isLong ? std::string_view(three) : one;
  at_ += closing.size();
  Lexeme lexeme{Lexeme::Kind::kString, begin, {}, {}, 0, 0};
  while (at_ < source_.size()) {
    const char c = source_[at_];
    if (source_.substr(at_).starts_with(closing)) {
      at_ += closing.size();
      lexeme.text = source_.substr(begin, at_ - begin);
      return lexeme;
    }
    if (!isLong && (c == '\n' || c == '\r')) return expressionError(at_, "a string in single quotes spans lines");
    ++at_;
    if (c != '\\' || raw) {
      lexeme.string += c;
      continue;
    }
    const std::size_t escaped = at_ - 1;
    if (const std::string_view wrong = escape(lexeme.string); !wrong.empty()) return expressionError(escaped, wrong);
  }
  return expressionError(begin, "the string has no end");
}

std::string_view ExpressionLexer::escape(std::string& to) {
  constexpr std::string_view kNone = "there is no such escape";
  if (at_ == source_.size()) return kNone;
  const char kind = source_[at_];
  if (const char meant = simpleEscape(kind); meant != '\0') {
    ++at_;
    to += meant;
    return {};
  }
  if (kind >= '0' && kind <= '3') return codePoint(to, 3, 8);
  ++at_;
  if (kind == 'x' || kind == 'X') return codePoint(to, 2, 16);
  if (kind == 'u') return codePoint(to, 4, 16);
  if (kind == 'U') return codePoint(to, 8, 16);
  return kNone;
}

std::string_view ExpressionLexer::codePoint(std::string& to, std::size_t digits, int base) {
  const std::string_view text = source_.substr(at_, digits);
  std::uint32_t code = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), code, base);
  if (text.size() != digits || read.ec != std::errc() || read.ptr != text.data() + digits) {
    return "an escape has too few digits";
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return "the escape is no character of Unicode";
  at_ += digits;
  char bytes[4];
  to.append(bytes, content::writeUtf8(bytes, code));
  return {};
}

}  // namespace sluice::filters
