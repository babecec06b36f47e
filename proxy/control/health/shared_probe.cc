#include "proxy/control/health/shared_probe.h"

#include <utility>

#include "proxy/control/health/check_plan.h"

namespace sluice::control {

SharedProbe::SharedProbe(const SharedProbeParts& parts, std::shared_ptr<const routing::BackendPlan> target,
                         std::shared_ptr<const routing::ActiveCheck> check)
    : parts_(parts),
      target_(std::move(target)),
      check_(std::move(check)),
      plan_(planApart(*target_, ++parts_.board.numbers)) {}

SharedProbe::~SharedProbe() { std::erase(parts_.board.due, this); }

const ProbeFinding* SharedProbe::resultWithin(base::Duration age) const {
  return result_ && !result_->ofOwnLimit && now() - result_->at < age ? &*result_ : nullptr;
}

void SharedProbe::start() {
  for (ProbeWaiter* each : waiting_) each->onProbeBegun();
  dials_.emplace(covers_, *plan_);
  probe_ = std::make_unique<BackendProbe>(
      ProbeParts{parts_.upstreams, parts_.dialer, static_cast<ProbeUser&>(*this), *dials_}, plan_, check_->settings());
}

void SharedProbe::drive() {
  isDue_ = false;
  if (probe_ == nullptr) return;
  probe_->drive();
  if (!probe_->fault()) return;
  result_ = ProbeFinding{*probe_->fault(), probe_->failedByOwnLimit(), now()};
  probe_.reset();
  if (!result_->wrong.empty()) connectAnew();
  for (ProbeWaiter* each : std::exchange(waiting_, {})) each->onProbed(*result_);
}

/// The next probe uses another connection. This one may be dead, which TCP finds out too late.
void SharedProbe::connectAnew() {
  plan_ = planApart(*target_, ++parts_.board.numbers);
  parts_.board.hasOtherPlans = true;
}

void SharedProbe::mark() {
  if (std::exchange(isDue_, true)) return;
  parts_.board.due.push_back(this);
}

}  // namespace sluice::control
