#include "proxy/server/command_line/interval_flags.h"

#include <string>

#include "proxy/base/duration.h"

namespace sluice::server {
namespace {

std::string checkInterval(const std::string& text) {
  const std::optional<base::Duration> interval = base::parseDuration(text);
  const bool isRight = interval && *interval >= std::chrono::milliseconds(100) && *interval <= std::chrono::hours(1);
  return isRight ? std::string() : "'" + text + "' is not a time from 100ms to 1h, such as 2s";
}

}  // namespace

void takeInterval(CLI::App& command, base::Duration& interval) {
  command
      .add_option_function<std::string>(
          "--interval", [&interval](const std::string& text) { interval = *base::parseDuration(text); },
          "the shortest time between two states (default 1s)")
      ->type_name("DURATION")
      ->check(checkInterval);
}

}  // namespace sluice::server
