#include "proxy/base/duration.h"

#include <chrono>
#include <cstdint>

namespace sluice::base {
namespace {

struct Unit {
  std::string_view suffix;
  Duration length;
};

// "ms" comes before "m", which is its prefix.
constexpr Unit kUnits[] = {{"h", std::chrono::hours(1)},
                           {"ms", std::chrono::milliseconds(1)},
                           {"m", std::chrono::minutes(1)},
                           {"s", std::chrono::seconds(1)}};
constexpr std::size_t kMaxGroups = 4;
constexpr std::size_t kMaxDigits = 5;

const Unit* unitAt(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (text.starts_with(unit.suffix)) return &unit;
  }
  return nullptr;
}

}  // namespace

std::optional<Duration> parseDuration(std::string_view text) {
  Duration total = Duration::zero();
  std::size_t groups = 0;
  while (!text.empty()) {
    std::int64_t number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      if (digits == kMaxDigits) return std::nullopt;
      number = number * 10 + (text[digits++] - '0');
    }
    text.remove_prefix(digits);
    const Unit* unit = unitAt(text);
    if (digits == 0 || unit == nullptr || ++groups > kMaxGroups) return std::nullopt;
    text.remove_prefix(unit->suffix.size());
    total += number * unit->length;
  }
  if (groups == 0) return std::nullopt;
  return total;
}

std::string formatDuration(Duration duration) {
  std::string text;
  const auto take = [&](Duration length, std::string_view suffix) {
    const auto count = duration / length;
    if (count == 0) return;
    duration -= count * length;
    text.append(std::to_string(count)).append(suffix);
  };
  take(std::chrono::hours(1), "h");
  take(std::chrono::minutes(1), "m");
  take(std::chrono::seconds(1), "s");
  take(std::chrono::milliseconds(1), "ms");
  return text.empty() ? "0s" : text;
}

}  // namespace sluice::base
