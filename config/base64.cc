#include "config/base64.h"

#include <cstdint>

namespace sluice::config {
namespace {

/// 0 to 63, or -1.
int valueOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> decodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  std::size_t characters = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    ++characters;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = valueOf(c);
    if (value < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>((bits >> held) & 0xFF));
  }
  const bool leftOver = (bits & ((1U << held) - 1)) != 0;
  if (characters % 4 != 0 || padding > 2 || held != padding * 2 || leftOver) return std::nullopt;
  return bytes;
}

}  // namespace sluice::config
