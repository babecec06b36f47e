// Counts the decisions of EgressPolicies, and records an event for each rule and destination that are denied. Each
// worker has one, on its thread.
#pragma once

#include <array>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "proxy/exchange/transaction/observer.h"
#include "proxy/observe/events.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

class EgressTelemetry {
 public:
  /// Both outlive it.
  EgressTelemetry(observe::MetricShard& metrics, observe::EventBatch& events) : metrics_(metrics), events_(events) {}

  void onReport(const DialReport& report, base::WallTime now);
  /// Drops every reference to an instrument, and to a policy.
  void letGo() { counters_.clear(); }

 private:
  static constexpr std::size_t kDecisions = 3;
  using Counters = std::array<observe::Counter*, kDecisions>;  // null until it is looked up

  // Policies live as long as the snapshot, and as the exchanges that pinned it.
  std::unordered_map<const routing::EgressJudge*, std::vector<Counters>> counters_;  // by rule; the default is last
  observe::MetricShard& metrics_;
  observe::EventBatch& events_;
};

}  // namespace sluice::exchange
