#include "proxy/http/h1/h1_lines.h"

#include <bit>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "proxy/http/grammar.h"

namespace sluice::http {

bool H1Lines::next(std::span<char>& line) {
  auto* cr = static_cast<char*>(std::memchr(at_, '\r', static_cast<std::size_t>(end_ - at_)));
  if (cr == nullptr || cr + 1 == end_ || cr[1] != '\n') return false;
  line = {at_, cr};
  at_ = cr + 2;
  return true;
}

const char* H1Lines::readFields(std::size_t count, base::Arena& arena, Headers& fields, H1LineReading reading) {
  fields.reserve(arena, count);
  while (!atEmptyLine()) {
    if (reading == H1LineReading::kAtOnce && takeAtOnce(arena, fields)) continue;
    if (const char* why = takeBytewise(arena, fields)) return why;
  }
  return nullptr;
}

const char* H1Lines::takeBytewise(base::Arena& arena, Headers& fields) {
  std::span<char> line;
  if (!next(line)) return "a bare CR";
  // A CR, which cannot be part of a name, follows the line.
  char* end = line.data();
  while (const char lower = tokenLower(*end)) *end++ = lower;
  const auto colon = static_cast<std::size_t>(end - line.data());
  // This also refuses a line that begins with a space: obsolete folding, or a hidden field.
  if (colon == 0 || *end != ':') return "a field line is not `name: value`";
  const std::string_view text{line.data(), line.size()};
  fields.add(arena, text.substr(0, colon), trimSpace(text.substr(colon + 1)));
  return nullptr;
}

#if defined(__SSE2__)
namespace {

__m128i blockAt(const char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }

// Bytes that are not ASCII are below all others.
__m128i areBetween(__m128i bytes, char first, char last) {
  return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(first - 1))),
                       _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(last + 1))));
}

// Returns a bit for each byte.
unsigned bitsOf(__m128i bytes) { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }

// Turns the letters, digits and hyphens at `at` into lower case, up to `end` or a few bytes further. Returns the first
// other byte.
char* lowerPlainName(char* at, const char* end) {
  const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i lowerBit = _mm_set1_epi8(0x20);  // which digits and hyphens have, too
  for (; at < end; at += sizeof(__m128i)) {
    const __m128i bytes = blockAt(at);
    const __m128i letters = areBetween(_mm_or_si128(bytes, lowerBit), 'a', 'z');
    const __m128i plain =
        _mm_or_si128(_mm_or_si128(letters, areBetween(bytes, '0', '9')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    const int count = std::countr_one(bitsOf(plain));
    const __m128i ofName = _mm_cmplt_epi8(places, _mm_set1_epi8(static_cast<char>(count)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm_or_si128(bytes, _mm_and_si128(ofName, lowerBit)));
    if (count < static_cast<int>(sizeof(__m128i))) return at + count;
  }
  return at;
}

// Returns the first control character; `end`, or a few bytes further, if there is none.
char* findControl(char* at, const char* end) {
  const __m128i last = _mm_set1_epi8(0x1f);
  for (; at < end; at += sizeof(__m128i)) {
    const __m128i bytes = blockAt(at);
    const __m128i found =
        _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(bytes, last), bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
    if (const unsigned bits = bitsOf(found); bits != 0) return at + std::countr_zero(bits);
  }
  return at;
}

}  // namespace

inline bool H1Lines::takeAtOnce(base::Arena& arena, Headers& fields) {
  char* const colon = lowerPlainName(at_, end_);
  if (colon == at_ || colon >= end_ || *colon != ':') return false;
  char* const value = colon + (colon[1] == ' ' ? 2 : 1);
  char* const stop = findControl(value, end_);
  if (stop + 1 >= end_ || stop[0] != '\r' || stop[1] != '\n') return false;
  if (stop > value && (*value == ' ' || stop[-1] == ' ')) return false;
  const std::string_view name{at_, static_cast<std::size_t>(colon - at_)};
  fields.add(arena, {name, {value, static_cast<std::size_t>(stop - value)}, fieldId(name), Care::kNone});
  at_ = stop + 2;
  return true;
}

#else

inline bool H1Lines::takeAtOnce(base::Arena& /*arena*/, Headers& /*fields*/) { return false; }

#endif

}  // namespace sluice::http
