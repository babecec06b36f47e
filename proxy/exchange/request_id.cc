#include "proxy/exchange/request_id.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "proxy/base/hex.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kMaxBytes = 128;

}  // namespace

bool isCleanRequestId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxBytes &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7F && c != '"' && c != '\\'; });
}

std::string_view makeRequestId(base::Arena& arena, base::Random& random) {
  constexpr std::size_t kSize = 36;  // xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
  const std::array<std::uint64_t, 2> numbers{random.next(), random.next()};
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof numbers>>(numbers);
  bytes[6] = (bytes[6] & 0x0F) | 0x40;  // the version: random
  bytes[8] = (bytes[8] & 0x3F) | 0x80;  // the variant
  const std::array<char, 32> digits = base::hexOf(bytes);
  char* const text = arena.bytes(kSize);
  std::memcpy(text, digits.data(), 8);
  std::memcpy(text + 9, digits.data() + 8, 4);
  std::memcpy(text + 14, digits.data() + 12, 4);
  std::memcpy(text + 19, digits.data() + 16, 4);
  std::memcpy(text + 24, digits.data() + 20, 12);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) text[dash] = '-';
  return {text, kSize};
}

void addRequestId(base::Arena& arena, http::Headers& headers, const RequestIdField& field, std::string_view id) {
  const bool isKnown = field.id() != http::FieldId::kOther;
  const std::string_view name = isKnown ? http::fieldName(field.id()) : arena.copy(field.name());
  headers.add(arena, {name, id, field.id(), http::Care::kCleanSecret});
}

std::string_view settleRequestId(base::Arena& arena, http::Headers& headers, const RequestIdField& field,
                                 base::Random& random) {
  const std::string_view name = field.name();
  if (name.empty()) return {};
  const http::Field* given = nullptr;
  std::size_t count = 0;
  for (const http::Field& each : headers) {
    if (!http::areTwins(each.name, name)) continue;
    given = &each;
    ++count;
  }
  const bool exact = count == 1 && given->name == name;
  if (exact && field.accepts() && isCleanRequestId(given->value)) return given->value;
  const std::string_view made = makeRequestId(arena, random);
  if (count > 0) headers.removeTwins(name);
  addRequestId(arena, headers, field, made);
  return made;
}

}  // namespace sluice::exchange
