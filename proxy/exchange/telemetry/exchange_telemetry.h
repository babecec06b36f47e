// ExchangeTelemetry writes the access log and the metrics of exchanges. Each worker has one, on its thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/telemetry/denials.h"
#include "proxy/exchange/telemetry/egress_telemetry.h"
#include "proxy/exchange/telemetry/tunnel_telemetry.h"
#include "proxy/observe/access_log.h"
#include "proxy/observe/bounded_log.h"
#include "proxy/observe/events.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

class ExchangeTelemetry final : public ExchangeObserver {
 public:
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
        egress_(metrics, events),
        tunnels_(metrics) {}

  /// Takes the revision that is served now. Rules may go, and others may take their addresses. Called after
  /// Exchanges::adopt().
  void adopt(std::string revision);
  /// Drops every reference to an instrument. Instruments are looked up again when they are needed.
  void letGo();

  void onRouted(const Exchange& exchange) override;
  void onLeftRoute(const Exchange& exchange) override;
  void onRetry(const Exchange& exchange, const Attempt& failed, std::uint16_t status,
               const base::Error* error) override;
  void onFinished(const Exchange& exchange) override;
  void onTunnel(const Exchange& exchange) override { tunnels_.onOpened(namesOf(exchange)); }
  void onStep(const StepReport& report) override;
  void onMirrored(const Mirror& mirror) override;
  void onCallout(const BackendCallout& callout) override;
  void onEgress(const DialReport& report) override;
  void onLimit(std::string_view limit) override;

 private:
  void tell(const std::optional<Denial>& denial);
  /// Writes a debug line about an attempt that has ended.
  void tellAttempt(const Exchange& exchange, const Attempt& attempt, std::uint16_t status, const base::Error* error);
  /// Writes a trace line about a step of a payload processor.
  void tellStep(const StepReport& report);
  // Listener, rule and weighted backend live as long as the snapshot, and as the exchanges that pinned them.
  struct Key {
    const routing::ServedListener* listener;
    const routing::Rule* rule;
    const routing::WeightedBackend* backend;
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
    std::array<observe::Gauge*, http::kMethods> active{};
    std::vector<Durations> durations;
  };
  RouteSeries& seriesOf(const Key& key);
  /// Returns the gauge of requests in flight that a request counts in, as it is routed now.
  observe::Gauge& activeOf(const Exchange& exchange) { return activeOf(exchange, keyOf(exchange)); }
  observe::Gauge& activeOf(const Exchange& exchange, const Key& key);
  static Key keyOf(const Exchange& exchange);
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
    std::uint16_t status;
    const std::optional<base::Error>& error;
    base::MonotonicTime begun;
  };
  void observe(const InternalRequest& request);
  /// Looks the instrument of a step up by its names, and keeps it if the step has a number.
  observe::Histogram& lookUpDurations(const processing::Step& step);
  void onFailedStep(const processing::Step& step, processing::Cause cause, processing::StepOutcome outcome);
  /// Records an event for a use that has failed, and does not fail any more.
  void onRecoveredStep(const processing::Step& step);

  net::Worker& worker_;
  observe::MetricShard& metrics_;
  observe::AccessLog& accessLog_;
  std::string revision_;
  observe::EventBatch& events_;
  observe::BoundedLog debug_;
  observe::BoundedLog trace_;
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      const std::hash<const void*> hash;
      return (hash(key.listener) * 31 + hash(key.rule)) * 31 + hash(key.backend);
    }
  };
  std::unordered_map<Key, RouteSeries, KeyHash> series_;
  std::pair<const Key, RouteSeries>* recent_ = nullptr;  // looked up last
  EgressTelemetry egress_;
  TunnelTelemetry tunnels_;
  std::vector<observe::Histogram*> stepDurations_;  // by the numbers of steps; null: not looked up yet
};

}  // namespace sluice::exchange
