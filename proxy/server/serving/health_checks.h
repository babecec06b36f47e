// The health checks of the process: a checker with its own resolver and dialer, on the main thread's loop. It is made
// when a configuration first has checks. The results are logged as each check says, recorded as events, and shown in
// the metrics.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "proxy/control/health/health_checker.h"
#include "proxy/net/worker.h"
#include "proxy/observe/events.h"
#include "proxy/observe/exposition.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/dial/dialer.h"

namespace sluice::server {

inline constexpr auto kHealthFamilies = std::to_array<observe::ReadFamily>({
    {observe::MetricKind::kGauge,
     "sluice_upstream_endpoint_healthy",
     {"backend", "endpoint"},
     "1 if all health checks of the endpoint pass, 0 if one fails."},
});

class HealthChecks final : public net::Beats, private control::HealthObserver {
 public:
  /// All references outlive it.
  HealthChecks(net::Worker& main, observe::MetricShard& metrics, observe::Log& log, observe::EventRing& events)
      : main_(main), metrics_(metrics), log_(log), events_(events), dialer_(main) {}

  /// Checks the Backends that the served configuration wants checked.
  void adopt(const routing::Snapshot& snapshot);
  /// Appends the metric of the health of all checked Backends.
  void appendMetrics(std::string& out) const;

  // net::Beats
  void drive() override {
    if (checker_) checker_->drive();
  }
  void flush() override {
    if (checker_) checker_->flush();
  }
  void reap() override {
    if (checker_) checker_->reap();
  }
  bool quiet() const override { return !checker_ || checker_->quiet(); }
  /// Drops all connections, inside a Turn, before the loop ends.
  void shutdown();

 private:
  void onHealth(const routing::CheckedBackend& backend, const std::optional<routing::Endpoint>& endpoint,
                const std::string& wrong) override;
  void onCheck(const control::CheckResult& result) override;

  net::Worker& main_;
  observe::MetricShard& metrics_;
  observe::Log& log_;
  observe::EventRing& events_;
  upstream::NetworkDialer dialer_;
  std::unique_ptr<net::Resolver> resolver_;
  std::unique_ptr<control::HealthChecker> checker_;
};

}  // namespace sluice::server
