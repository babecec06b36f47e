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
// Each of these may have four checks.
constexpr std::size_t kMostEndpoints = 256;
constexpr base::Duration kLongestStart = std::chrono::seconds(1);
constexpr base::Duration::rep kJitterParts =
    10;  // a delay is up to a tenth longer, so that checks do not come all at once

}  // namespace

/// One check of one Backend, or of one endpoint of a Service: the time of the next probe, and the result of the last
/// ones.
class HealthChecker::EndpointCheck final : private net::Timer, private ProbeUser {
 public:
  EndpointCheck(HealthChecker& checker, const routing::CheckedBackend& backend,
                std::shared_ptr<const routing::ActiveCheck> check, std::optional<routing::Endpoint> endpoint)
      : checker_(checker),
        check_(std::move(check)),
        endpoint_(std::move(endpoint)),
        users_{&backend},
        state_(endpoint_ ? CheckedState::kUnknown : check_->state()),
        generation_(++checker_.generations_) {
    makePlan();
    begin();
  }
  ~EndpointCheck() override { std::erase(checker_.due_, this); }

  /// Called with the first one that uses it in a configuration.
  void adopt(const routing::CheckedBackend& backend) {
    users_ = {&backend};
    makePlan();
  }
  /// Called with each further one, which has other checks beside this one.
  void addUser(const routing::CheckedBackend& backend) { users_.push_back(&backend); }
  CheckedState state() const { return state_; }
  /// Returns true if it has failed since it last passed often enough in a row.
  bool hasFailed() const { return hasFailed_; }
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
  const routing::HealthCheckSettings& settings() const { return check_->settings(); }

  /// Returns the policies of all rules that use it. It may go where those of one rule let it.
  std::vector<routing::EgressCoverage> covers() const {
    std::vector<routing::EgressCoverage> all;
    for (const routing::CheckedBackend* each : users_) {
      if (each->covers.empty()) return {};
      all.insert(all.end(), each->covers.begin(), each->covers.end());
    }
    return all;
  }

  /// Policies may deny a check that no client has asked for. Its state then stays as it is.
  bool isDenied() {
    dials_.emplace(covers(), *plan_);
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
    generation_ = ++checker_.generations_;
    makePlan();
    checker_.hasOtherPlans_ = true;
  }
  void makePlan() { plan_ = planOfChecks(*users_.front()->backend, endpoint_, settings(), generation_); }

  void note(const std::string& wrong) {
    const bool good = wrong.empty();
    inARow_ = good == lastGood_ ? inARow_ + 1 : 1;
    lastGood_ = good;
    if (good) noteReached();
    endEjections(good);
    const CheckedState found = good ? CheckedState::kHealthy : CheckedState::kUnhealthy;
    const std::uint32_t needed = good ? settings().healthyThreshold : settings().unhealthyThreshold;
    const bool isChange = found != state_ && (state_ == CheckedState::kUnknown || inARow_ >= needed);
    if (isChange) change(found, wrong);
    if (good && !isChange) return;
    checker_.parts_.observer.onCheck(
        {*check_, *users_.front()->backend, endpoint_, wrong, isChange, good && allHealthy()});
  }

  /// A check that passes in the way in which requests go is as good as a request. A connection alone shows nothing
  /// about TLS.
  void noteReached() const {
    const routing::BackendPlan& backend = *users_.front()->backend;
    const routing::HealthCheckSettings& check = settings();
    const bool sameTls = !check.plain && check.serverName.empty() && !check.insecureSkipVerify &&
                         (check.kind != routing::HealthCheckKind::kTcp || !backend.tls);
    const bool samePort = check.port == 0 || check.port == backend.port;
    if (backend.reach != nullptr && !endpoint_ && samePort && sameTls) backend.reach->onAnswer();
  }

  bool allHealthy() const {
    return std::all_of(users_.begin(), users_.end(), [this](const routing::CheckedBackend* each) {
      return each->check->stateOf(endpoint_) == CheckedState::kHealthy;
    });
  }

  void change(CheckedState found, const std::string& wrong) {
    state_ = found;
    if (endpoint_) {
      checker_.gather(*check_);
    } else {
      check_->set(state_, wrong);
    }
    bool hasChanged = false;
    for (const routing::CheckedBackend* each : users_) {
      const CheckedState before = each->check->stateOf(endpoint_);
      each->check->update(checker_.parts_.worker.clock().wallNow());
      hasChanged = hasChanged || each->check->stateOf(endpoint_) != before;
    }
    const bool isTold = hasChanged && (found == CheckedState::kUnhealthy || allHealthy());
    if (isTold) checker_.parts_.observer.onHealth(*users_.front(), endpoint_, wrong);
  }

  /// If a Backend passes its checks again, its ejections end, even if too few checks had failed to make it unhealthy.
  /// If no check had failed, the checks do not see the fault for which it was ejected.
  void endEjections(bool good) {
    if (!good) hasFailed_ = true;
    if (!hasFailed_ || !good || inARow_ < settings().healthyThreshold) return;
    hasFailed_ = false;
    for (const routing::CheckedBackend* user : users_) {
      if (checker_.someHaveFailed(*user->check, endpoint_)) continue;
      const base::MonotonicTime now = checker_.parts_.worker.now();
      for (const auto& each : user->answers) each->endEjection(now);
      if (!endpoint_) continue;
      for (const auto& each : user->ejections) each->endEjection(*endpoint_, now);
    }
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
  const std::shared_ptr<const routing::ActiveCheck> check_;
  const std::optional<routing::Endpoint> endpoint_;
  std::vector<const routing::CheckedBackend*> users_;  // one or more of checked_, all of the same Backend
  CheckedState state_;
  std::uint64_t generation_;  // of connections
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
      upstreams_({parts.worker, parts.resolver, parts.dialer, breakers_, failedAddresses_, parts.metrics, h2Memory_,
                  policy_, random_.next() | 1}) {}

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
  EndpointCheckMap kept;
  for (const routing::CheckedBackend& each : checked_) {
    for (const auto& check : each.check->checks()) {
      if (!each.backend->endpoints) {
        keep(each, check, std::nullopt, kept);
        continue;
      }
      const routing::Endpoints& endpoints = *each.backend->endpoints;
      for (std::size_t i = 0; i < std::min(endpoints.size(), kMostEndpoints); ++i) {
        keep(each, check, endpoints[i], kept);
      }
    }
  }
  checks_ = std::move(kept);
  for (const routing::CheckedBackend& each : checked_) {
    for (const auto& check : each.check->checks()) {
      if (each.backend->endpoints) gather(*check);
    }
    each.check->update(parts_.worker.clock().wallNow());
  }
}

void HealthChecker::keep(const routing::CheckedBackend& backend,
                         const std::shared_ptr<const routing::ActiveCheck>& check,
                         const std::optional<routing::Endpoint>& endpoint, EndpointCheckMap& kept) {
  const CheckKey key(check.get(), endpoint);
  std::unique_ptr<EndpointCheck>& one = kept[key];
  if (one != nullptr) {
    one->addUser(backend);
  } else if (const auto known = checks_.find(key); known != checks_.end()) {
    one = std::move(known->second);
    one->adopt(backend);
  } else {
    one = std::make_unique<EndpointCheck>(*this, backend, check, endpoint);
  }
}

void HealthChecker::gather(const routing::ActiveCheck& check) const {
  routing::EndpointStates endpoints;
  for (auto each = checks_.lower_bound({&check, std::nullopt}); each != checks_.end() && each->first.first == &check;
       ++each) {
    endpoints.emplace(*each->first.second, each->second->state());
  }
  check.set(std::move(endpoints));
}

bool HealthChecker::someHaveFailed(const routing::HealthCheck& checks,
                                   const std::optional<routing::Endpoint>& endpoint) const {
  return std::any_of(checks.checks().begin(), checks.checks().end(), [&](const auto& each) {
    const auto found = checks_.find({each.get(), endpoint});
    return found != checks_.end() && found->second->hasFailed();
  });
}

void HealthChecker::shutdown() {
  next_.reset();
  hasOtherPlans_ = false;
  checks_.clear();
  upstreams_.shutdown();
}

}  // namespace sluice::control
