#include "proxy/control/health/health_checker.h"

#include <algorithm>
#include <utility>

#include "proxy/control/health/check_plan.h"

namespace sluice::control {
namespace {

using routing::CheckedState;

// Each check has one request at most.
constexpr std::uint64_t kMostProbes = 1024;
// An author of EndpointSlices must not be able to keep the main thread busy; further endpoints are treated as healthy.
constexpr std::size_t kMostEndpoints = 256;
constexpr base::Duration kLongestStart = std::chrono::seconds(1);
constexpr base::Duration::rep kJitterParts =
    10;  // a delay is up to a tenth longer, so that checks do not come all at once

}  // namespace

/// The check of one Backend, or of one endpoint of a Service: the time of the next probe, and the result of the last
/// ones.
class HealthChecker::EndpointCheck final : private net::Timer, private ProbeUser {
 public:
  EndpointCheck(HealthChecker& checker, routing::CheckedBackend backend, std::optional<routing::Endpoint> endpoint)
      : checker_(checker),
        backend_(std::move(backend)),
        endpoint_(std::move(endpoint)),
        state_(endpoint_ ? CheckedState::kUnknown : backend_.check->state()) {
    makePlan();
    begin();
  }
  ~EndpointCheck() override { std::erase(checker_.due_, this); }

  void adopt(const routing::CheckedBackend& backend) {
    backend_ = backend;
    makePlan();
  }
  CheckedState state() const { return state_; }
  const std::shared_ptr<const routing::BackendPlan>& plan() const { return plan_; }

  void drive() {
    due_ = false;
    if (probe_ == nullptr) {
      if (!std::exchange(isTime_, false)) return;  // the probe has ended meanwhile
      if (isDenied()) return wait(settings().interval);
      probe_ = std::make_unique<BackendProbe>(
          ProbeParts{checker_.upstreams_, checker_.parts_.dialer, static_cast<ProbeUser&>(*this), *dials_}, plan_,
          settings());
      return;
    }
    probe_->drive();
    if (!probe_->fault()) return;
    const std::string wrong = *probe_->fault();
    const bool isTold = !probe_->failedByOwnLimit();
    probe_.reset();
    if (!wrong.empty()) connectAnew();
    if (isTold) note(wrong);
    const bool waitsLonger =
        state_ == CheckedState::kUnhealthy && settings().unhealthyInterval > base::Duration::zero();
    wait(waitsLonger ? settings().unhealthyInterval : settings().interval);
  }

 private:
  const routing::HealthCheckSettings& settings() const { return backend_.check->settings(); }

  /// Policies may deny a check that no client has asked for. Its state then stays as it is.
  bool isDenied() {
    dials_.emplace(backend_.covers, *plan_);
    const routing::EgressVerdict* const denial = dials_->denial();
    if (denial == nullptr) return false;
    checker_.parts_.metrics.at<observe::Metric::kEgressDecisions>(denial->policyName(), denial->ruleName(), "denied")
        .add();
    return true;
  }

  void begin() {
    const base::Duration jitter = settings().initialJitter;
    if (jitter > base::Duration::zero()) return wakeAfter(upTo(jitter));
    wait(std::min(settings().interval, kLongestStart) / kJitterParts);
  }
  void wait(base::Duration delay) { wakeAfter(delay + upTo(delay / kJitterParts)); }
  base::Duration upTo(base::Duration most) {
    const auto parts = static_cast<std::uint64_t>(most.count()) + 1;
    return base::Duration(static_cast<base::Duration::rep>(checker_.random_.next() % parts));
  }
  void wakeAfter(base::Duration delay) {
    net::Worker& worker = checker_.parts_.worker;
    worker.timers().set(*this, worker.now() + delay);
  }

  /// The next probe uses another connection. This one may be dead, which TCP finds out too late.
  void connectAnew() {
    ++generation_;
    makePlan();
    checker_.hasOtherPlans_ = true;
  }
  void makePlan() { plan_ = planOfChecks(*backend_.backend, endpoint_, settings(), generation_); }

  void note(const std::string& wrong) {
    const bool good = wrong.empty();
    inARow_ = good == lastGood_ ? inARow_ + 1 : 1;
    lastGood_ = good;
    endEjections(good);
    const CheckedState found = good ? CheckedState::kHealthy : CheckedState::kUnhealthy;
    const std::uint32_t needed = good ? settings().healthyThreshold : settings().unhealthyThreshold;
    if (found == state_ || (state_ != CheckedState::kUnknown && inARow_ < needed)) return;
    state_ = found;
    if (endpoint_) {
      checker_.gather(backend_);
    } else {
      backend_.check->set(state_);
    }
    checker_.parts_.observer.onHealth(backend_, endpoint_, wrong);
  }

  /// If a Backend passes its checks again, its ejections end, even if too few checks had failed to make it unhealthy.
  /// If no check had failed, the checks do not see the fault for which it was ejected.
  void endEjections(bool good) {
    if (!good) hasFailed_ = true;
    if (!hasFailed_ || !good || inARow_ < settings().healthyThreshold) return;
    hasFailed_ = false;
    for (const auto& each : backend_.answers) each->endEjection(checker_.parts_.worker.now());
  }

  void mark() {
    if (std::exchange(due_, true)) return;
    checker_.due_.push_back(this);
  }

  void onTimer() override {
    isTime_ = true;
    mark();
  }
  void onProbeDue() override { mark(); }

  HealthChecker& checker_;
  routing::CheckedBackend backend_;
  const std::optional<routing::Endpoint> endpoint_;
  CheckedState state_;
  std::uint64_t generation_ = 0;  // of connections
  std::shared_ptr<const routing::BackendPlan> plan_;
  std::optional<CheckDials> dials_;  // of the probe
  std::unique_ptr<BackendProbe> probe_;
  bool due_ = false;
  bool isTime_ = false;  // true when the next probe is due
  bool lastGood_ = true;
  bool hasFailed_ = false;  // true if it has failed since it last passed often enough in a row
  std::uint32_t inARow_ = 0;
};

HealthChecker::HealthChecker(const HealthCheckerParts& parts)
    : parts_(parts),
      random_(parts.randomSeed),
      breakers_(kMostProbes, kMostProbes),
      policy_{routing::AddressGuard(), http::Limits(), base::TimeoutSettings(), kMostProbes, 0},
      upstreams_({parts.worker, parts.resolver, parts.dialer, breakers_, parts.metrics, h2Memory_, policy_,
                  random_.next() | 1}) {}

HealthChecker::~HealthChecker() = default;

void HealthChecker::adopt(const upstream::UpstreamPolicy& policy, std::vector<routing::CheckedBackend> checked) {
  policy_ = policy;
  next_ = std::move(checked);
}

void HealthChecker::drive() {
  upstreams_.drive();
  // A check that is driven may make others due, and itself again.
  std::vector<EndpointCheck*> due = std::exchange(due_, {});
  for (EndpointCheck* each : due) each->drive();
}

// Clusters come and go between beats alone.
void HealthChecker::reap() {
  upstreams_.reap();
  const bool hasOtherPlans = std::exchange(hasOtherPlans_, false);
  if (next_) {
    checked_ = *std::exchange(next_, std::nullopt);
    setChecks();
  } else if (!hasOtherPlans) {
    return;
  }
  upstream::Upstreams::Plans plans;
  for (const auto& [key, each] : checks_) plans.push_back(each->plan());
  upstreams_.adopt(policy_, plans);
}

void HealthChecker::setChecks() {
  std::map<CheckKey, std::unique_ptr<EndpointCheck>> kept;
  const auto keep = [&](const routing::CheckedBackend& each, const std::optional<routing::Endpoint>& endpoint) {
    std::unique_ptr<EndpointCheck>& check = kept[{each.check.get(), endpoint}];
    if (const auto known = checks_.find({each.check.get(), endpoint}); known != checks_.end()) {
      check = std::move(known->second);
      check->adopt(each);
    } else {
      check = std::make_unique<EndpointCheck>(*this, each, endpoint);
    }
  };
  for (const routing::CheckedBackend& each : checked_) {
    if (!each.backend->endpoints) {
      keep(each, std::nullopt);
      continue;
    }
    const routing::Endpoints& endpoints = *each.backend->endpoints;
    for (std::size_t i = 0; i < std::min(endpoints.size(), kMostEndpoints); ++i) keep(each, endpoints[i]);
  }
  checks_ = std::move(kept);
  for (const routing::CheckedBackend& each : checked_) {
    if (each.backend->endpoints) gather(each);
  }
}

void HealthChecker::gather(const routing::CheckedBackend& backend) {
  std::map<routing::Endpoint, CheckedState> endpoints;
  const routing::HealthCheck* const check = backend.check.get();
  for (auto each = checks_.lower_bound({check, std::nullopt}); each != checks_.end() && each->first.first == check;
       ++each) {
    endpoints.emplace(*each->first.second, each->second->state());
  }
  backend.check->set(std::move(endpoints));
}

void HealthChecker::shutdown() {
  next_.reset();
  hasOtherPlans_ = false;
  checks_.clear();
  upstreams_.shutdown();
}

}  // namespace sluice::control
