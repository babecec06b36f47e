#include "proxy/content/json_cursor.h"

#include <algorithm>
#include <charconv>

#include "proxy/content/byte_order_mark.h"
#include "proxy/content/json_bytes.h"

namespace sluice::content {

JsonCursor::JsonCursor(std::string_view text, std::size_t mostDepth) : text_(text), mostDepth_(mostDepth) {
  if (text.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

std::size_t JsonCursor::next() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  return at_;
}

bool JsonCursor::take(char punctuation) {
  if (peek() != punctuation) return false;
  ++at_;
  return true;
}

bool JsonCursor::open(char bracket) {
  if (depth_ == mostDepth_ || !take(bracket)) return false;
  ++depth_;
  return true;
}

bool JsonCursor::close(char bracket) {
  if (!take(bracket)) return false;
  --depth_;
  return true;
}

std::optional<std::string> JsonCursor::takeString() {
  std::string text;
  if (peek() != '"' || !readString(&text)) return std::nullopt;
  return text;
}

bool JsonCursor::skipValue() {
  switch (peek()) {
    case '{':
      return open('{') && skipContainer('}');
    case '[':
      return open('[') && skipContainer(']');
    case '"':
      return readString(nullptr);
    case 't':
      return skipWord("true");
    case 'f':
      return skipWord("false");
    case 'n':
      return skipWord("null");
    default:
      return skipNumber();
  }
}

bool JsonCursor::skipContainer(char closing) {
  if (close(closing)) return true;
  do {
    if (closing == '}' && (peek() != '"' || !readString(nullptr) || !take(':'))) return false;
    if (!skipValue()) return false;
  } while (take(','));
  return close(closing);
}

bool JsonCursor::skipNumber() {
  if (peek() == '-') ++at_;
  const bool zero = at_ < text_.size() && text_[at_] == '0';
  if (zero) ++at_;
  if (!zero && !skipDigits()) return false;
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    if (!skipDigits()) return false;
  }
  if (at_ == text_.size() || (text_[at_] != 'e' && text_[at_] != 'E')) return true;
  ++at_;
  if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
  return skipDigits();
}

/// Takes at least one digit.
bool JsonCursor::skipDigits() {
  const std::size_t begin = at_;
  at_ = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
  return at_ > begin;
}

bool JsonCursor::skipWord(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool JsonCursor::readString(std::string* out) {
  ++at_;
  while (at_ < text_.size()) {
    const char* const plain = text_.data() + at_;
    const std::size_t count = static_cast<std::size_t>(skipPlain(plain, text_.data() + text_.size()) - plain);
    if (out != nullptr) out->append(plain, count);
    at_ += count;
    if (at_ == text_.size()) return false;
    const char c = text_[at_++];
    if (c == '"') return true;
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (c == '\\') {
      if (!readEscape(out)) return false;
    } else if (out != nullptr) {
      *out += c;
    }
  }
  return false;
}

bool JsonCursor::readEscape(std::string* out) {
  const char kind = at_ < text_.size() ? text_[at_++] : '\0';
  if (kind != 'u') {
    const char meant = escapeMeans(kind);
    if (out != nullptr) *out += meant;
    return meant != '\0';
  }
  const std::optional<unsigned> first = takeHex();
  if (!first) return false;
  unsigned code = *first;
  const bool high = code >= 0xD800 && code < 0xDC00;
  if (high && text_.substr(at_).starts_with("\\u")) {
    const std::size_t second = at_;
    at_ += 2;
    const std::optional<unsigned> low = takeHex();
    if (!low) return false;
    if (*low >= 0xDC00 && *low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (*low - 0xDC00);
    } else {
      at_ = second;
    }
  }
  if (out != nullptr) {
    char bytes[4];
    out->append(bytes, writeUtf8(bytes, code));
  }
  return true;
}

std::optional<unsigned> JsonCursor::takeHex() {
  const std::string_view digits = text_.substr(at_, 4);
  unsigned code = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() != 4 || read.ec != std::errc() || read.ptr != digits.data() + 4) return std::nullopt;
  at_ += 4;
  return code;
}

}  // namespace sluice::content
