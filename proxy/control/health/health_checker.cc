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
// A delay is up to a tenth longer, so that checks do not come all at once.
constexpr base::Duration::rep kJitterParts = 10;
constexpr base::Duration kFreshest = std::chrono::seconds(1);  // the age of a result that every check takes

}  // namespace

/// One check of one Backend, or of one endpoint of a Service: the time of the next probe, and the result of the last
/// ones.
class HealthChecker::EndpointCheck final : private net::Timer, private ProbeWaiter {
 public:
  EndpointCheck(HealthChecker& checker, const routing::CheckedBackend& backend,
                std::shared_ptr<const routing::ActiveCheck> check, std::optional<routing::Endpoint> endpoint)
      : checker_(checker),
        check_(std::move(check)),
        endpoint_(std::move(endpoint)),
        users_{&backend},
        state_(endpoint_ ? CheckedState::kUnknown : check_->state()),
        number_(++checker_.board_.numbers),
        pace_(settings().interval) {
    begin();
  }
  ~EndpointCheck() override {
    std::erase(checker_.due_, this);
    leave();
  }

  /// Called with the first one that uses it in a configuration.
  void adopt(const routing::CheckedBackend& backend) { users_ = {&backend}; }
  /// Called with each further one, which has other checks beside this one.
  void addUser(const routing::CheckedBackend& backend) { users_.push_back(&backend); }
  /// Takes its probe from `kept`; to be called when all users are known.
  void share(SharedProbeMap& kept) {
    const routing::BackendPlan& backend = *users_.front()->backend;
    plan_ = planOfChecks(backend, endpoint_, settings());
    std::vector<routing::EgressCoverage> covers = coversOfUsers();
    dials_.emplace(covers, *plan_);
    // Policies that judge addresses judge the probes of this check alone, which may go elsewhere than others.
    const bool isApart = dials_->judgesAddresses();
    SharedProbe& probe = checker_.keepProbe(isApart ? planApart(*plan_, number_) : plan_, check_, kept);
    probe.judgeBy(isApart ? std::move(covers) : std::vector<routing::EgressCoverage>());
    if (probe_ == &probe && dials_->denial() == nullptr) return;
    leave();
    probe_ = &probe;
    if (!std::exchange(isWaiting_, false)) return;
    isTime_ = true;
    mark();
  }
  CheckedState state() const { return state_; }
  /// Returns true if it has failed since it last passed often enough in a row.
  bool hasFailed() const { return hasFailed_; }
  SharedProbe& probe() { return *probe_; }
  /// Returns the namespace of the Backend.
  std::string nameSpace() const {
    const std::string& name = users_.front()->backend->name;
    return name.substr(0, name.find('/'));
  }
  /// Lets it wait until others have had their turns.
  void waitForTurn() {
    turnOf_ = nameSpace();
    turn_ = checker_.turns_.wait(turnOf_, *this);
  }

  void drive() {
    due_ = false;
    if (!std::exchange(isTime_, false)) return;
    if (isDenied()) return wait(settings().interval, now());
    if (const ProbeFinding* known = probe_->resultWithin(freshness())) return onProbed(*known);
    isWaiting_ = true;
    probe_->join(*this);
    if (!probe_->isUnderWay()) checker_.begin(*this);
  }

 private:
  const routing::HealthCheckSettings& settings() const { return check_->settings(); }
  base::MonotonicTime now() const { return checker_.parts_.worker.now(); }

  /// Returns the policies of all rules that use it. It may go where those of one rule let it.
  std::vector<routing::EgressCoverage> coversOfUsers() const {
    std::vector<routing::EgressCoverage> all;
    for (const routing::CheckedBackend* each : users_) {
      if (each->covers.empty()) return {};
      all.insert(all.end(), each->covers.begin(), each->covers.end());
    }
    return all;
  }

  /// Policies may deny a check that no client has asked for. Its state then stays as it is.
  bool isDenied() const {
    const routing::EgressVerdict* const denial = dials_->denial();
    if (denial == nullptr) return false;
    checker_.parts_.metrics.at<observe::Metric::kEgressDecisions>(denial->policyName(), denial->ruleName(), "denied")
        .add();
    return true;
  }

  /// Returns how old the result of another check may be. Checks with the same pace fall into step in this way, and no
  /// check counts a result twice. The first one takes effect at once, and must not be old.
  base::Duration freshness() const {
    if (state_ == CheckedState::kUnknown) return std::min(pace_, kFreshest);
    return std::min(pace_, std::max(kFreshest, 2 * pace_ / kJitterParts));
  }

  void leave() {
    leaveTurns();
    if (probe_ != nullptr) probe_->leave(*this);
  }
  void leaveTurns() {
    if (const auto turn = std::exchange(turn_, std::nullopt)) checker_.turns_.leave(turnOf_, *turn);
  }

  // ProbeWaiter
  void onProbeBegun() override { leaveTurns(); }
  void onProbed(const ProbeFinding& result) override {
    isWaiting_ = false;
    if (!result.ofOwnLimit) note(result.wrong);
    const bool waitsLonger =
        state_ == CheckedState::kUnhealthy && settings().unhealthyInterval > base::Duration::zero();
    wait(waitsLonger ? settings().unhealthyInterval : settings().interval, result.at);
  }

  void begin() {
    const base::Duration jitter = settings().initialJitter;
    if (jitter > base::Duration::zero()) return wakeAt(now() + upTo(jitter));
    const base::Duration delay = std::min(settings().interval, kLongestStart) / kJitterParts;
    wakeAt(now() + delay + upTo(delay / kJitterParts));
  }
  void wait(base::Duration delay, base::MonotonicTime from) {
    pace_ = delay;
    wakeAt(from + delay + upTo(delay / kJitterParts));
  }
  base::Duration upTo(base::Duration most) {
    const auto parts = static_cast<std::uint64_t>(most.count()) + 1;
    return base::Duration(static_cast<base::Duration::rep>(checker_.random_.next() % parts));
  }
  void wakeAt(base::MonotonicTime time) { checker_.parts_.worker.timers().set(*this, time); }

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

  HealthChecker& checker_;
  const std::shared_ptr<const routing::ActiveCheck> check_;
  const std::optional<routing::Endpoint> endpoint_;
  std::vector<const routing::CheckedBackend*> users_;  // one or more of checked_, all of the same Backend
  CheckedState state_;
  const std::uint64_t number_;                        // of the plan of a probe that it does not share
  std::shared_ptr<const routing::BackendPlan> plan_;  // of all checks that ask the same
  std::optional<CheckDials> dials_;                   // by its own policies
  SharedProbe* probe_ = nullptr;
  std::string turnOf_;                 // the namespace for which it waits for a turn
  std::optional<std::uint64_t> turn_;  // set while it does
  base::Duration pace_;                // the time since its last result at which it is due
  bool isWaiting_ = false;             // for a result
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

void HealthChecker::adopt(const upstream::UpstreamPolicy& policy, std::uint64_t probesPerSecond,
                          std::vector<routing::CheckedBackend> checked) {
  policy_ = policy;
  turns_.setRate(probesPerSecond);
  if (!turns_.empty()) parts_.worker.timers().set(*this, parts_.worker.now());
  next_ = std::move(checked);
}

void HealthChecker::drive() {
  upstreams_.drive();
  // A check that is driven may make others due, and itself again.
  std::vector<EndpointCheck*> due = std::exchange(due_, {});
  for (EndpointCheck* each : due) each->drive();
  if (std::exchange(isTurn_, false)) takeTurns();
  const std::vector<SharedProbe*> dueProbes = std::exchange(board_.due, {});
  for (SharedProbe* each : dueProbes) each->drive();
}

void HealthChecker::begin(EndpointCheck& check) {
  const base::MonotonicTime now = parts_.worker.now();
  if (turns_.takeNow(check.nameSpace(), now)) return check.probe().start();
  parts_.metrics.at<observe::Metric::kLimitHits>("probesPerSecond").add();
  check.waitForTurn();
  if (!isSet()) parts_.worker.timers().set(*this, turns_.nextAt(now));
}

void HealthChecker::takeTurns() {
  const base::MonotonicTime now = parts_.worker.now();
  while (EndpointCheck* check = turns_.next(now)) check->probe().start();
  if (!turns_.empty()) parts_.worker.timers().set(*this, turns_.nextAt(now));
}

// Clusters come and go between beats alone.
void HealthChecker::reap() {
  upstreams_.reap();
  const bool hasOtherPlans = std::exchange(board_.hasOtherPlans, false);
  if (next_) {
    checked_ = *std::exchange(next_, std::nullopt);
    setChecks();
  } else if (!hasOtherPlans) {
    return;
  }
  upstream::Upstreams::Plans plans;
  for (const auto& [identity, each] : probes_) plans.push_back(each->plan());
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
  shareProbes();
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

void HealthChecker::shareProbes() {
  SharedProbeMap kept;
  for (const auto& [key, each] : checks_) each->share(kept);
  probes_ = std::move(kept);
}

SharedProbe& HealthChecker::keepProbe(const std::shared_ptr<const routing::BackendPlan>& target,
                                      const std::shared_ptr<const routing::ActiveCheck>& check, SharedProbeMap& kept) {
  std::unique_ptr<SharedProbe>& one = kept[target->identity];
  if (one != nullptr) return *one;
  if (const auto known = probes_.find(target->identity); known != probes_.end()) {
    one = std::move(known->second);
  } else {
    one = std::make_unique<SharedProbe>(SharedProbeParts{upstreams_, parts_.dialer, board_}, target, check);
  }
  return *one;
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
  cancel();
  checks_.clear();
  probes_.clear();
  board_.hasOtherPlans = false;
  upstreams_.shutdown();
}

}  // namespace sluice::control
