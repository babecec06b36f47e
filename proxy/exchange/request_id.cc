#include "proxy/exchange/request_id.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

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
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  static constexpr std::array<std::uint8_t, 16> kPlaces{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};
  const std::array<std::uint64_t, 2> numbers{random.next(), random.next()};
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof numbers>>(numbers);
  bytes[6] = (bytes[6] & 0x0F) | 0x40;  // the version: random
  bytes[8] = (bytes[8] & 0x3F) | 0x80;  // the variant
  char* const text = arena.bytes(kForm.size());
  std::copy(kForm.begin(), kForm.end(), text);
  for (std::size_t i = 0; i < bytes.size(); ++i) std::copy_n(base::hexOf(bytes[i]).begin(), 2, text + kPlaces[i]);
  return {text, kForm.size()};
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
