// Runs the active health checks of the whole process (TrafficPolicy.spec.healthCheck.active).
//
// As in Envoy, the first result is effective at once, and later ones when enough of them in a row agree. A Backend may
// have several checks, each with its own pace and state. Checks have connections of their own, so that a check waits
// for no request and no request for a check. Checks that ask the same destination the same question share their probes.
// The endpoints of a Service are checked one by one. It runs on the main thread's loop; the results are in
// routing::ActiveCheck, and together in routing::HealthCheck.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/random.h"
#include "proxy/base/settings.h"
#include "proxy/control/health/probe_turns.h"
#include "proxy/control/health/shared_probe.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/dial/dialer.h"
#include "proxy/upstream/dial/failed_addresses.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::control {

/// The result of one check. `endpoint` is set for one of the endpoints of a Service; `wrong` is empty if it passed.
struct CheckResult {
  const routing::ActiveCheck& check;
  const routing::BackendPlan& backend;
  const std::optional<routing::Endpoint>& endpoint;
  const std::string& wrong;
  bool isChange;    // enough results in a row have changed the state of the check
  bool allHealthy;  // all checks of the Backend or endpoint have passed often enough
};

class HealthObserver {
 public:
  /// Called when the health of a Backend has changed: when all its checks find that it is healthy, or when the first
  /// one finds that it is not. `wrong` is the fault if it is unhealthy, else empty. `endpoint` is set for one of the
  /// endpoints of a Service.
  virtual void onHealth(const routing::CheckedBackend& backend, const std::optional<routing::Endpoint>& endpoint,
                        const std::string& wrong) = 0;
  /// Called after each check whose result has changed its state, and after each one that failed.
  virtual void onCheck(const CheckResult& result) = 0;

 protected:
  ~HealthObserver() = default;
};

/// All references outlive the checker.
struct HealthCheckerParts {
  net::Worker& worker;
  net::Resolver& resolver;
  upstream::Dialer& dialer;
  observe::MetricShard& metrics;
  HealthObserver& observer;
  std::uint64_t randomSeed = 1;  // of delays; not 0
};

class HealthChecker final : public net::Beats, private net::Timer {
 public:
  explicit HealthChecker(const HealthCheckerParts& parts);
  ~HealthChecker() override;
  HealthChecker(const HealthChecker&) = delete;
  HealthChecker& operator=(const HealthChecker&) = delete;

  /// Checks these Backends from the next beat on, and no others, with at most that many probes a second. Checks that
  /// were made before go on as they were.
  void adopt(const upstream::UpstreamPolicy& policy, std::uint64_t probesPerSecond,
             std::vector<routing::CheckedBackend> checked);
  /// Returns the Backends that are checked, by name.
  const std::vector<routing::CheckedBackend>& checked() const { return checked_; }

  // net::Beats
  void drive() override;
  void flush() override { upstreams_.flush(); }
  void reap() override;
  bool quiet() const override { return due_.empty() && board_.due.empty() && !isTurn_ && !next_ && upstreams_.quiet(); }
  /// Ends all checks and drops all connections.
  void shutdown();

 private:
  class EndpointCheck;
  /// Each endpoint of a Service is checked by itself; a Backend has one that is not named here.
  using CheckKey = std::pair<const routing::ActiveCheck*, std::optional<routing::Endpoint>>;
  /// Each leaves due_ at its end.
  using EndpointCheckMap = std::map<CheckKey, std::unique_ptr<EndpointCheck>>;
  /// By the identity of the plan of the checks that share it.
  using SharedProbeMap = std::map<routing::BackendIdentity, std::unique_ptr<SharedProbe>>;
  void setChecks();
  /// Puts the check of a Backend, or of that endpoint, into `kept`: the one that there is, or else a new one.
  void keep(const routing::CheckedBackend& backend, const std::shared_ptr<const routing::ActiveCheck>& check,
            const std::optional<routing::Endpoint>& endpoint, EndpointCheckMap& kept);
  /// Gives each check its probe, and ends those that no check uses any more.
  void shareProbes();
  /// Puts the probe of a check into `kept`: the one that there is, or else a new one.
  SharedProbe& keepProbe(const std::shared_ptr<const routing::BackendPlan>& target,
                         const std::shared_ptr<const routing::ActiveCheck>& check, SharedProbeMap& kept);
  /// Begins the probe of the check, or lets the check wait for its turn.
  void begin(EndpointCheck& check);
  /// Begins the probes of the checks whose turn it is.
  void takeTurns();
  void onTimer() override { isTurn_ = true; }
  /// Writes the states of the endpoints of a Service that the check has found.
  void gather(const routing::ActiveCheck& check) const;
  /// Returns true if some check of the Backend or endpoint has failed since it last passed often enough.
  bool someHaveFailed(const routing::HealthCheck& checks, const std::optional<routing::Endpoint>& endpoint) const;

  const HealthCheckerParts parts_;
  base::Random random_;
  upstream::CircuitBreakers breakers_;
  upstream::FailedAddresses failedAddresses_;  // of checks alone
  http::H2Memory h2Memory_;
  upstream::UpstreamPolicy policy_;
  upstream::Upstreams upstreams_;
  std::vector<routing::CheckedBackend> checked_;
  std::optional<std::vector<routing::CheckedBackend>> next_;  // until the end of the beat
  bool isTurn_ = false;                                       // true if takeTurns() must be called
  ProbeBoard board_;
  ProbeTurns<EndpointCheck> turns_{base::LimitSettings().probesPerSecond};
  SharedProbeMap probes_;
  std::vector<EndpointCheck*> due_;
  EndpointCheckMap checks_;
};

}  // namespace sluice::control
