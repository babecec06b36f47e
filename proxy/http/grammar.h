// Character classes of RFC 9110 section 5.6 and RFC 3986, as tables: the one place that defines where each byte is
// allowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/text.h"

namespace sluice::http {

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool isAlpha(char c) { return (c >= 'a' && c <= 'z') || isUpper(c); }
using base::toLower;

/// Returns 0..15, or -1.
constexpr int hexValue(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Holds for each byte its lower case if it is a tchar (RFC 9110 section 5.6.2), else 0.
inline constexpr std::array<char, 256> kTokenLower = [] {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < 128; ++i) {
    const char c = static_cast<char>(i);
    const bool special = std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    if (isAlpha(c) || isDigit(c) || special) table[i] = toLower(c);
  }
  return table;
}();

constexpr char tokenLower(char c) { return kTokenLower[static_cast<unsigned char>(c)]; }
constexpr bool isTokenChar(char c) { return tokenLower(c) != 0; }
constexpr bool isToken(std::string_view text) {
  for (const char c : text) {
    if (!isTokenChar(c)) return false;
  }
  return !text.empty();
}

/// Returns true for a byte that is allowed in a request-target: printable ASCII but no "#" (RFC 9112 section 3.2 knows
/// no fragment).
constexpr bool isTargetChar(char c) { return c >= 0x21 && c <= 0x7E && c != '#'; }

/// RFC 3986 section 2.3.
constexpr bool isUnreserved(char c) { return isAlpha(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

/// Returns the text without spaces and tabs at both ends (OWS, RFC 9110 section 5.6.3).
constexpr std::string_view trimSpace(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Calls visit(element) for each non-empty element of a comma-separated list (RFC 9110 section 5.6.1).
template <typename Visit>
constexpr void forEachListElement(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view element = trimSpace(list.substr(0, comma));
    if (!element.empty()) visit(element);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace sluice::http
