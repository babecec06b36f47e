#include "proxy/http/date.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace sluice::http {
namespace {

// Not strftime(), whose names depend on the locale.
constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string_view DateText::at(base::WallTime now) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  if (second == second_) return text_;
  second_ = second;
  const std::time_t time = second.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[40];
  const int size =
      std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[parts.tm_wday], parts.tm_mday,
                    kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  text_.assign(text, static_cast<std::size_t>(size));
  return text_;
}

}  // namespace sluice::http
