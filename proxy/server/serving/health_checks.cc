#include "proxy/server/serving/health_checks.h"

#include <map>
#include <random>
#include <utility>

#include "proxy/base/terms/check_log.h"
#include "proxy/compile/status/backend_health.h"
#include "proxy/server/serving/http_limits.h"

namespace sluice::server {
namespace {

std::uint64_t seedOfChecks() {
  std::random_device random;
  return random() | 1;  // not 0
}

std::string nameOf(const routing::BackendPlan& backend, const std::optional<routing::Endpoint>& endpoint) {
  return endpoint ? compile::addressOf(*endpoint) : compile::endpointOf(backend);
}

/// Returns a name for one of several checks of a Backend. It has no query, which may have a credential.
std::string titleOf(const routing::HealthCheckSettings& check) {
  std::string title = "TCP";
  if (check.kind == routing::HealthCheckKind::kHttp) title = "HTTP " + check.path.substr(0, check.path.find('?'));
  if (check.kind == routing::HealthCheckKind::kGrpc) title = "GRPC";
  if (!check.service.empty()) title += " " + check.service;
  return check.port == 0 ? title : title + " at port " + std::to_string(check.port);
}

}  // namespace

void HealthChecks::adopt(const routing::Snapshot& snapshot) {
  const bool isShutDown = checker_ && !resolver_;
  if (isShutDown || (!checker_ && snapshot.checked.empty())) return;
  if (!checker_) {
    auto resolver = net::makeResolver(main_, snapshot.settings.dns, {.metrics = &metrics_});
    if (!resolver.ok()) {
      log_.error("Backends cannot be checked", {{"reason", resolver.error().detail}});
      return;
    }
    resolver_ = std::move(*resolver);
    checker_ = std::make_unique<control::HealthChecker>(
        control::HealthCheckerParts{main_, *resolver_, dialer_, metrics_, *this, seedOfChecks()});
  }
  checker_->adopt(policyOf(snapshot), snapshot.settings.limits.probesPerSecond, snapshot.checked);
}

void HealthChecks::onHealth(const routing::CheckedBackend& checked, const std::optional<routing::Endpoint>& endpoint,
                            const std::string& wrong) {
  const routing::BackendPlan& backend = *checked.backend;
  const bool good = wrong.empty();
  const std::string message = "health checks of " + nameOf(backend, endpoint) + (good ? " pass" : " fail: " + wrong);
  const base::WallTime now = main_.clock().wallNow();
  events_.note({good ? observe::EventType::kNormal : observe::EventType::kWarning,
                good ? "BackendHealthy" : "BackendUnhealthy", routing::titleOf(backend), message, 1, now, now});
}

void HealthChecks::onCheck(const control::CheckResult& result) {
  const base::CheckLog wanted = result.check.settings().log;
  if (wanted == base::CheckLog::kOff) return;
  const std::string& backend = result.backend.name;
  const std::string endpoint = nameOf(result.backend, result.endpoint);
  const std::string check = titleOf(result.check.settings());
  if (result.wrong.empty()) {
    log_.info(result.allHealthy ? "backend is healthy" : "health check passes",
              {{"backend", backend}, {"endpoint", endpoint}, {"check", check}});
    return;
  }
  const observe::Log::Fields fields = {
      {"backend", backend}, {"endpoint", endpoint}, {"check", check}, {"reason", result.wrong}};
  if (wanted == base::CheckLog::kAll) log_.warn("health check failed", fields);
  if (result.isChange) log_.warn("backend is unhealthy", fields);
}

void HealthChecks::appendMetrics(std::string& out) const {
  observe::Exposition page(out);
  page.begin(kHealthFamilies[0]);
  if (!checker_) return;
  // Rules may check one Backend in several ways.
  std::map<std::pair<std::string, std::string>, bool> healthy;
  const auto note = [&](const routing::BackendPlan& backend, const std::string& endpoint, routing::CheckedState state) {
    if (state == routing::CheckedState::kUnknown) return;
    bool& all = healthy.try_emplace({backend.name, endpoint}, true).first->second;
    all = all && state == routing::CheckedState::kHealthy;
  };
  for (const routing::CheckedBackend& each : checker_->checked()) {
    if (!each.backend->endpoints) {
      note(*each.backend, compile::endpointOf(*each.backend), each.check->state());
      continue;
    }
    for (const auto& [endpoint, state] : each.check->endpoints())
      note(*each.backend, compile::addressOf(endpoint), state);
  }
  for (const auto& [labels, all] : healthy) page.add({labels.first, labels.second}, std::uint64_t{all ? 1U : 0U});
}

void HealthChecks::shutdown() {
  if (checker_) checker_->shutdown();
  resolver_.reset();
}

}  // namespace sluice::server
