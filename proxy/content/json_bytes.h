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

/// Returns true for printable ASCII that stands for itself inside a string: all but the quote and the backslash.
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
/// Returns 16 bytes: where the text has a byte that is not plain, all bits are set, elsewhere none. Turning one bit
/// over makes the quote follow the control characters, so that one comparison finds both, and bytes from 0x80 on too,
/// which are negative.
inline __m128i bytesNotPlain(const char* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i low = _mm_cmplt_epi8(_mm_xor_si128(bytes, _mm_set1_epi8(0x02)), _mm_set1_epi8(0x21));
  return _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}

inline const char* skipPlain(const char* at, const char* end) {
  // Most runs are short, and most bytes are in long ones.
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
  if (at != end && static_cast<unsigned char>(*at) > ' ') return at;  // mostly there is none
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

inline const char* skipDigits(const char* at, const char* end) {
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return at;
}

}  // namespace sluice::content
