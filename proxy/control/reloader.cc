#include "proxy/control/reloader.h"

#include <array>
#include <utility>

namespace sluice::control {
namespace {

// A port in use may become free. Opening is tried again after these delays (MARIN3R's backoff); then the revision is
// given up.
constexpr std::array<base::Duration, 4> kRetryAfter = {std::chrono::milliseconds(10), std::chrono::milliseconds(10),
                                                       std::chrono::milliseconds(100), std::chrono::milliseconds(100)};

}  // namespace

void Reloader::start(std::function<void(const base::Status&)> started) {
  parts_.loader.load({}, [this, started = std::move(started)](Loaded&& loaded) {
    if (then_ != Then::kStop) started(adoptFirst(std::move(loaded)));
  });
}

base::Status Reloader::adoptFirst(Loaded&& first) {
  if (!first.configuration->usable()) {
    return base::Error::config("the configuration cannot be served; `sluice validate` says more");
  }
  if (first.outcome != Loaded::Outcome::kServable) return base::Error::config(first.refusal);
  if (base::Status opened = parts_.publisher.open(*first.generation); !opened.ok()) return opened;
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
  phase_ = Phase::kLoading;
  parts_.loader.load(served_, [this](Loaded&& loaded) { take(std::move(loaded)); });
}

void Reloader::stop() {
  then_ = Then::kStop;
  if (phase_ != Phase::kOpening) return;
  cancel();
  end();
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
  const base::Status opened = parts_.publisher.open(*candidate_.generation);
  if (opened.ok()) return publish();
  if (failures_ == kRetryAfter.size()) return refuse(opened.error().detail);
  parts_.timers.set(*this, parts_.clock.now() + kRetryAfter[failures_++]);
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

void Reloader::refuse(std::string_view reason) {
  revisions_.state = ConfigState::kRollback;
  parts_.observer.onRefused(revisions_, reason);
  end();
}

// A reload that was requested meanwhile reads the current state of the source once, however often it was requested.
void Reloader::end() {
  phase_ = Phase::kServing;
  if (candidate_.configuration != nullptr) parts_.loader.discard(std::exchange(candidate_, {}));
  if (then_ != Then::kReload) return;
  then_ = Then::kRest;
  reload();
}

std::string Reloader::version() const {
  return std::to_string(adoptions_) + " " + revisions_.desired + " " + revisions_.published + " " + revisions_.served +
         " " + std::string(configStateName(revisions_.state));
}

}  // namespace sluice::control
