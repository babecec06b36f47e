// The histograms of steps of payload processors, by the numbers of steps and by the calling workload, each looked up
// once. Each worker has one, on its thread.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/exchange/telemetry/workload.h"
#include "proxy/observe/metrics.h"
#include "proxy/processing/chain.h"

namespace sluice::exchange {

class StepSeries {
 public:
  /// The number of workloads whose instruments are kept. If there are more, all are dropped, and looked up again.
  static constexpr std::size_t kMostWorkloads = 1024;

  /// `metrics` outlives it.
  explicit StepSeries(observe::MetricShard& metrics) : metrics_(metrics) {}
  StepSeries(const StepSeries&) = delete;
  StepSeries& operator=(const StepSeries&) = delete;

  observe::Histogram& durationsOf(const processing::Step& step, const Workload& workload) {
    const ByNumber& known = workload.isKnown() ? ofKnown(workload) : ofUnknown_;
    observe::Histogram* const found = step.number < known.size() ? known[step.number] : nullptr;
    return found != nullptr ? *found : lookUp(step, workload);
  }
  /// Returns the number of workloads whose instruments are kept now.
  std::size_t workloads() const { return ofKnown_.size(); }
  /// Drops every reference to an instrument.
  void letGo();

 private:
  using ByNumber = std::vector<observe::Histogram*>;  // null: not looked up yet
  struct OfWorkload {
    KeptWorkload names;  // those of the key
    ByNumber durations;
  };

  ByNumber& ofKnown(const Workload& workload);
  /// Looks the instrument up by its names, and keeps it if the step has a number.
  observe::Histogram& lookUp(const processing::Step& step, const Workload& workload);

  observe::MetricShard& metrics_;
  ByNumber ofUnknown_;
  std::unordered_map<Workload, OfWorkload, WorkloadHash> ofKnown_;
  std::pair<const Workload, OfWorkload>* recent_ = nullptr;  // looked up last
};

}  // namespace sluice::exchange
