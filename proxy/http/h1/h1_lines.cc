#include "proxy/http/h1/h1_lines.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "proxy/http/grammar.h"

namespace sluice::http {

bool H1Lines::next(std::span<char>& line) {
  char* cr = nullptr;
  if (ends_.known()) {
    cr = section_ + ends_[line_++];
  } else {
    cr = static_cast<char*>(std::memchr(at_, '\r', static_cast<std::size_t>(end_ - at_)));
    if (cr == nullptr || cr + 1 == end_ || cr[1] != '\n') return false;
  }
  line = {at_, cr};
  at_ = cr + 2;
  return true;
}

const char* H1Lines::readFields(std::size_t count, base::Arena& arena, Headers& fields) {
  fields.reserve(arena, count);
  const bool known = ends_.known();
  while (!atEmptyLine()) {
    if (known && takeAtOnce(section_ + ends_[line_], arena, fields)) continue;
    std::span<char> line;
    if (!next(line)) return "a bare CR";
    if (const char* why = takeBytewise(line, arena, fields)) return why;
  }
  return nullptr;
}

const char* H1Lines::takeBytewise(std::span<char> line, base::Arena& arena, Headers& fields) {
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

constexpr std::size_t kNamePiece = sizeof(__m128i);

__m128i areBetween(__m128i bytes, char first, char last) {
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(last - first))), above);
}

// The bit by which letters differ in case, which digits and hyphens have, too; then as many bytes of zero. From
// kNamePiece - n on, the bit is there n times.
constexpr auto kLowerBits = [] {
  std::array<char, 2 * kNamePiece> bits{};
  for (std::size_t i = 0; i < kNamePiece; ++i) bits[i] = 0x20;
  return bits;
}();

// Turns the letters, digits and hyphens at `at` into lower case, up to `end` or a few bytes further. Returns the first
// other byte.
char* lowerPlainName(char* at, const char* end) {
  for (; at < end; at += kNamePiece) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i letters = areBetween(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
    const __m128i plain =
        _mm_or_si128(_mm_or_si128(letters, areBetween(bytes, '0', '9')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    const unsigned others = ~static_cast<unsigned>(_mm_movemask_epi8(plain)) | 1U << kNamePiece;
    const auto count = static_cast<std::size_t>(std::countr_zero(others));
    const __m128i lower = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kLowerBits.data() + kNamePiece - count));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm_or_si128(bytes, lower));
    if (count < kNamePiece) return at + count;
  }
  return at;
}

}  // namespace

inline bool H1Lines::takeAtOnce(char* stop, base::Arena& arena, Headers& fields) {
  char* const colon = lowerPlainName(at_, stop);
  if (colon == at_ || colon >= stop || *colon != ':') return false;
  char* const value = colon + (colon[1] == ' ' ? 2 : 1);
  if (stop > value && (*value == ' ' || stop[-1] == ' ')) return false;
  const std::string_view name{at_, static_cast<std::size_t>(colon - at_)};
  fields.add(arena, {name, {value, static_cast<std::size_t>(stop - value)}, fieldId(name), Care::kNone});
  at_ = stop + 2;
  ++line_;
  return true;
}

#else

inline bool H1Lines::takeAtOnce(char* /*stop*/, base::Arena& /*arena*/, Headers& /*fields*/) { return false; }

#endif

}  // namespace sluice::http
