#include "proxy/compile/routes/compile_health_checks.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "proxy/base/text.h"

namespace sluice::compile {
namespace {

std::vector<std::pair<std::string, std::string>> headersOf(const config::ActiveHealthSettings& active) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const config::HeaderValue& each : active.headers) headers.emplace_back(each.name, each.value);
  return headers;
}

routing::HealthCheckSettings checkSettings(const config::ActiveHealthSettings& active) {
  using Type = config::ActiveHealthSettings::Type;
  using Kind = routing::HealthCheckKind;
  const Kind kind = active.type == Type::kHttp ? Kind::kHttp : active.type == Type::kGrpc ? Kind::kGrpc : Kind::kTcp;
  return {.kind = kind,
          .interval = active.interval,
          .unhealthyInterval = active.unhealthyInterval,
          .initialJitter = active.initialJitter,
          .timeout = active.timeout,
          .unhealthyThreshold = active.unhealthyThreshold,
          .healthyThreshold = active.healthyThreshold,
          .port = active.port,
          .plain = active.plain,
          .serverName = active.serverName,
          .insecureSkipVerify = active.insecureSkipVerify,
          .hostname = active.hostname,
          .path = active.path,
          .method = active.method,
          .expectedStatuses = kind == Kind::kHttp ? active.expectedStatuses : std::vector<std::uint16_t>(),
          .service = active.service,
          .send = active.send,
          .expected = active.expected,
          .headers = headersOf(active),
          .log = active.log};
}

/// Returns a text that is the same only for equal settings. It may have a credential, and is only a key.
std::string checkText(const routing::HealthCheckSettings& check) {
  std::string text = base::measured(routing::questionOf(check));
  for (const base::Duration each : {check.interval, check.unhealthyInterval, check.initialJitter}) {
    text += " " + std::to_string(each.count());
  }
  text += " " + std::to_string(check.unhealthyThreshold) + " " + std::to_string(check.healthyThreshold);
  text += " " + std::to_string(check.port) + (check.plain ? " plain" : "") + (check.insecureSkipVerify ? " any" : "");
  return text + base::measured(check.serverName) + " log " + std::to_string(static_cast<int>(check.log));
}

/// Returns the checks of a Backend that are shared with all rules that check it in the same way.
routing::HealthCheck::Checks activeChecks(const config::ActiveChecks& active, const std::string& backend,
                                          processing::SharedStates& states) {
  routing::HealthCheck::Checks checks;
  for (const config::ActiveHealthSettings& each : active) {
    const routing::HealthCheckSettings settings = checkSettings(each);
    auto check = states.get<routing::ActiveCheck>("active check of " + backend + ": " + checkText(settings), [&] {
      return std::make_shared<const routing::ActiveCheck>(settings);
    });
    if (std::find(checks.begin(), checks.end(), check) == checks.end()) checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace

std::vector<std::shared_ptr<const routing::HealthCheck>> compileHealthChecks(const RuleTraffic& traffic,
                                                                             const routing::Rule& compiled,
                                                                             processing::SharedStates& states) {
  std::vector<std::shared_ptr<const routing::HealthCheck>> checks(compiled.backends.size());
  bool any = false;
  for (std::size_t i = 0; i < compiled.backends.size(); ++i) {
    const auto& backend = compiled.backends[i].backend;
    const config::ActiveChecks* const active = traffic.ofBackend(i).activeHealth;
    if (backend == nullptr || active == nullptr) continue;
    const std::string name = backend->identity.text();
    routing::HealthCheck::Checks parts = activeChecks(*active, name, states);
    std::string key = "health of " + name + ":";
    for (const auto& each : parts) key += base::measured(checkText(each->settings()));
    checks[i] = states.get<routing::HealthCheck>(
        key, [&] { return std::make_shared<const routing::HealthCheck>(std::move(parts)); });
    any = true;
  }
  if (!any) checks.clear();
  return checks;
}

}  // namespace sluice::compile
