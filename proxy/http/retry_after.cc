#include "proxy/http/retry_after.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>

namespace sluice::http {
namespace {

/// Longer waits are taken for this one, so that nothing overflows.
constexpr std::int64_t kLongestWait = 366 * 24 * 60 * 60;  // seconds

/// Returns the seconds since 1970.
std::optional<std::int64_t> readImfFixdate(const std::string& text) {
  tm parts{};
  const char* const end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return timegm(&parts);
}

}  // namespace

std::optional<base::Duration> retryAfter(const Headers& headers, base::WallTime now) {
  const Field* const field = headers.find("retry-after");
  if (field == nullptr) return std::nullopt;
  const std::string_view text = field->value;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool isNumber = !text.empty() && text.front() != '-' && end == text.data() + text.size();
  if (isNumber && error == std::errc::result_out_of_range) seconds = kLongestWait;
  if (isNumber) return std::chrono::seconds(std::min(seconds, kLongestWait));
  const auto date = readImfFixdate(std::string(text));
  if (!date) return std::nullopt;
  seconds = *date - std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kLongestWait));
}

}  // namespace sluice::http
