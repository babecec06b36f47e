#include "proxy/exchange/telemetry/step_series.h"

namespace sluice::exchange {

StepSeries::ByNumber& StepSeries::ofKnown(const Workload& workload) {
  if (recent_ != nullptr && recent_->first == workload) return recent_->second.durations;
  auto found = ofKnown_.find(workload);
  if (found == ofKnown_.end()) {
    if (ofKnown_.size() >= kMostWorkloads) ofKnown_.clear();
    KeptWorkload names(workload);
    const Workload key = names.get();
    found = ofKnown_.emplace(key, OfWorkload{std::move(names), {}}).first;
  }
  recent_ = &*found;
  return recent_->second.durations;
}

observe::Histogram& StepSeries::lookUp(const processing::Step& step, const Workload& workload) {
  auto& durations = metrics_.at<observe::Metric::kProcessorDuration>(step.type, processing::phaseName(step.phase),
                                                                     workload.nameSpace, workload.serviceAccount);
  if (step.number == 0) return durations;
  ByNumber& known = workload.isKnown() ? ofKnown(workload) : ofUnknown_;
  if (step.number >= known.size()) known.resize(step.number + std::size_t{1});
  known[step.number] = &durations;
  return durations;
}

void StepSeries::letGo() {
  ofUnknown_.clear();
  ofKnown_.clear();
  recent_ = nullptr;
}

}  // namespace sluice::exchange
