#include "proxy/server/serving/health_checks.h"

#include <map>
#include <random>
#include <utility>

#include "proxy/compile/status/backend_health.h"
#include "proxy/server/serving/http_limits.h"

namespace sluice::server {
namespace {

std::uint64_t seedOfChecks() {
  std::random_device random;
  return random() | 1;  // not 0
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
  checker_->adopt(policyOf(snapshot), snapshot.checked);
}

void HealthChecks::onHealth(const routing::CheckedBackend& checked, const std::optional<routing::Endpoint>& endpoint,
                            const std::string& wrong) {
  const routing::BackendPlan& backend = *checked.backend;
  const bool good = wrong.empty();
  const std::string name = endpoint ? compile::addressOf(*endpoint) : compile::endpointOf(backend);
  const std::string message = "health checks of " + name + (good ? " pass" : " fail: " + wrong);
  const base::WallTime now = main_.clock().wallNow();
  events_.note({good ? observe::EventType::kNormal : observe::EventType::kWarning,
                good ? "BackendHealthy" : "BackendUnhealthy", routing::titleOf(backend), message, 1, now, now});
  if (good) {
    log_.info("backend is healthy", {{"backend", backend.name}, {"endpoint", name}});
  } else {
    log_.warn("backend is unhealthy", {{"backend", backend.name}, {"endpoint", name}, {"reason", wrong}});
  }
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
