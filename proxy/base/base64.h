// Base64 (RFC 4648 section 4): standard alphabet, padded.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::base {

/// Returns true for the 64 characters of the alphabet, and false for the padding.
constexpr bool isBase64Character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

std::string encodeBase64(std::string_view bytes);

/// Decodes strictly, except that line breaks are skipped, because people fold their files. Returns nullopt for a
/// character outside the alphabet, for wrong padding, and for bits that the padding leaves over.
std::optional<std::string> decodeBase64(std::string_view text);

}  // namespace sluice::base
