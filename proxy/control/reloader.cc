#include "proxy/control/reloader.h"

#include <array>
#include <utility>

namespace sluice::control {
namespace {

// A port in use may become free. Opening is tried again after these delays (MARIN3R's backoff); then the revision is
// given up.
constexpr std::array<base::Duration, 4> kRetryAfter = {std::chrono::milliseconds(10), std::chrono::milliseconds(10),
                                                       std::chrono::milliseconds(100), std::chrono::milliseconds(100)};
constexpr base::Duration kTryUnusableAfter = std::chrono::seconds(5);

/// Returns the places that `loaded` left out, and those that it could not listen at either.
UnusablePlaces allUnusable(const Loaded& loaded, UnusablePlaces failed) {
  const UnusablePlaces& before = loaded.configuration->unusable;
  failed.insert(failed.end(), before.begin(), before.end());
  return failed;
}

}  // namespace

void Reloader::start(const Started& started) { loadFirst({}, started); }

void Reloader::loadFirst(UnusablePlaces unusable, const Started& started) {
  parts_.loader.load({}, std::move(unusable), [this, started](Loaded&& loaded) {
    if (then_ == Then::kStop) return;
    UnusablePlaces found;
    const base::Status adopted = adoptFirst(std::move(loaded), found);
    if (!found.empty()) return loadFirst(std::move(found), started);
    started(adopted);
  });
}

/// Sets `unusable` if the configuration can be served without some places.
base::Status Reloader::adoptFirst(Loaded&& first, UnusablePlaces& unusable) {
  if (!first.configuration->usable()) {
    return base::Error::config("the configuration cannot be served; `sluice validate` says more");
  }
  if (first.outcome != Loaded::Outcome::kServable) return base::Error::config(first.refusal);
  if (UnusablePlaces failed = parts_.publisher.open(*first.generation); !failed.empty()) {
    const std::string why = failed.front().why;
    if (failed.size() < first.generation->binds.size()) unusable = allUnusable(first, std::move(failed));
    return base::Error::config(why);
  }
  served_ = std::move(first);
  const std::string& revision = served_.configuration->revision;
  revisions_ = {revision, revision, revision, ConfigState::kInSync};
  return base::Done{};
}

void Reloader::begin() {
  phase_ = Phase::kServing;
  end();
}

void Reloader::reload() {
  if (then_ == Then::kStop) return;
  if (phase_ != Phase::kServing) {
    then_ = Then::kReload;
    return;
  }
  cancel();
  load({});
}

void Reloader::load(UnusablePlaces unusable) {
  phase_ = Phase::kLoading;
  parts_.loader.load(served_, std::move(unusable), [this](Loaded&& loaded) { take(std::move(loaded)); });
}

void Reloader::onTimer() { phase_ == Phase::kOpening ? open() : tryUnusablePlaces(); }

void Reloader::tryUnusablePlaces() {
  if (parts_.publisher.openAny(served_.configuration->unusable)) return reload();
  parts_.timers.set(*this, parts_.clock.now() + kTryUnusableAfter);
}

void Reloader::stop() {
  then_ = Then::kStop;
  cancel();
  if (phase_ == Phase::kOpening) end();
}

void Reloader::take(Loaded&& loaded) {
  candidate_ = std::move(loaded);
  if (then_ == Then::kStop) return end();
  revisions_.desired = candidate_.configuration->revision;
  switch (candidate_.outcome) {
    case Loaded::Outcome::kServable:
      failures_ = 0;
      phase_ = Phase::kOpening;
      return open();
    case Loaded::Outcome::kUnchanged:
      revisions_.state = ConfigState::kInSync;
      parts_.observer.onUnchanged(revisions_);
      return end();
    case Loaded::Outcome::kRefused:
      return refuse(candidate_.refusal);
  }
}

void Reloader::open() {
  UnusablePlaces failed = parts_.publisher.open(*candidate_.generation);
  if (failed.empty()) return publish();
  if (failures_ < kRetryAfter.size()) {
    return parts_.timers.set(*this, parts_.clock.now() + kRetryAfter[failures_++]);
  }
  if (failed.size() >= candidate_.generation->binds.size()) return refuse(failed.front().why);
  UnusablePlaces unusable = allUnusable(candidate_, std::move(failed));
  parts_.loader.discard(std::exchange(candidate_, {}));
  load(std::move(unusable));
}

void Reloader::publish() {
  phase_ = Phase::kPublishing;
  revisions_.published = candidate_.configuration->revision;
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
  const std::string before = std::exchange(revisions_.served, served_.configuration->revision);
  revisions_.state = ConfigState::kInSync;
  ++adoptions_;
  parts_.observer.onServed(revisions_, *served_.generation, before);
  end();
}

// Sockets may have been opened for the candidate.
void Reloader::refuse(std::string_view reason) {
  parts_.publisher.closeOthers(*served_.generation);
  revisions_.state = ConfigState::kRollback;
  parts_.observer.onRefused(revisions_, reason);
  end();
}

// A reload that was requested meanwhile reads the current state of the source once, however often it was requested.
void Reloader::end() {
  phase_ = Phase::kServing;
  if (candidate_.configuration != nullptr) parts_.loader.discard(std::exchange(candidate_, {}));
  if (then_ == Then::kReload) {
    then_ = Then::kRest;
    return reload();
  }
  if (then_ == Then::kRest && !served_.configuration->unusable.empty()) {
    parts_.timers.set(*this, parts_.clock.now() + kTryUnusableAfter);
  }
}

std::string Reloader::version() const {
  return std::to_string(adoptions_) + " " + revisions_.desired + " " + revisions_.published + " " + revisions_.served +
         " " + std::string(configStateName(revisions_.state));
}

}  // namespace sluice::control
