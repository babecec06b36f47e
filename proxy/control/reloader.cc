#include "proxy/control/reloader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::control {
namespace {

/// Attempts follow one another after these delays, the last one again and again, each made longer or shorter by up to
/// a half, so that replicas do not try together.
constexpr std::array<int, 10> kTryAfterMilliseconds = {0, 10, 10, 100, 100, 500, 500, 3000, 3000, 5000};

// Looking at the servers of processors costs little, and people wait for what it finds.
constexpr base::Duration kLookAtServersAfter = std::chrono::seconds(1);

base::Duration spread(base::Duration delay, base::Random& random) {
  constexpr std::uint64_t kParts = 1024;
  return delay / 2 + delay * static_cast<base::Duration::rep>(random.next() % kParts) / kParts;
}

/// Returns the places that `loaded` left out, and those that it could not listen at either.
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

}  // namespace

// --- the start -------------------------------------------------------------------------------------------------------

void Reloader::start(MakeWorkers makeWorkers) {
  makeWorkers_ = std::move(makeWorkers);
  revisions_.since = parts_.clock.wallNow();
  restore({});
}

void Reloader::restore(compile::UnusablePlaces unusable) {
  phase_ = Phase::kRestoring;
  parts_.loader.restore(std::move(unusable), [this](Loaded&& loaded) {
    if (then_ == Then::kStop) return;
    if (loaded.outcome != Loaded::Outcome::kServable) return loadFirst({});
    if (compile::UnusablePlaces failed = parts_.publisher.open(*loaded.generation); !failed.empty()) {
      return restore(allUnusable(loaded, std::move(failed)));
    }
    if (!adoptFirst(std::move(loaded))) return;
    parts_.loader.keep(served_);
    then_ = Then::kReload;
    end();
  });
}

void Reloader::loadFirst(compile::UnusablePlaces unusable) {
  phase_ = Phase::kStarting;
  if (then_ == Then::kReload) then_ = Then::kRest;
  parts_.loader.load({}, std::move(unusable), [this](Loaded&& loaded) {
    if (then_ != Then::kStop) takeFirst(std::move(loaded));
  });
}

void Reloader::takeFirst(Loaded&& first) {
  if (first.generation == nullptr) return wait(std::move(first));
  if (compile::UnusablePlaces failed = parts_.publisher.open(*first.generation); !failed.empty()) {
    return loadFirst(allUnusable(first, std::move(failed)));
  }
  if (first.outcome != Loaded::Outcome::kServable) {
    // Nothing is served, but what asks its listeners is told so.
    if (const base::Status made = makeWorkers_(first); !made.ok()) return fail(std::move(first), made.error());
    parts_.publisher.closeOthers(*first.generation);
    return wait(std::move(first));
  }
  if (adoptFirst(std::move(first))) {
    parts_.observer.onCompiled(*served_.configuration);
    parts_.loader.keep(served_);
    end();
  }
}

/// Returns false, and waits, if no workers could be made.
bool Reloader::adoptFirst(Loaded&& first) {
  if (const base::Status made = makeWorkers_(first); !made.ok()) {
    fail(std::move(first), made.error());
    return false;
  }
  parts_.publisher.closeOthers(*first.generation);
  served_ = std::move(first);
  unavailable_ = false;
  if (refused_.configuration != nullptr) parts_.loader.discard(std::exchange(refused_, {}));
  phase_ = Phase::kServing;
  revisions_.desired = served_.configuration->revision;
  revisions_.published = revisions_.served = served_.configuration->servedRevision;
  setState(ConfigState::kInSync, served_.problems);
  return true;
}

/// Waits to try again, because no workers could be made. Nobody would accept connections on the open sockets.
void Reloader::fail(Loaded&& first, const base::Error& error) {
  parts_.publisher.closeOthers(Generation());
  first.outcome = Loaded::Outcome::kUnavailable;
  first.problems = with(first, error);
  wait(std::move(first));
}

/// Waits for the source to change, and tries again if the environment was at fault.
void Reloader::wait(Loaded&& refused) {
  phase_ = Phase::kWaiting;
  unavailable_ = refused.outcome != Loaded::Outcome::kRefused;
  if (refused_.configuration != nullptr) parts_.loader.discard(std::move(refused_));
  refused_ = std::move(refused);
  revisions_.desired = refused_.configuration->revision;
  setState(ConfigState::kRollbackFailed, refused_.problems);
  if (!unavailable_) parts_.observer.onCompiled(*refused_.configuration);
  parts_.observer.onRefused(revisions_);
  end();
}

// --- reloads ---------------------------------------------------------------------------------------------------------

void Reloader::reload() {
  if (then_ == Then::kStop) return;
  if (phase_ != Phase::kServing && phase_ != Phase::kWaiting) {
    then_ = Then::kReload;
    return;
  }
  retries_ = 0;
  occasion_ = Occasion::kSource;
  cancel();
  phase_ == Phase::kServing ? load({}) : loadFirst({});
}

void Reloader::load(compile::UnusablePlaces unusable) {
  phase_ = Phase::kLoading;
  Loader::Done done = [this](Loaded&& loaded) { take(std::move(loaded)); };
  if (ofSource()) {
    parts_.loader.load(served_, std::move(unusable), std::move(done));
  } else {
    parts_.loader.recompile(served_, newest_, std::move(unusable), std::move(done));
  }
}

void Reloader::onTimer() {
  if (phase_ == Phase::kWaiting) return loadFirst({});
  if (serversMoved()) {
    occasion_ = Occasion::kServers;
    return load(served_.configuration->unusable);
  }
  if (unavailable_) {
    occasion_ = Occasion::kSource;
    return load({});
  }
  if (!environmentChanged()) return tryLater();
  // While the source is refused, it would only be refused again: the served configuration has no source any more.
  occasion_ = isInSync() ? Occasion::kSource : Occasion::kEnvironment;
  load({});
}

/// Returns true if what is served may be served more completely now.
bool Reloader::environmentChanged() {
  const CompiledConfiguration& served = *served_.configuration;
  const std::vector<compile::AwaitingUse>& awaiting = served.compiled.awaiting;
  return (!served.unusable.empty() && parts_.publisher.openAny(served.unusable)) ||
         std::any_of(awaiting.begin(), awaiting.end(),
                     [](const compile::AwaitingUse& each) { return each.awaited->mayHaveCome(); });
}

/// Returns true if the server of a processor, or a Backend, has another state than what is served says.
bool Reloader::serversMoved() {
  if (!watchesServers()) return false;
  const compile::CompileResult& compiled = served_.configuration->compiled;
  const base::WallTime now = parts_.clock.wallNow();
  bool moved = hasMoved(compiled.health, now);
  for (const compile::AskedServer& each : compiled.servers) moved = each.health->announce(now) != each.state || moved;
  return moved;
}

bool Reloader::watchesServers() const {
  if (served_.configuration == nullptr) return false;
  const compile::CompileResult& compiled = served_.configuration->compiled;
  return !compiled.servers.empty() || !compiled.health.empty();
}

void Reloader::tryLater() {
  const std::size_t round = std::min(retries_++, kTryAfterMilliseconds.size() - 1);
  base::Duration delay = std::chrono::milliseconds(kTryAfterMilliseconds[round]);
  if (watchesServers() && !unavailable_) delay = std::min(delay, kLookAtServersAfter);
  parts_.timers.set(*this, parts_.clock.now() + spread(delay, random_));
}

void Reloader::stop() {
  then_ = Then::kStop;
  cancel();
}

void Reloader::take(Loaded&& loaded) {
  candidate_ = std::move(loaded);
  if (then_ == Then::kStop) return end();
  if (ofSource()) {
    revisions_.desired = candidate_.configuration->revision;
    revisions_.waits = false;
    unavailable_ = candidate_.outcome == Loaded::Outcome::kUnavailable;
  }
  switch (candidate_.outcome) {
    case Loaded::Outcome::kServable:
      if (ofSource() && parts_.mayServe && !parts_.mayServe(*candidate_.configuration)) return hold();
      if (compile::UnusablePlaces failed = parts_.publisher.open(*candidate_.generation); !failed.empty()) {
        compile::UnusablePlaces unusable = allUnusable(candidate_, std::move(failed));
        parts_.loader.discard(std::exchange(candidate_, {}));
        return load(std::move(unusable));
      }
      return publish();
    case Loaded::Outcome::kUnchanged:
      parts_.publisher.closeOthers(*served_.generation);
      if (ofSource()) {
        setState(ConfigState::kInSync, candidate_.problems);
        parts_.observer.onCompiled(*candidate_.configuration);
        parts_.observer.onUnchanged(revisions_);
      }
      return end();
    case Loaded::Outcome::kRefused:
    case Loaded::Outcome::kUnavailable:
      return refuse();
  }
}

void Reloader::publish() {
  phase_ = Phase::kPublishing;
  revisions_.published = candidate_.configuration->servedRevision;
  ++changes_;
  parts_.publisher.publish(candidate_.generation, [this] { accept(); });
}

// Connections may be accepted only when every worker knows the binds, which is the case now.
void Reloader::accept() {
  phase_ = Phase::kAccepting;
  parts_.publisher.accept(*candidate_.generation, [this] { finish(); });
}

void Reloader::finish() {
  parts_.publisher.closeOthers(*candidate_.generation);
  std::swap(served_, candidate_);
  const std::string before = std::exchange(revisions_.served, served_.configuration->servedRevision);
  if (ofSource()) {
    setState(ConfigState::kInSync, served_.problems);
  } else {
    ++changes_;
  }
  parts_.loader.keep(served_);
  if (isInSync()) parts_.observer.onCompiled(*served_.configuration);
  // A refresh, or another state of servers, serves the same objects of users, so neither counts as a reload.
  if (occasion_ == Occasion::kRefresh) {
    parts_.observer.onRefreshed(*served_.generation);
  } else if (occasion_ != Occasion::kServers) {
    parts_.observer.onServed(revisions_, *served_.generation, before);
  }
  end();
}

// Sockets may have been opened for an earlier compilation of the candidate.
void Reloader::refuse() {
  parts_.publisher.closeOthers(*served_.generation);
  if (ofSource()) {
    setState(ConfigState::kRollback, candidate_.problems);
    if (!unavailable_) parts_.observer.onCompiled(*candidate_.configuration);
    parts_.observer.onRefused(revisions_);
    if (!unavailable_) return refresh();
  }
  end();
}

/// Serves on what users had written before, until reload() is called.
void Reloader::hold() {
  parts_.publisher.closeOthers(*served_.generation);
  revisions_.waits = true;
  // If something was refused before, it is not desired any more.
  if (revisions_.state != ConfigState::kInSync) revisions_.since = parts_.clock.wallNow();
  revisions_.state = ConfigState::kInSync;
  revisions_.problems = candidate_.problems;
  ++changes_;
  parts_.observer.onCompiled(*candidate_.configuration);
  parts_.observer.onHeld(revisions_);
  refresh();
}

/// Serves on what is served, with what changes by itself in the candidate.
void Reloader::refresh() {
  // Files have nothing of that kind; a set of the API server has a number.
  if (candidate_.configuration->set.serial == 0 || then_ == Then::kStop) return end();
  newest_ = std::exchange(candidate_, {});
  occasion_ = Occasion::kRefresh;
  load(served_.configuration->unusable);
}

void Reloader::setState(ConfigState state, std::shared_ptr<const config::Problems> problems) {
  if (revisions_.state != state) revisions_.since = parts_.clock.wallNow();
  if (state == ConfigState::kInSync) revisions_.lastGood = parts_.clock.wallNow();
  revisions_.state = state;
  revisions_.problems = std::move(problems);
  ++changes_;
}

// A reload that was requested meanwhile reads the current state of the source once, however often it was requested.
void Reloader::end() {
  if (phase_ > Phase::kServing) phase_ = Phase::kServing;
  for (Loaded* each : {&candidate_, &newest_}) {
    if (each->configuration != nullptr) parts_.loader.discard(std::exchange(*each, {}));
  }
  if (then_ == Then::kReload) {
    then_ = Then::kRest;
    return reload();
  }
  const bool incomplete = served_.configuration != nullptr && served_.configuration->awaitsEnvironment();
  if (then_ == Then::kRest && (unavailable_ || incomplete || watchesServers())) tryLater();
}

}  // namespace sluice::control
