// ExchangeTelemetry writes the access log and the metrics of exchanges. Each worker has one, on its thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/telemetry/denials.h"
#include "proxy/exchange/telemetry/egress_telemetry.h"
#include "proxy/exchange/telemetry/identity_telemetry.h"
#include "proxy/exchange/telemetry/recent_failures.h"
#include "proxy/exchange/telemetry/step_series.h"
#include "proxy/exchange/telemetry/tunnel_telemetry.h"
#include "proxy/exchange/telemetry/workload.h"
#include "proxy/observe/access_log.h"
#include "proxy/observe/bounded_log.h"
#include "proxy/observe/events.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

class ExchangeTelemetry final : public ExchangeObserver {
 public:
  /// The number of entries of series_ at most. If there are more, because many workloads call, all are dropped, and
  /// looked up again.
  static constexpr std::size_t kMostSeries = 4096;

  /// All references outlive it.
  ExchangeTelemetry(net::Worker& worker, observe::MetricShard& metrics, observe::AccessLog& accessLog,
                    std::string revision, observe::EventBatch& events, const observe::Log* log = nullptr)
      : worker_(worker),
        metrics_(metrics),
        accessLog_(accessLog),
        revision_(std::move(revision)),
        events_(events),
        debug_(log, worker.clock()),
        trace_(log, worker.clock(), observe::LogLevel::kTrace),
        scriptLines_{{{log, worker.clock(), observe::LogLevel::kDebug},
                      {log, worker.clock(), observe::LogLevel::kInfo},
                      {log, worker.clock(), observe::LogLevel::kWarn}}},
        egress_(metrics, events),
        identities_(metrics, debug_),
        tunnels_(metrics),
        steps_(metrics) {}

  /// Takes the revision that is served now. Rules may go, and others may take their addresses. Called after
  /// Exchanges::adopt().
  void adopt(std::string revision);
  /// Drops every reference to an instrument. Instruments are looked up again when they are needed.
  void letGo();

  /// Returns the failures of late, for the live page.
  FailureReport failures() const { return failures_.report(); }

  void onRouted(const Exchange& exchange) override;
  void onLeftRoute(const Exchange& exchange) override;
  void onRetry(const Exchange& exchange, const Attempt& failed, const base::Error* error) override;
  void onFinished(const Exchange& exchange) override;
  void onTunnel(const Exchange& exchange) override { tunnels_.onOpened(namesOf(exchange)); }
  void onStep(const StepReport& report) override;
  void onMirrored(const Mirror& mirror) override;
  void onCallout(const BackendCallout& callout) override;
  void onEgress(const DialReport& report) override;
  void onEjection(const EjectionReport& report) override;
  void onIdentity(IdentitySource source, IdentityResult result) override { identities_.onJudged(source, result); }
  void onLimit(std::string_view limit) override;
  void onRecord(const processing::ProcessorRecord& record) override;
  bool onCount(std::string_view type, std::string_view name, std::uint64_t count) override {
    return metrics_.addNamed(type, name, count);
  }

 private:
  void tell(const std::optional<Denial>& denial);
  /// Writes a debug line about an attempt that has ended.
  void tellAttempt(const Exchange& exchange, const Attempt& attempt, const base::Error* error);
  /// Writes a trace line about a step of a payload processor.
  void tellStep(const StepReport& report);
  // Listener, rule and weighted backend live as long as the snapshot, and as the exchanges that pinned them.
  struct RoutedPlace {
    const routing::ServedListener* listener;
    const routing::Rule* rule;
    const routing::WeightedBackend* backend;
    friend bool operator==(const RoutedPlace&, const RoutedPlace&) = default;
  };
  // The names of the workload are those of its caller, and in series_ those of the entry.
  struct Key {
    RoutedPlace place;
    Workload workload;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// The instruments of one rule and Backend by status and error type, each looked up once.
  struct Durations {
    http::Method method;
    std::uint16_t status;
    std::string_view errorType;
    observe::Histogram* server;
    observe::Histogram* client;
  };
  struct RouteSeries {
    KeptWorkload workload;
    std::array<observe::Gauge*, http::kMethods> active{};
    std::vector<Durations> durations;
  };
  using Series = std::pair<const Key, RouteSeries>;
  /// `caller` may be null.
  Series& seriesOf(const RoutedPlace& place, const std::shared_ptr<const base::Caller>& caller);
  Series& lookUp(const Key& key);
  /// Returns the gauge of requests in flight that a request counts in, as it is routed now.
  observe::Gauge& activeOf(const Exchange& exchange);
  static RoutedPlace placeOf(const Exchange& exchange);
  /// Returns an entry that may have no instruments yet; each is looked up when it is first observed.
  static Durations& durationsOf(RouteSeries& series, http::Method method, std::uint16_t status,
                                std::string_view errorType);
  observe::Histogram& serverDuration(Durations& durations, const Key& key);
  observe::Histogram& clientDuration(Durations& durations, const Key& key);
  void log(const Exchange& exchange, base::MonotonicTime now);
  /// A request that came from no client: a mirror or a callout.
  struct InternalRequest {
    http::Method method;
    std::string_view gateway;
    std::string_view route;
    const routing::BackendPlan& backend;
    Workload workload;
    std::uint16_t status;  // of the answer; 0: there was none
    const std::optional<base::Error>& error;
    bool attempted;
    base::MonotonicTime begun;
  };
  void observe(const InternalRequest& request);
  void onFailedStep(const StepReport& report, const Workload& workload);
  /// Records an event for a use that has failed, and does not fail any more.
  void onRecoveredStep(const processing::Step& step);

  net::Worker& worker_;
  observe::MetricShard& metrics_;
  observe::AccessLog& accessLog_;
  std::string revision_;
  observe::EventBatch& events_;
  observe::BoundedLog debug_;
  observe::BoundedLog trace_;
  std::array<observe::BoundedLog, 3> scriptLines_;  // by level, from debug on
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      const std::hash<const void*> hash;
      const RoutedPlace& place = key.place;
      const std::size_t route = (hash(place.listener) * 31 + hash(place.rule)) * 31 + hash(place.backend);
      return route * 31 + WorkloadHash()(key.workload);
    }
  };
  std::unordered_map<Key, RouteSeries, KeyHash> series_;
  Series* recent_ = nullptr;  // looked up last
  // The caller it was looked up for. The requests of a connection have the same one, so that no names are compared.
  std::shared_ptr<const base::Caller> recentCaller_;
  EgressTelemetry egress_;
  IdentityTelemetry identities_;
  TunnelTelemetry tunnels_;
  StepSeries steps_;
  RecentFailures failures_;
};

}  // namespace sluice::exchange
