// Decodes the first UTF-8 character of some bytes, strictly as RFC 3629 defines it: no overlong forms, no surrogates.
//
// For code that must produce valid text from any input. A value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::base {

struct Utf8Character {
  char32_t codePoint = 0;
  std::size_t length = 0;  // 0 if the bytes do not begin with a character
};

/// Decodes the first character of `text`, which must not be empty.
constexpr Utf8Character decodeUtf8(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t codePoint = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    codePoint = (codePoint << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong = codePoint < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
  const bool surrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  if (overlong || surrogate || codePoint > 0x10ffff) return {};
  return {codePoint, length};
}

/// U+FFFD, which replaces a byte that is no text.
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

}  // namespace sluice::base
