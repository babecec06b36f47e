#include "config/fields/creation_time.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "config/ground/patterns.h"

namespace sluice::config {
namespace {

using std::chrono::sys_seconds;

constexpr int kMaxSecond = 60;  // a leap second, which is treated as the next second
constexpr int kLastYear = 9999;

/// Takes the parts of a text from its beginning. `good` becomes false at the first missing part.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : rest_(text) {}

  int number(std::size_t digits, int most) {
    int value = 0;
    const bool there = rest_.size() >= digits && std::all_of(rest_.begin(), rest_.begin() + digits, isDigit);
    for (std::size_t i = 0; there && i < digits; ++i) value = value * 10 + (rest_[i] - '0');
    good = good && there && value <= most;
    if (good) rest_.remove_prefix(digits);
    return value;
  }

  /// Takes one of these characters and returns it.
  char oneOf(std::string_view choices) {
    good = good && !rest_.empty() && choices.find(rest_.front()) != std::string_view::npos;
    if (!good) return '\0';
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }

  /// Takes an optional fraction such as ".5", and returns it without trailing zeros.
  std::string_view fraction() {
    if (!rest_.starts_with('.')) return {};
    const auto end = std::find_if_not(rest_.begin() + 1, rest_.end(), isDigit);
    std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    good = good && taken.size() > 1;
    taken.remove_suffix(taken.size() - 1 - taken.find_last_not_of('0'));
    return taken == "." ? std::string_view() : taken;
  }

  bool ended() const { return rest_.empty(); }

  bool good = true;

 private:
  std::string_view rest_;
};

std::chrono::minutes offset(TimeScanner& text) {
  const char sign = text.oneOf("Zz+-");
  if (sign == 'Z' || sign == 'z') return {};
  const std::chrono::hours hours(text.number(2, 23));
  text.oneOf(":");
  const std::chrono::minutes ahead = hours + std::chrono::minutes(text.number(2, 59));
  return sign == '-' ? -ahead : ahead;
}

std::string written(sys_seconds time, std::string_view fraction) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return std::string(text).append(fraction);
}

}  // namespace

std::optional<std::string> sortableTime(std::string_view rfc3339) {
  TimeScanner text(rfc3339);
  const int year = text.number(4, kLastYear);
  text.oneOf("-");
  const int month = text.number(2, 12);
  text.oneOf("-");
  const int day = text.number(2, 31);
  text.oneOf("Tt");
  const int hour = text.number(2, 23);
  text.oneOf(":");
  const int minute = text.number(2, 59);
  text.oneOf(":");
  const int second = text.number(2, kMaxSecond);
  const std::string_view fraction = text.fraction();
  const std::chrono::minutes ahead = offset(text);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!text.good || !text.ended() || !date.ok()) return std::nullopt;
  const sys_seconds time = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                           std::chrono::seconds(second) - ahead;
  const int inUtc = static_cast<int>(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(time)).year());
  if (inUtc < 0 || inUtc > kLastYear) return std::nullopt;
  return written(time, fraction);
}

}  // namespace sluice::config
