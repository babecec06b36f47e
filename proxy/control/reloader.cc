#include "proxy/control/reloader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "config/load/last_pairs.h"
#include "proxy/control/attempt_pauses.h"

namespace sluice::control {
namespace {

// The states of processors' servers are cheap to check, and people wait for the result.
constexpr base::Duration kLookAtServersAfter = std::chrono::seconds(1);

/// Returns the places that `loaded` left out, and further places where it could not listen.
compile::UnusablePlaces allUnusable(const Loaded& loaded, compile::UnusablePlaces failed) {
  const compile::UnusablePlaces& before = loaded.configuration->unusable;
  failed.insert(failed.end(), before.begin(), before.end());
  return failed;
}

/// Returns the problems of a configuration that the environment keeps from being served.
std::shared_ptr<const config::Problems> with(const Loaded& loaded, const base::Error& error) {
  config::Problem problem;
  problem.message = error.detail;
  auto all = std::make_shared<config::Problems>(*loaded.problems);
  all->insert(all->begin(), std::move(problem));
  return all;
}

bool watchesServers(const Loaded& served) {
  if (served.configuration == nullptr) return false;
  const compile::CompileResult& compiled = served.configuration->compiled;
  return !compiled.servers.empty() || !compiled.health.empty();
}

/// Returns true if the server of a processor, or a Backend, has another state than in the served configuration.
bool serversMoved(const Loaded& served, const base::Clock& clock) {
  if (!watchesServers(served)) return false;
  const compile::CompileResult& compiled = served.configuration->compiled;
  const base::WallTime now = clock.wallNow();
  bool moved = hasMoved(compiled.health, now, clock.now());
  for (const compile::AskedServer& each : compiled.servers) moved = each.health->announce(now) != each.state || moved;
  return moved;
}

/// Returns true if the served configuration may change without a change of objects.
bool dependsOnEnvironment(const CompiledConfiguration& served) {
  return served.awaitsEnvironment() || !served.model.lastPairs.empty();
}

/// Returns true if the served configuration may be served more completely now, or has a pair that has expired.
bool environmentChanged(const CompiledConfiguration& served, Publisher& publisher, base::WallTime now) {
  const std::vector<compile::AwaitingUse>& awaiting = served.compiled.awaiting;
  return config::lastPairHasExpired(served.model, now) ||
         (!served.unusable.empty() && publisher.openAny(served.unusable)) ||
         std::any_of(awaiting.begin(), awaiting.end(),
                     [](const compile::AwaitingUse& each) { return each.awaited->mayHaveCome(); });
}

ReloadEvent eventOf(Loaded::Outcome outcome) {
  switch (outcome) {
    case Loaded::Outcome::kServable:
      return ReloadEvent::kServable;
    case Loaded::Outcome::kUnchanged:
      return ReloadEvent::kUnchanged;
    case Loaded::Outcome::kRefused:
      return ReloadEvent::kRefused;
    case Loaded::Outcome::kUnavailable:
      break;
  }
  return ReloadEvent::kUnavailable;
}

}  // namespace

template <typename Tell>
void Reloader::tellObservers(const Tell& tell) {
  for (ReloadObserver* each : observers_) tell(*each);
}

void Reloader::start(MakeWorkers makeWorkers) {
  makeWorkers_ = std::move(makeWorkers);
  revisions_.since = parts_.clock.wallNow();
  raise(ReloadEvent::kStart);
}

void Reloader::reload() { raise(ReloadEvent::kReload); }

void Reloader::retry(std::string prefix, std::function<void(bool)> done) {
  parts_.loader.clearTaint(std::move(prefix), [this, done = std::move(done)](bool cleared) {
    if (cleared) reload();
    done(cleared);
  });
}

void Reloader::stop() {
  raise(ReloadEvent::kStop);
  keeping_.finish();
}

// An observer may call reload() or stop() while an action notifies it. That only sets `then_`, because the course does
// not end before its last action has been performed. No observer is notified while the environment is checked after the
// end of a course.
void Reloader::raise(ReloadEvent event) {
  for (std::optional<ReloadEvent> next = event; next;) {
    const auto& course = kCourseTable.at(state_, *next);
    const auto& then = kThenTable.at(then_, *next);
    state_ = course.next;
    then_ = then.next;
    next = act(course.action);
    const std::optional<ReloadEvent> following = act(then.action);
    assert(!next || !following);
    if (following) next = following;
  }
}

std::optional<ReloadEvent> Reloader::act(ThenAction action) {
  switch (action) {
    case ThenAction::kNone:
      break;
    case ThenAction::kReadNow:
      retries_ = 0;
      cancel();
      return ReloadEvent::kRead;
    case ThenAction::kLookLater: {
      const bool depends = served_.configuration != nullptr && dependsOnEnvironment(*served_.configuration);
      if (isUnavailable(revisions_.standing) || depends || watchesServers(served_)) lookLater();
      break;
    }
    case ThenAction::kCancelLook:
      cancel();
      break;
  }
  return std::nullopt;
}

/// Performs the actions that begin an operation and wait for its end, or after which nothing follows.
std::optional<ReloadEvent> Reloader::act(ReloadAction action) {
  switch (action) {
    case ReloadAction::kNone:
      break;
    case ReloadAction::kRestore:
      candidate_ = {};
      parts_.loader.restore(std::exchange(without_, {}), taking());
      break;
    case ReloadAction::kReadFirst:
      candidate_ = {};
      read();
      break;
    case ReloadAction::kRescue:
      newest_ = std::exchange(candidate_, {});
      [[fallthrough]];
    case ReloadAction::kRescueAgain:
      candidate_ = {};
      parts_.loader.rescue(std::exchange(without_, {}), taking());
      break;
    case ReloadAction::kRead:
      read();
      break;
    case ReloadAction::kRecompile:
      recompile();
      break;
    case ReloadAction::kRefresh:
      newest_ = std::exchange(candidate_, {});
      [[fallthrough]];
    case ReloadAction::kRecompileAsServed:
      without_ = served_.configuration->unusable;
      recompile();
      break;
    case ReloadAction::kPublish:
      return publish();
    case ReloadAction::kAccept:
      return accept();
    case ReloadAction::kDiscard:
      discard(candidate_);
      discard(newest_);
      break;
    case ReloadAction::kForget:
      candidate_ = {};
      break;
    default:
      return conclude(action);
  }
  return std::nullopt;
}

/// Performs the actions that raise an event at once.
std::optional<ReloadEvent> Reloader::conclude(ReloadAction action) {
  switch (action) {
    case ReloadAction::kSkipRestored:
      return ReloadEvent::kFirst;
    case ReloadAction::kOpen:
      return open();
    case ReloadAction::kAdmitFirst:
      return isHeldBack() ? ReloadEvent::kNotYet : openFirst();
    case ReloadAction::kOpenMeanwhile:
      if (newest_.outcome == Loaded::Outcome::kRefused) newest_.outcome = Loaded::Outcome::kUnavailable;
      [[fallthrough]];
    case ReloadAction::kOpenAfterAll:
      candidate_ = std::exchange(newest_, {});
      [[fallthrough]];
    case ReloadAction::kOpenFirst:
      return openFirst();
    case ReloadAction::kMakeWorkers:
      return makeWorkers();
    case ReloadAction::kServeRestored:
      serveFirst();
      keeping_.changed();
      return ReloadEvent::kRestored;
    case ReloadAction::kServeFirst:
      serveFirst();
      tellObservers([&](ReloadObserver& each) { each.onCompiled(*served_.configuration); });
      keeping_.changed();
      return ReloadEvent::kSettled;
    case ReloadAction::kWait:
      return wait();
    case ReloadAction::kWaitFenced:
      parts_.publisher.closeOthers(*candidate_.generation);
      return wait();
    case ReloadAction::kWaitClosed:
      // Without workers, no connection on the open sockets would be accepted.
      parts_.publisher.closeOthers(Generation());
      return wait();
    case ReloadAction::kAdmit:
      return admit();
    case ReloadAction::kLook:
      return look();
    case ReloadAction::kSettle:
      return ReloadEvent::kSettled;
    default:
      return tell(action);
  }
}

/// Performs the actions that report the outcome of a course.
ReloadEvent Reloader::tell(ReloadAction action) {
  std::string before;
  switch (action) {
    case ReloadAction::kServeSource:
      before = takeOver();
      stand(Standing::kServed, served_.problems);
      keepServed();
      tellObservers([&](ReloadObserver& each) { each.onServed(revisions_, *served_.generation, before); });
      break;
    case ReloadAction::kServeEnvironment:
      before = takeOver();
      ++changes_;
      keepServed();
      tellObservers([&](ReloadObserver& each) { each.onServed(revisions_, *served_.generation, before); });
      break;
    // A refresh, or another state of servers, serves the same objects of users, so it is not reported as a reload.
    case ReloadAction::kServeServers:
      takeOver();
      ++changes_;
      keepServed();
      break;
    case ReloadAction::kServeRefresh:
      takeOver();
      ++changes_;
      keepServed();
      tellObservers([&](ReloadObserver& each) { each.onRefreshed(*served_.generation); });
      break;
    case ReloadAction::kConfirm:
      serveOn(Standing::kServed);
      tellObservers([&](ReloadObserver& each) { each.onUnchanged(revisions_); });
      break;
    case ReloadAction::kRefuse:
      serveOn(Standing::kRefused);
      tellObservers([&](ReloadObserver& each) { each.onRefused(revisions_); });
      return refreshes();
    case ReloadAction::kMissSource:
      serveOn(Standing::kUnavailable);
      tellObservers([&](ReloadObserver& each) { each.onRefused(revisions_); });
      break;
    case ReloadAction::kHold:
      serveOn(Standing::kHeld);
      tellObservers([&](ReloadObserver& each) { each.onHeld(revisions_); });
      return refreshes();
    case ReloadAction::kKeepServed:
      parts_.publisher.closeOthers(*served_.generation);
      break;
    default:
      assert(false);
  }
  return ReloadEvent::kSettled;
}

// --- the start -------------------------------------------------------------------------------------------------------

ReloadEvent Reloader::openFirst() {
  if (candidate_.generation == nullptr) return ReloadEvent::kHopeless;
  return open() == ReloadEvent::kOpened ? ReloadEvent::kOpened : ReloadEvent::kFirst;
}

ReloadEvent Reloader::makeWorkers() {
  const bool serves = candidate_.outcome == Loaded::Outcome::kServable;
  const base::Status made = makeWorkers_(candidate_);
  if (made.ok()) return serves ? ReloadEvent::kMade : ReloadEvent::kFenced;
  candidate_.outcome = Loaded::Outcome::kUnavailable;
  candidate_.problems = with(candidate_, made.error());
  return ReloadEvent::kNoWorkers;
}

void Reloader::serveFirst() {
  parts_.publisher.closeOthers(*candidate_.generation);
  served_ = std::exchange(candidate_, {});
  discard(refused_);
  revisions_.desired = served_.configuration->revision;
  revisions_.published = revisions_.served = served_.configuration->servedRevision;
  stand(Standing::kServed, served_.problems);
}

ReloadEvent Reloader::wait() {
  const bool refused = candidate_.outcome == Loaded::Outcome::kRefused;
  discard(refused_);
  refused_ = std::exchange(candidate_, {});
  revisions_.desired = refused_.configuration->revision;
  stand(refused ? Standing::kRefusedAlone : Standing::kUnavailableAlone, refused_.problems);
  if (refused) tellObservers([&](ReloadObserver& each) { each.onCompiled(*refused_.configuration); });
  tellObservers([&](ReloadObserver& each) { each.onRefused(revisions_); });
  return ReloadEvent::kGaveUp;
}

// --- loading ---------------------------------------------------------------------------------------------------------

Loader::Done Reloader::taking() {
  return [this](Loaded&& loaded) {
    candidate_ = std::move(loaded);
    raise(then_ == Then::kStop ? ReloadEvent::kLate : eventOf(candidate_.outcome));
  };
}

void Reloader::read() {
  discard(candidate_);
  parts_.loader.load(served_, std::exchange(without_, {}), taking());
}

void Reloader::recompile() {
  discard(candidate_);
  parts_.loader.recompile(served_, newest_, std::exchange(without_, {}), taking());
}

ReloadEvent Reloader::admit() {
  revisions_.desired = candidate_.configuration->revision;
  if (revisions_.standing == Standing::kHeld) revisions_.standing = Standing::kServed;
  return isHeldBack() ? ReloadEvent::kNotYet : open();
}

bool Reloader::isHeldBack() const {
  return parts_.gate != nullptr && !parts_.gate->mayServe(*candidate_.configuration);
}

ReloadEvent Reloader::open() {
  compile::UnusablePlaces failed = parts_.publisher.open(*candidate_.generation);
  if (failed.empty()) return ReloadEvent::kOpened;
  without_ = allUnusable(candidate_, std::move(failed));
  return ReloadEvent::kUnusable;
}

// --- the served configuration ----------------------------------------------------------------------------------------

std::optional<ReloadEvent> Reloader::publish() {
  revisions_.published = candidate_.configuration->servedRevision;
  ++changes_;
  const auto handover = parts_.publisher.publish(candidate_.generation, [this] { raise(ReloadEvent::kAdopted); });
  return handover == Publisher::Handover::kDone ? std::optional(ReloadEvent::kAdopted) : std::nullopt;
}

/// Connections may be accepted only when every worker knows the binds, which is the case now.
std::optional<ReloadEvent> Reloader::accept() {
  const auto handover = parts_.publisher.accept(*candidate_.generation, [this] { raise(ReloadEvent::kAccepted); });
  return handover == Publisher::Handover::kDone ? std::optional(ReloadEvent::kAccepted) : std::nullopt;
}

/// Serves the accepted configuration. Returns the revision that was served until now.
std::string Reloader::takeOver() {
  parts_.publisher.closeOthers(*candidate_.generation);
  std::swap(served_, candidate_);
  return std::exchange(revisions_.served, served_.configuration->servedRevision);
}

/// Called when another configuration is served.
void Reloader::keepServed() {
  keeping_.changed();
  if (then_ == Then::kStop) keeping_.finish();
  const bool isNewest = revisions_.standing == Standing::kServed;
  tellObservers([&](ReloadObserver& each) {
    isNewest ? each.onCompiled(*served_.configuration) : each.onServing(*served_.configuration);
  });
}

/// Keeps the served configuration, because the one that was read cannot be served.
void Reloader::serveOn(Standing standing) {
  // Further sockets may have been opened for an earlier compilation of it.
  parts_.publisher.closeOthers(*served_.generation);
  revisions_.desired = candidate_.configuration->revision;
  if (standing != Standing::kServed) keeping_.finish();
  stand(standing, candidate_.problems);
  if (standing != Standing::kUnavailable)
    tellObservers([&](ReloadObserver& each) { each.onCompiled(*candidate_.configuration); });
}

/// Returns whether the served configuration gets the Secrets and endpoints of the set that was read.
ReloadEvent Reloader::refreshes() const {
  // This is only done for sets of the API server, which have a number.
  const bool never = candidate_.configuration->set.serial == 0 || then_ == Then::kStop;
  return never ? ReloadEvent::kSettled : ReloadEvent::kRefresh;
}

void Reloader::stand(Standing standing, std::shared_ptr<const config::Problems> problems) {
  const base::WallTime now = parts_.clock.wallNow();
  if (configState(standing) != revisions_.state()) revisions_.since = now;
  if (standing == Standing::kServed) revisions_.lastGood = now;
  revisions_.standing = standing;
  revisions_.problems = std::move(problems);
  ++changes_;
}

void Reloader::discard(Loaded& loaded) {
  if (loaded.configuration != nullptr) parts_.loader.discard(std::exchange(loaded, {}));
}

// --- attempts --------------------------------------------------------------------------------------------------------

std::optional<ReloadEvent> Reloader::look() {
  if (serversMoved(served_, parts_.clock)) return ReloadEvent::kServersMoved;
  if (isUnavailable(revisions_.standing)) return ReloadEvent::kRead;
  if (environmentChanged(*served_.configuration, parts_.publisher, parts_.clock.wallNow())) {
    // While the source is refused, it would only be refused again: the served configuration has no source any more.
    return revisions_.standing == Standing::kServed ? ReloadEvent::kRead : ReloadEvent::kEnvironmentChanged;
  }
  lookLater();
  return std::nullopt;
}

void Reloader::lookLater() {
  base::Duration delay = pauseAfter(retries_++);
  if (watchesServers(served_) && !isUnavailable(revisions_.standing)) delay = std::min(delay, kLookAtServersAfter);
  parts_.timers.set(*this, parts_.clock.now() + spread(delay, random_));
}

}  // namespace sluice::control
