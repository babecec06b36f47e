#include "redactor.h"

#include <openssl/sha.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <optional>

#include "findings.h"

namespace pii {
namespace {

/// A character as it is written. A size of 0 means that more bytes are needed to tell.
struct Written {
  char shown;
  std::size_t size;
};

/// Stands for characters that are part of no finding.
constexpr char kOther = '\0';

bool isHexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Returns the character of four hexadecimal digits, if it is one of ASCII.
char characterOf(std::string_view digits) {
  unsigned number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number < 0x80 ? static_cast<char>(number) : kOther;
}

/// Reads the first character of `text`, which is not empty. A backslash that begins no escape stands for itself.
Written readCharacter(std::string_view text, bool last) {
  if (text.front() != '\\') return {text.front(), 1};
  if (text.size() < 2) return {'\\', last ? std::size_t{1} : 0};
  if (text[1] != 'u') {
    const bool isItself = text[1] == '"' || text[1] == '\\' || text[1] == '/';
    const bool isControl = std::string_view("bfnrt").find(text[1]) != std::string_view::npos;
    if (!isItself && !isControl) return {'\\', 1};
    return {isItself ? text[1] : kOther, 2};
  }
  const std::string_view digits = text.substr(2, 4);
  if (!std::all_of(digits.begin(), digits.end(), isHexadecimal)) return {'\\', 1};
  if (digits.size() < 4) return {'\\', last ? std::size_t{1} : 0};
  return {characterOf(digits), 6};
}

std::string hashOf(std::string_view found) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(found.data()), found.size(), digest);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 8; ++i) {
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 15];
  }
  return text;
}

}  // namespace

void Redactor::read(bool last) {
  while (read_ < held_.size()) {
    const Written next = readCharacter(std::string_view(held_).substr(read_), last);
    if (next.size == 0) return;
    shown_ += next.shown;
    sizes_.push_back(static_cast<unsigned char>(next.size));
    read_ += next.size;
  }
}

std::string Redactor::take(std::string_view piece, bool last) {
  held_ += piece;
  read(last);
  // Everything in front of this can be judged: it has as many characters behind it as a finding may depend on.
  const std::size_t end = last ? shown_.size() : shown_.size() - std::min(shown_.size(), kLongest + 1);
  std::string out;
  std::size_t at = 0;
  std::size_t taken = 0;  // bytes of held_
  while (at < end) {
    const std::optional<Finding> found = findAtFront(std::string_view(shown_).substr(at), before_);
    const std::size_t size = found ? found->size : 1;
    const auto first = sizes_.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t bytes = std::accumulate(first, first + static_cast<std::ptrdiff_t>(size), std::size_t{0});
    const std::string_view written = std::string_view(held_).substr(taken, bytes);
    if (found && found->confidence >= settings_.threshold) {
      replace(found->kind, at, size, written, out);
    } else {
      out += written;
    }
    at += size;
    taken += bytes;
    before_ = shown_[at - 1];
  }
  held_.erase(0, taken);
  shown_.erase(0, at);
  sizes_.erase(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(at));
  read_ -= taken;
  return out;
}

void Redactor::replace(std::string_view kind, std::size_t at, std::size_t size, std::string_view written,
                       std::string& out) const {
  if (settings_.style == Style::kDelete) return;
  const std::string_view found = std::string_view(shown_).substr(at, size);
  if (settings_.style == Style::kHash) {
    out.append("[").append(kind).append(":").append(hashOf(found)).append("]");
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const char c = found[i];
    const bool isWord = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const std::size_t bytes = sizes_[at + i];
    out += isWord ? "*" : written.substr(0, bytes);
    written.remove_prefix(bytes);
  }
}

}  // namespace pii
