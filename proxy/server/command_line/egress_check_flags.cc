#include "proxy/server/command_line/egress_check_flags.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "proxy/base/duration.h"
#include "proxy/server/command_line/help_text.h"

namespace sluice::server {
namespace {

std::string checkTarget(const std::string& text) {
  const auto target = parseCheckTarget(text);
  return target ? std::string() : target.error().detail;
}

std::string checkGatewayTarget(const std::string& text) {
  const auto target = parseCheckTarget(text);
  if (target && target->protocol != net::ProbeProtocol::kTcp) return "'" + text + "' is not HOST:PORT";
  return target ? std::string() : target.error().detail;
}

std::string checkTimeout(const std::string& text) {
  const auto timeout = base::parseDuration(text);
  const bool bounded = timeout && *timeout > base::Duration(0) && *timeout <= std::chrono::minutes(1);
  return bounded ? std::string() : "'" + text + "' is no duration between 1ms and 1m, as 5s";
}

}  // namespace

void takeEgressCheck(CLI::App& command, EgressCheckOptions& check) {
  command.footer(std::string(kEgressCheckNotes));
  command
      .add_option_function<std::vector<std::string>>(
          "--target",
          [&check](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) check.targets.push_back(*parseCheckTarget(text));
          },
          "a destination that must not be reachable: HOST:PORT by TCP, or udp://HOST:PORT by a DNS query; may be "
          "repeated "
          "(default: the addresses of public name servers, and example.com:443)")
      ->type_name("TARGET")
      ->expected(1)
      ->take_all()
      ->check(checkTarget);
  command
      .add_option_function<std::string>(
          "--gateway", [&check](const std::string& text) { check.gateway = *parseCheckTarget(text); },
          "the gateway, which must be reachable by TCP")
      ->type_name("HOST:PORT")
      ->check(checkGatewayTarget);
  command
      .add_option_function<std::string>(
          "--timeout", [&check](const std::string& text) { check.timeout = *base::parseDuration(text); },
          "the time limit for each connection and each name (default 5s)")
      ->type_name("TIME")
      ->check(checkTimeout);
}

}  // namespace sluice::server
