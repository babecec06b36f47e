// Counts what callers have shown of their identity. Each worker has one, on its thread.
#pragma once

#include <array>
#include <cstddef>

#include "proxy/exchange/transaction/observer.h"
#include "proxy/observe/bounded_log.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

class IdentityTelemetry {
 public:
  /// Both outlive it.
  IdentityTelemetry(observe::MetricShard& metrics, observe::BoundedLog& debug) : metrics_(metrics), debug_(debug) {}

  void onJudged(IdentitySource source, IdentityResult result);
  /// Drops every reference to an instrument.
  void letGo() { counters_ = {}; }

 private:
  static constexpr std::size_t kSources = 3;
  static constexpr std::size_t kResults = 3;

  observe::MetricShard& metrics_;
  observe::BoundedLog& debug_;
  std::array<std::array<observe::Counter*, kResults>, kSources> counters_{};  // null until it is looked up
};

}  // namespace sluice::exchange
