#include "proxy/exchange/request_id.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice::exchange {
namespace {

constexpr std::size_t kMaxBytes = 128;

/// Writes the lowest digits of `number`.
char* putHex(char* to, std::uint64_t number, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[number >> shift & 15];
  return to;
}

}  // namespace

bool isCleanRequestId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxBytes &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7F && c != '"' && c != '\\'; });
}

std::string_view makeRequestId(base::Arena& arena, base::Random& random) {
  constexpr std::size_t kSize = 36;
  constexpr std::uint64_t kVersion = 0x4000;
  constexpr std::uint64_t kVariant = 0x8000;
  const std::uint64_t high = random.next();
  const std::uint64_t low = random.next();
  char text[kSize];
  char* to = putHex(text, high >> 32, 8);
  *to++ = '-';
  to = putHex(to, high >> 16, 4);
  *to++ = '-';
  to = putHex(to, (high & 0x0FFF) | kVersion, 4);
  *to++ = '-';
  to = putHex(to, (low >> 48 & 0x3FFF) | kVariant, 4);
  *to++ = '-';
  putHex(to, low, 12);
  return arena.copy({text, kSize});
}

void addRequestId(base::Arena& arena, http::Headers& headers, std::string_view name, std::string_view id) {
  headers.add(arena, {arena.copy(name), id, http::FieldId::kOther, http::Care::kCleanSecret});
}

std::string_view settleRequestId(base::Arena& arena, http::Headers& headers, const base::RequestIdSettings& settings,
                                 base::Random& random) {
  if (settings.header.empty()) return {};
  const http::Field* given = nullptr;
  std::size_t count = 0;
  for (const http::Field& field : headers) {
    if (!http::areTwins(field.name, settings.header)) continue;
    given = &field;
    ++count;
  }
  const bool exact = count == 1 && given->name == settings.header;
  if (exact && settings.accept && isCleanRequestId(given->value)) return given->value;
  const std::string_view made = makeRequestId(arena, random);
  if (count > 0) headers.removeTwins(settings.header);
  addRequestId(arena, headers, settings.header, made);
  return made;
}

}  // namespace sluice::exchange
