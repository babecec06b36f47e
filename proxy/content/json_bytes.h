// Runs of bytes that need no decision by a reader of JSON.
//
// Pure functions over the caller's memory. Each has a portable implementation, and one with the vector instructions of
// every x86-64.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::content {

/// Returns true for printable ASCII that needs no escape inside a string: all but the quote and the backslash.
inline bool isPlainByte(char c) { return static_cast<signed char>(c) >= 0x20 && c != '"' && c != '\\'; }

/// Returns the first byte from `at` on that is not plain; `end` if there is none. Reads eight bytes at a time.
inline const char* skipPlainByWords(const char* at, const char* end) {
  constexpr std::uint64_t kEach = 0x0101010101010101ULL;
  constexpr std::uint64_t kHigh = kEach << 7;
  const auto hasZero = [](std::uint64_t word) { return (word - kEach) & ~word & kHigh; };
  for (std::uint64_t word = 0; end - at >= 8; at += 8) {
    std::memcpy(&word, at, 8);
    const std::uint64_t below = (word - kEach * 0x20) & ~word & kHigh;
    if (((word & kHigh) | below | hasZero(word ^ kEach * '"') | hasZero(word ^ kEach * '\\')) != 0) break;
  }
  while (at != end && isPlainByte(*at)) ++at;
  return at;
}

#if defined(__SSE2__)
/// Returns 16 bytes. All bits of a byte are set where the text has a byte that is not plain, else none. Flipping one
/// bit moves the quote right after the control characters, so that one comparison finds both, and also finds the bytes
/// from 0x80 on, which are negative.
inline __m128i bytesNotPlain(const char* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i low = _mm_cmplt_epi8(_mm_xor_si128(bytes, _mm_set1_epi8(0x02)), _mm_set1_epi8(0x21));
  return _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}

inline const char* skipPlain(const char* at, const char* end) {
  // Most runs are short, so the first bytes are looked at one by one; but most bytes are in long runs.
  if (end - at >= 16) {
    const int found = _mm_movemask_epi8(bytesNotPlain(at));
    if (found != 0) return at + std::countr_zero(static_cast<unsigned>(found));
    at += 16;
  }
  for (; end - at >= 64; at += 64) {
    const __m128i first = _mm_or_si128(bytesNotPlain(at), bytesNotPlain(at + 16));
    const __m128i second = _mm_or_si128(bytesNotPlain(at + 32), bytesNotPlain(at + 48));
    if (_mm_movemask_epi8(_mm_or_si128(first, second)) != 0) break;
  }
  for (; end - at >= 16; at += 16) {
    const int found = _mm_movemask_epi8(bytesNotPlain(at));
    if (found != 0) return at + std::countr_zero(static_cast<unsigned>(found));
  }
  return skipPlainByWords(at, end);
}
#else
inline const char* skipPlain(const char* at, const char* end) { return skipPlainByWords(at, end); }
#endif

/// Returns the meaning of the two-character escape whose second character is `c` (RFC 8259 section 7), or NUL if there
/// is no such escape.
inline char escapeMeans(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

/// Returns -1 for a character that is no hexadecimal digit.
inline int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool isHighSurrogate(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
constexpr bool isLowSurrogate(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

/// Returns the code of four hexadecimal digits from `at` on; -1 if there are none.
inline int codeOfHex(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int code = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hexDigit(at[i]);
    if (digit < 0) return -1;
    code = code << 4 | digit;
  }
  return code;
}

/// Returns the end of the escape that begins at the backslash `at`, which is two of them for a surrogate pair; null if
/// it is not an escape, or is half of a pair.
inline const char* skipEscape(const char* at, const char* end) {
  if (end - at < 2) return nullptr;
  if (at[1] != 'u') return escapeMeans(at[1]) != '\0' ? at + 2 : nullptr;
  const int first = codeOfHex(at + 2, end);
  if (first < 0 || isLowSurrogate(static_cast<std::uint32_t>(first))) return nullptr;
  at += 6;
  if (!isHighSurrogate(static_cast<std::uint32_t>(first))) return at;
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return nullptr;
  const int second = codeOfHex(at + 2, end);
  return second >= 0 && isLowSurrogate(static_cast<std::uint32_t>(second)) ? at + 6 : nullptr;
}

/// The bytes that follow the first one of a character (RFC 3629 section 4).
struct Utf8Rest {
  std::uint8_t count = 0;       // 0 if no character begins with this byte
  unsigned char lowest = 0x80;  // of the first of them; the others are 0x80 to 0xBF
  unsigned char highest = 0xBF;
};

/// `lead` is 0x80 or more.
inline Utf8Rest restOfUtf8(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return {};
  return {static_cast<std::uint8_t>(lead < 0xE0   ? 1
                                    : lead < 0xF0 ? 2
                                                  : 3),
          static_cast<unsigned char>(lead == 0xE0   ? 0xA0
                                     : lead == 0xF0 ? 0x90
                                                    : 0x80),
          static_cast<unsigned char>(lead == 0xED   ? 0x9F
                                     : lead == 0xF4 ? 0x8F
                                                    : 0xBF)};
}

/// Returns the end of the character of more than one byte that begins at `at`; null if it is no UTF-8.
inline const char* skipCharacter(const char* at, const char* end) {
  const Utf8Rest rest = restOfUtf8(static_cast<unsigned char>(*at++));
  if (rest.count == 0 || end - at < rest.count) return nullptr;
  const auto first = static_cast<unsigned char>(*at);
  if (first < rest.lowest || first > rest.highest) return nullptr;
  for (int i = 1; i < rest.count; ++i) {
    if ((static_cast<unsigned char>(at[i]) & 0xC0) != 0x80) return nullptr;
  }
  return at + rest.count;
}

/// Writes `code` as UTF-8 into room for four bytes and returns the end. Half of a surrogate pair becomes three bytes,
/// which are no UTF-8 and so equal no valid text.
inline char* writeUtf8(char* to, std::uint32_t code) {
  if (code < 0x80) {
    *to++ = static_cast<char>(code);
    return to;
  }
  if (code < 0x800) {
    *to++ = static_cast<char>(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      *to++ = static_cast<char>(0xE0 | code >> 12);
    } else {
      *to++ = static_cast<char>(0xF0 | code >> 18);
      *to++ = static_cast<char>(0x80 | (code >> 12 & 0x3F));
    }
    *to++ = static_cast<char>(0x80 | (code >> 6 & 0x3F));
  }
  *to++ = static_cast<char>(0x80 | (code & 0x3F));
  return to;
}

/// Returns the first byte that is no white space of JSON (RFC 8259 section 2).
inline const char* skipSpace(const char* at, const char* end) {
  if (at != end && static_cast<unsigned char>(*at) > ' ') return at;  // mostly there is no white space
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

inline const char* skipDigits(const char* at, const char* end) {
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return at;
}

}  // namespace sluice::content
