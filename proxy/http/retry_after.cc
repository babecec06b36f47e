#include "proxy/http/retry_after.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::http {
namespace {

/// Longer waits are taken for this one, so that nothing overflows.
constexpr std::int64_t kLongestWait = 366 * 24 * 60 * 60;  // seconds

/// The fields of model providers (OpenAI, Azure), in the order in which their clients prefer them.
constexpr std::string_view kMillisecondFields[] = {"retry-after-ms", "x-ms-retry-after-ms"};

/// Returns the seconds since 1970.
std::optional<std::int64_t> readImfFixdate(const std::string& text) {
  tm parts{};
  const char* const end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return timegm(&parts);
}

/// Reads a number of digits alone, or `most` if it is larger.
std::optional<std::int64_t> readNumber(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() == '-' || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc::result_out_of_range ? most : std::min(number, most);
}

/// Reads milliseconds, of which a part may be given: "1500" or "1500.25".
std::optional<base::Duration> readMilliseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = readNumber(text.substr(0, point), kLongestWait * 1000);
  if (!whole || (point != std::string_view::npos && !readNumber(text.substr(point + 1), 0))) return std::nullopt;
  return std::chrono::milliseconds(*whole);
}

std::optional<base::Duration> readSecondsOrDate(std::string_view text, base::WallTime now) {
  if (const auto seconds = readNumber(text, kLongestWait)) return std::chrono::seconds(*seconds);
  const auto date = readImfFixdate(std::string(text));
  if (!date) return std::nullopt;
  const std::int64_t seconds = *date - std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kLongestWait));
}

}  // namespace

std::optional<base::Duration> retryAfter(const Headers& headers, base::WallTime now) {
  for (const std::string_view name : kMillisecondFields) {
    const Field* const field = headers.find(name);
    if (field == nullptr) continue;
    if (const auto wait = readMilliseconds(field->value)) return wait;
  }
  const Field* const field = headers.find("retry-after");
  return field != nullptr ? readSecondsOrDate(field->value, now) : std::nullopt;
}

}  // namespace sluice::http
