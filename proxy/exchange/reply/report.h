// What is told of exchanges to people and machines: access log lines and metrics. One per worker, on its thread.
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
#include "proxy/observe/access_log.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

class Report final : public ExchangeObserver {
 public:
  /// All references outlive it.
  Report(net::Worker& worker, observe::MetricShard& metrics, observe::AccessLog& accessLog, std::string revision)
      : worker_(worker), metrics_(metrics), accessLog_(accessLog), revision_(std::move(revision)) {}

  /// What is served now: rules may go, and others take their addresses. To be told after Exchanges.
  void adopt(std::string revision);
  /// Keeps no reference to any instrument any more; it asks for them anew when it needs them.
  void letGo();

  void onRouted(const Exchange& exchange) override;
  void onLeftRoute(const Exchange& exchange) override;
  void onRetry(const Exchange& exchange, const Attempt& failed, std::uint16_t status,
               const base::Error* error) override;
  void onFinished(const Exchange& exchange) override;
  void onStep(const processing::Step& step, base::Duration time, const processing::Verdict& verdict,
              processing::StepOutcome outcome) override;
  void onMirrored(const Mirror& mirror) override;
  void onCallout(const Callout& callout) override;
  void onLimit(std::string_view limit) override;

 private:
  // By listener, rule and chosen share: they live as long as the snapshot, and as the exchanges that pinned them.
  struct Key {
    const routing::ServedListener* listener;
    const routing::Rule* rule;
    const routing::WeightedBackend* backend;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// The instruments of one rule and Backend, looked up once: by status and error type.
  struct Durations {
    std::uint16_t status;
    std::string_view errorType;
    observe::Histogram* server;
    observe::Histogram* client;
  };
  struct Series {
    observe::Gauge* active = nullptr;
    std::vector<Durations> durations;
  };
  Series& seriesOf(const Key& key);
  /// Made without instruments; what is observed asks for its own.
  static Durations& durationsOf(Series& series, std::uint16_t status, std::string_view errorType);
  observe::Histogram& serverDuration(Durations& durations, const Key& key);
  observe::Histogram& clientDuration(Durations& durations, const Key& key);
  void log(const Exchange& exchange, base::MonotonicTime now);
  /// One that was no client's.
  struct OwnRequest {
    std::string_view gateway;
    std::string_view route;
    std::string_view backend;
    std::uint16_t status;
    const std::optional<base::Error>& error;
    base::MonotonicTime begun;
  };
  void observe(const OwnRequest& request);

  net::Worker& worker_;
  observe::MetricShard& metrics_;
  observe::AccessLog& accessLog_;
  std::string revision_;
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      const std::hash<const void*> hash;
      return (hash(key.listener) * 31 + hash(key.rule)) * 31 + hash(key.backend);
    }
  };
  std::unordered_map<Key, Series, KeyHash> series_;
  std::pair<const Key, Series>* recent_ = nullptr;  // looked up last
  /// By the address of a step, which leads to one place; who finds another there looks its instrument up.
  struct StepDurations {
    const processing::Step* step = nullptr;
    observe::Histogram* durations = nullptr;
  };
  static constexpr std::size_t kKnownSteps = 509;
  std::array<StepDurations, kKnownSteps> stepDurations_;
};

}  // namespace sluice::exchange
