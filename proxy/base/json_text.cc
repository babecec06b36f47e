#include "proxy/base/json_text.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "proxy/base/hex.h"
#include "proxy/base/utf8.h"

namespace sluice::base {
namespace {

constexpr bool isPlain(std::uint8_t byte) { return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\'; }

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0; byte < plain.size(); ++byte) plain[byte] = isPlain(static_cast<std::uint8_t>(byte));
  return plain;
}();

/// Returns true for valid text that must not be shown as it is, because it would move a terminal's cursor, end a line
/// or turn its direction.
constexpr bool isHazard(char32_t c) {
  return (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

/// The JSON form of one character or of one invalid byte.
struct Piece {
  std::array<char, kMostBytesOfAByte> bytes{};
  std::size_t size = 0;
  std::size_t consumed = 1;

  void assign(std::string_view text) {
    size = 0;
    append(text);
  }
  void append(std::string_view text) {
    std::copy(text.begin(), text.end(), bytes.begin() + size);
    size += text.size();
  }
};

void assignUnicodeEscape(Piece& piece, char32_t codePoint) {
  piece.assign("\\u");
  piece.append(hexOf(static_cast<std::uint8_t>(codePoint >> 8)));
  piece.append(hexOf(static_cast<std::uint8_t>(codePoint)));
}

Piece nextPiece(std::string_view text) {
  Piece piece;
  const Utf8Character character = decodeUtf8(text);
  if (character.length == 0) {
    piece.assign(kReplacementCharacter);
    return piece;
  }
  piece.consumed = character.length;
  const char32_t c = character.codePoint;
  if (c == '"') {
    piece.assign("\\\"");
  } else if (c == '\\') {
    piece.assign("\\\\");
  } else if (c == '\n') {
    piece.assign("\\n");
  } else if (c == '\r') {
    piece.assign("\\r");
  } else if (c == '\t') {
    piece.assign("\\t");
  } else if (c < 0x20 || isHazard(c)) {
    assignUnicodeEscape(piece, c);
  } else {
    piece.assign(text.substr(0, character.length));
  }
  return piece;
}

/// Returns true if any of eight bytes is not plain. It may also return true for eight plain ones, but never false for
/// others.
constexpr bool mayNeedEscape(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  const auto belowOf = [](std::uint64_t value, std::uint64_t bound) { return (value - bound * kOnes) & ~value; };
  const std::uint64_t control = belowOf(bytes, 0x20);
  const std::uint64_t quote = belowOf(bytes ^ ('"' * kOnes), 1);
  const std::uint64_t backslash = belowOf(bytes ^ ('\\' * kOnes), 1);
  const std::uint64_t delOrAbove = bytes | (bytes + kOnes);
  return ((control | quote | backslash | delOrAbove) & kHighs) != 0;
}

/// Copies the plain bytes that `text` begins with, and returns their number.
std::size_t copyPlain(char* to, std::string_view text) {
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; text.size() - count >= sizeof bytes; count += sizeof bytes) {
    std::memcpy(&bytes, text.data() + count, sizeof bytes);
    if (mayNeedEscape(bytes)) break;
    std::memcpy(to + count, &bytes, sizeof bytes);
  }
  for (; count < text.size() && kPlain[static_cast<std::uint8_t>(text[count])]; ++count) to[count] = text[count];
  return count;
}

}  // namespace

char* writeJsonString(char* to, std::string_view text, std::size_t maxBytes) {
  assert(maxBytes >= kCutMarker.size());
  *to++ = '"';
  char* const limit = to + maxBytes;
  // The last border between characters at or before lastCut: after it, the marker of a cut still fits.
  char* const lastCut = limit - kCutMarker.size();
  char* cut = to;
  while (!text.empty()) {
    // One byte beyond the limit is enough to know that the text is too long.
    const std::size_t run = copyPlain(to, text.substr(0, static_cast<std::size_t>(limit - to) + 1));
    if (run > 0) {
      if (to <= lastCut) cut = std::min(to + run, lastCut);
      to += run;
      text.remove_prefix(run);
    } else {
      const Piece piece = nextPiece(text);
      to = std::copy_n(piece.bytes.data(), piece.size, to);
      text.remove_prefix(piece.consumed);
      if (to <= lastCut) cut = to;
    }
    if (to > limit) {
      to = std::copy(kCutMarker.begin(), kCutMarker.end(), cut);
      break;
    }
  }
  *to++ = '"';
  return to;
}

void appendJsonString(std::string& out, std::string_view text, std::size_t maxBytes) {
  const std::size_t before = out.size();
  out.resize(before + std::min(text.size() * sizeof(Piece::bytes), maxBytes) + kJsonStringSlack);
  const char* end = writeJsonString(out.data() + before, text, maxBytes);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

char* writeJsonMilliseconds(char* to, base::Duration duration) {
  const auto micros = std::max<std::int64_t>(0, duration.count() / 1000);
  to = std::to_chars(to, to + 20, micros / 1000).ptr;
  const auto rest = static_cast<int>(micros % 1000);
  *to++ = '.';
  *to++ = static_cast<char>('0' + rest / 100);
  *to++ = static_cast<char>('0' + rest / 10 % 10);
  *to++ = static_cast<char>('0' + rest % 10);
  return to;
}

}  // namespace sluice::base
