#include "proxy/base/timestamp.h"

#include <chrono>

namespace sluice::base {
namespace {

void putDigits(char* to, std::int64_t value, int count) {
  for (int i = count - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

}  // namespace

std::string_view Timestamp::text(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (second.time_since_epoch().count() != second_) render(second.time_since_epoch().count());
  putDigits(text_.data() + 20, std::chrono::floor<std::chrono::milliseconds>(time - second).count(), 3);
  return {text_.data(), text_.size()};
}

void Timestamp::render(std::int64_t second) {
  const std::chrono::sys_seconds time{std::chrono::seconds(second)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  text_ = std::to_array({'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0',
                         '0', ':', '0', '0', ':', '0', '0', '.', '0', '0', '0', 'Z'});
  putDigits(text_.data(), static_cast<int>(date.year()), 4);
  putDigits(text_.data() + 5, static_cast<unsigned>(date.month()), 2);
  putDigits(text_.data() + 8, static_cast<unsigned>(date.day()), 2);
  putDigits(text_.data() + 11, clock.hours().count(), 2);
  putDigits(text_.data() + 14, clock.minutes().count(), 2);
  putDigits(text_.data() + 17, clock.seconds().count(), 2);
  second_ = second;
}

}  // namespace sluice::base
