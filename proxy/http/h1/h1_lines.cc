#include "proxy/http/h1/h1_lines.h"

#include <algorithm>
#include <bit>
#include <cassert>
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
  assert(names_ <= end_ + roomBehind(static_cast<std::size_t>(end_ - section_), count) - kNameRoom);
  return nullptr;
}

const char* H1Lines::takeBytewise(std::span<char> line, base::Arena& arena, Headers& fields) {
  // A CR, which is neither part of a name nor a space, follows the line.
  const char* const begin = line.data();
  const char* end = begin;
  while (isTokenChar(*end)) ++end;
  const char* colon = end;
  while (messages_ == H1Messages::kResponses && (*colon == ' ' || *colon == '\t')) ++colon;
  // This also refuses a line that begins with a space: obsolete folding, or a hidden field.
  if (end == begin || *colon != ':') return "a field line is not `name: value`";
  const std::string_view received(begin, static_cast<std::size_t>(end - begin));
  std::uint32_t toReceived = 0;
  char* const lower = roomFor(received, arena, toReceived);
  std::transform(received.begin(), received.end(), lower, tokenLower);
  const std::string_view name(lower, received.size());
  const FieldId id = fieldId(name);
  const bool frames = id == FieldId::kContentLength || id == FieldId::kTransferEncoding;
  if (frames && colon != end) return "a space before the colon of a field that frames the message";
  const std::string_view value(colon + 1, static_cast<std::size_t>(begin + line.size() - (colon + 1)));
  fields.add(arena, {name, trimSpace(value), id, Care::kLook, toReceived});
  return nullptr;
}

char* H1Lines::roomFor(std::string_view name, base::Arena& arena, std::uint32_t& toReceived) {
  if (name.size() <= kNameRoom) {
    char* const room = names_;
    names_ += name.size();
    toReceived = static_cast<std::uint32_t>(room - name.data());
    return room;
  }
  char* const copy = arena.bytes(2 * name.size());
  std::memcpy(copy, name.data(), name.size());
  toReceived = static_cast<std::uint32_t>(name.size());
  return copy + name.size();
}

#if defined(__SSE2__)
namespace {

constexpr std::size_t kNamePiece = sizeof(__m128i);

__m128i areBetween(__m128i bytes, char first, char last) {
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(last - first))), above);
}

// Copies the letters, digits and hyphens at `from` in lower case, `most` of them at most, which are whole pieces; the
// bytes behind them up to a whole piece come along. Returns how many they are.
std::size_t lowerPlainName(const char* from, std::size_t most, char* to) {
  // The bit by which letters differ in case, which digits and hyphens have, too.
  const __m128i lowerBit = _mm_set1_epi8(0x20);
  for (std::size_t at = 0; at < most; at += kNamePiece) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    const __m128i lower = _mm_or_si128(bytes, lowerBit);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), lower);
    const __m128i plain = _mm_or_si128(_mm_or_si128(areBetween(lower, 'a', 'z'), areBetween(bytes, '0', '9')),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    const unsigned others = ~static_cast<unsigned>(_mm_movemask_epi8(plain)) | 1U << kNamePiece;
    const auto count = static_cast<std::size_t>(std::countr_zero(others));
    if (count < kNamePiece) return at + count;
  }
  return most;
}

}  // namespace

inline bool H1Lines::takeAtOnce(char* stop, base::Arena& arena, Headers& fields) {
  static_assert(kNameRoom % kNamePiece == 0);
  const std::size_t size = lowerPlainName(at_, kNameRoom, names_);
  const char* const colon = at_ + size;
  if (size == 0 || colon >= stop || *colon != ':') return false;
  const char* const value = colon + (colon[1] == ' ' ? 2 : 1);
  if (stop > value && (*value == ' ' || stop[-1] == ' ')) return false;
  const std::string_view name{names_, size};
  fields.add(arena, {name,
                     {value, static_cast<std::size_t>(stop - value)},
                     fieldId(name),
                     Care::kNone,
                     static_cast<std::uint32_t>(names_ - at_)});
  names_ += size;
  at_ = stop + 2;
  ++line_;
  return true;
}

#else

inline bool H1Lines::takeAtOnce(char* /*stop*/, base::Arena& /*arena*/, Headers& /*fields*/) { return false; }

#endif

}  // namespace sluice::http
