// A fixture of the Reloader. Loading, sockets and workers are fakes that the test controls.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/reloader.h"
#include "test/support/manual_clock.h"

namespace sluice::control {

/// Delivers the configuration that the test chose, when the test asks for it.
class FakeLoader final : public Loader {
 public:
  void load(const Loaded& served, compile::UnusablePlaces unusable, Done done) override {
    ++loads;
    without = std::move(unusable);
    servedBefore = served.configuration == nullptr ? "" : served.configuration->revision;
    done_ = std::move(done);
  }
  void recompile(const Loaded& served, const Loaded& newest, compile::UnusablePlaces unusable, Done done) override {
    ++recompilations;
    refreshedBy = newest.configuration == nullptr ? "" : newest.configuration->revision;
    without = std::move(unusable);
    servedBefore = served.configuration->revision;
    done_ = std::move(done);
  }
  void restore(compile::UnusablePlaces unusable, Done done) override {
    without = std::move(unusable);
    if (!stored) return done({});
    done_ = std::move(done);
  }
  void rescue(compile::UnusablePlaces unusable, Done done) override {
    without = std::move(unusable);
    if (!good) return done({});
    done_ = std::move(done);
  }
  void remember(const Loaded& served) override { remembered.push_back(served.configuration->revision); }
  void keep(const Loaded& served) override { kept.push_back(served.configuration->revision); }
  void discard(Loaded&& old) override { discarded.push_back(old.configuration->revision); }
  void clearTaint(std::string prefix, std::function<void(bool)> done) override {
    const std::string known = std::exchange(tainted, "");
    done(known == prefix);
  }

  bool loading() const { return done_ != nullptr; }
  void hand(Loaded loaded) { std::exchange(done_, nullptr)(std::move(loaded)); }

  bool stored = false;  // there is a last good configuration of an earlier process
  bool good = false;    // the source keeps a good configuration
  int loads = 0;
  int recompilations = 0;
  compile::UnusablePlaces without;  // of the last load
  std::string servedBefore;
  std::string refreshedBy;  // the revision that the last recompilation was to take secrets from
  std::vector<std::string> discarded;
  std::vector<std::string> kept;
  std::vector<std::string> remembered;
  std::string tainted;  // the one revision that is

 private:
  Done done_;
};

inline const compile::UnusablePlace kTaken = {"192.0.2.1", 80, "the port is in use"};

/// Records the calls. Workers and the acceptor answer when the test lets them.
class FakeServer final : public Publisher, public ReloadObserver {
 public:
  compile::UnusablePlaces open(const Generation& next) override {
    events.push_back("open " + next.revision);
    if (failures == 0) return {};
    --failures;
    return {kTaken};
  }
  bool openAny(const compile::UnusablePlaces& places) override {
    events.push_back("try " + places.front().why);
    return free;
  }
  Handover publish(const std::shared_ptr<const Generation>& next, std::function<void()> adopted) override {
    events.push_back("publish " + next->revision);
    if (alone) return Handover::kDone;
    answer_ = std::move(adopted);
    return Handover::kUnderWay;
  }
  Handover accept(const Generation& next, std::function<void()> accepted) override {
    events.push_back("accept " + next.revision);
    if (alone) return Handover::kDone;
    answer_ = std::move(accepted);
    return Handover::kUnderWay;
  }
  void closeOthers(const Generation& served) override { events.push_back("close others than " + served.revision); }
  void onUnchanged(const Revisions& revisions) override {
    events.push_back("unchanged " + revisions.desired);
    if (whenTold) std::exchange(whenTold, nullptr)();
  }
  void onRefused(const Revisions& revisions) override {
    events.push_back("refused " + revisions.desired + ": " + revisions.problems->at(0).message);
    if (whenTold) std::exchange(whenTold, nullptr)();
  }
  void onHeld(const Revisions& revisions) override { events.push_back("held " + revisions.desired); }
  void onServed(const Revisions& revisions, const Generation& now, std::string_view before) override {
    EXPECT_EQ(revisions.served, now.revision);
    events.push_back("served " + now.revision + " after " + std::string(before));
    if (whenTold) std::exchange(whenTold, nullptr)();
  }

  void onServing(const CompiledConfiguration& served) override { events.push_back("serving " + served.revision); }
  void onRefreshed(const Generation& now) override { events.push_back("refreshed " + now.revision); }

  /// Calls the pending callback: all workers have adopted the published generation, or the acceptor accepts connections
  /// for it.
  void answer() { std::exchange(answer_, nullptr)(); }
  /// Returns the events since the last call.
  std::vector<std::string> take() { return std::exchange(events, {}); }

  bool alone = false;              // it has no workers
  bool free = false;               // a place that could not be used can be used now
  int failures = 0;                // number of the next attempts to open that fail
  std::function<void()> whenTold;  // called once, inside the next onServed(), onUnchanged() or onRefused()
  std::vector<std::string> events;

 private:
  std::function<void()> answer_;
};

using Events = std::vector<std::string>;

class ReloaderTest : public ::testing::Test, private ServingGate {
 protected:
  ReloaderTest() { reloader_.observe(server_); }
  Loaded loaded(const std::string& revision, Loaded::Outcome outcome = Loaded::Outcome::kServable) const {
    CompiledConfiguration configuration;
    configuration.unusable = loader_.without;
    configuration.set.serial = fromApiServer_ ? 1 : 0;
    configuration.revision = configuration.servedRevision = configuration.servedDigest = revision;
    Loaded made{outcome, std::make_shared<const CompiledConfiguration>(std::move(configuration)), nullptr};
    if (outcome == Loaded::Outcome::kServable)
      made.generation = std::make_shared<const Generation>(generation(revision, binds_));
    if (outcome >= Loaded::Outcome::kRefused) {
      config::Problem broken;
      broken.message = "it is broken";
      made.problems = std::make_shared<const config::Problems>(1, broken);
    }
    return made;
  }
  Loaded refused(const std::string& revision) const { return loaded(revision, Loaded::Outcome::kRefused); }
  Loaded unavailable(const std::string& revision) const { return loaded(revision, Loaded::Outcome::kUnavailable); }
  /// Returns a refused configuration whose listeners are known.
  Loaded fenced(const std::string& revision) const {
    Loaded made = refused(revision);
    made.generation = std::make_shared<const Generation>(generation(revision, binds_));
    return made;
  }
  /// Serves the first configuration.
  void begin() {
    start(loaded("one"));
    EXPECT_EQ(served(), "one");
    server_.take();
  }
  void start() {
    reloader_.start([this](const Loaded& first) -> base::Status {
      server_.events.push_back((first.outcome == Loaded::Outcome::kServable ? "make workers for " : "refuse all of ") +
                               first.generation->revision);
      if (std::exchange(workersFail_, false)) return base::Error::config("no access log");
      return base::Done{};
    });
  }
  void start(Loaded first) {
    start();
    loader_.hand(std::move(first));
  }
  void serve(const std::string& revision) {
    loader_.hand(loaded(revision));
    server_.answer();
    server_.answer();
  }
  void passes(base::Duration time) {
    clock_.advance(time);
    timers_.advance(clock_.now());
  }
  std::string state() const { return std::string(configStateName(reloader_.revisions().state())); }
  std::string served() const { return reloader_.generation() == nullptr ? "" : reloader_.generation()->revision; }

  std::size_t binds_ = 1;  // of each configuration
  bool fromApiServer_ = false;
  bool workersFail_ = false;
  sluice::test::ManualClock clock_;
  net::TimerWheel timers_{clock_.now()};
  FakeLoader loader_;
  FakeServer server_;
  std::string held_;  // a revision that may not be served yet
  Reloader reloader_{{loader_, server_, timers_, clock_, 1, this}};

 private:
  bool mayServe(const CompiledConfiguration& read) override { return read.revision != held_; }
  static Generation generation(const std::string& revision, std::size_t binds) {
    return {nullptr, revision, std::vector<ServedBind>(binds), {}};
  }
};

}  // namespace sluice::control
