// Tests a reload step by step. Loading, sockets and workers are fakes that the test controls.
#include "proxy/control/reloader.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "test/support/manual_clock.h"

namespace sluice::control {
namespace {

/// Delivers the configuration that the test chose, when the test says so.
class FakeLoader final : public Loader {
 public:
  void load(const Loaded& served, UnusablePlaces unusable, Done done) override {
    ++loads;
    without = std::move(unusable);
    servedBefore = served.configuration == nullptr ? "" : served.configuration->revision;
    done_ = std::move(done);
  }
  void discard(Loaded&& old) override { discarded.push_back(old.configuration->revision); }

  bool loading() const { return done_ != nullptr; }
  void hand(Loaded loaded) { std::exchange(done_, nullptr)(std::move(loaded)); }

  int loads = 0;
  UnusablePlaces without;  // of the last load
  std::string servedBefore;
  std::vector<std::string> discarded;

 private:
  Done done_;
};

const UnusablePlace kTaken = {"192.0.2.1", 80, "the port is in use"};

/// Records the calls. Workers and the acceptor answer when the test says so.
class FakeServer final : public Publisher, public ReloadObserver {
 public:
  UnusablePlaces open(const Generation& next) override {
    events.push_back("open " + next.revision);
    if (failures == 0) return {};
    --failures;
    return {kTaken};
  }
  bool openAny(const UnusablePlaces& places) override {
    events.push_back("try " + places.front().why);
    return free;
  }
  void publish(const std::shared_ptr<const Generation>& next, std::function<void()> adopted) override {
    events.push_back("publish " + next->revision);
    answer_ = std::move(adopted);
  }
  void accept(const Generation& next, std::function<void()> accepted) override {
    events.push_back("accept " + next.revision);
    answer_ = std::move(accepted);
  }
  void closeOthers(const Generation& served) override { events.push_back("close others than " + served.revision); }
  void onUnchanged(const Revisions& revisions) override {
    events.push_back("unchanged " + revisions.desired);
    if (whenTold) std::exchange(whenTold, nullptr)();
  }
  void onRefused(const Revisions& revisions, std::string_view reason) override {
    events.push_back("refused " + revisions.desired + ": " + std::string(reason));
  }
  void onServed(const Revisions& revisions, const Generation& now, std::string_view before) override {
    EXPECT_EQ(revisions.served, now.revision);
    events.push_back("served " + now.revision + " after " + std::string(before));
    if (whenTold) std::exchange(whenTold, nullptr)();
  }

  /// Calls the pending callback: all workers have adopted the published generation, or the acceptor accepts connections
  /// for it.
  void answer() { std::exchange(answer_, nullptr)(); }
  /// Returns the events since the last call.
  std::vector<std::string> take() { return std::exchange(events, {}); }

  bool free = false;               // a place that could not be used can be used now
  int failures = 0;                // number of the next attempts to open that fail
  std::function<void()> whenTold;  // called once, inside the next onServed() or onUnchanged()
  std::vector<std::string> events;

 private:
  std::function<void()> answer_;
};

using Events = std::vector<std::string>;

class ReloaderTest : public ::testing::Test {
 protected:
  Loaded loaded(const std::string& revision, Loaded::Outcome outcome = Loaded::Outcome::kServable) const {
    CompiledConfiguration configuration;
    configuration.unusable = loader_.without;
    configuration.revision = revision;
    configuration.readable = configuration.compiled.usable = outcome != Loaded::Outcome::kRefused;
    Loaded made{outcome, std::make_shared<const CompiledConfiguration>(std::move(configuration)), nullptr, {}};
    if (outcome == Loaded::Outcome::kServable)
      made.generation = std::make_shared<const Generation>(generation(revision, binds_));
    if (outcome == Loaded::Outcome::kRefused) made.refusal = "it is broken";
    return made;
  }
  /// Serves the first configuration and starts workers.
  void begin() {
    EXPECT_TRUE(start(loaded("one")).ok());
    reloader_.begin();
    server_.take();
  }
  base::Status start(Loaded first) {
    std::optional<base::Status> result;
    reloader_.start([&](const base::Status& status) { result = status; });
    loader_.hand(std::move(first));
    EXPECT_TRUE(result);
    return *result;
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
  std::string state() const { return std::string(configStateName(reloader_.revisions().state)); }

  std::size_t binds_ = 1;  // of each configuration
  sluice::test::ManualClock clock_;
  net::TimerWheel timers_{clock_.now()};
  FakeLoader loader_;
  FakeServer server_;
  Reloader reloader_{{loader_, server_, server_, timers_, clock_}};

 private:
  static Generation generation(const std::string& revision, std::size_t binds) {
    return {nullptr, revision, std::vector<ServedBind>(binds), {}};
  }
};

TEST_F(ReloaderTest, OpensAndServesTheFirstConfigurationAtOnce) {
  EXPECT_EQ(reloader_.generation(), nullptr);
  EXPECT_TRUE(start(loaded("one")).ok());
  EXPECT_EQ(server_.take(), Events{"open one"});
  EXPECT_EQ(reloader_.generation()->revision, "one");
  EXPECT_EQ(reloader_.revisions().desired, "one");
  EXPECT_EQ(reloader_.revisions().published, "one");
  EXPECT_EQ(reloader_.revisions().served, "one");
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, FailsIfTheFirstConfigurationIsRefusedOrCannotBeOpened) {
  EXPECT_EQ(start(loaded("bad", Loaded::Outcome::kRefused)).error().detail,
            "the configuration cannot be served; `sluice validate` says more");
  Loaded unmade = loaded("bad");
  unmade.outcome = Loaded::Outcome::kRefused;
  unmade.refusal = "a certificate is broken";
  EXPECT_EQ(start(std::move(unmade)).error().detail, "a certificate is broken");
  EXPECT_TRUE(server_.take().empty());
  server_.failures = 1;
  EXPECT_EQ(start(loaded("one")).error().detail, "the port is in use");
  EXPECT_EQ(reloader_.generation(), nullptr);
}

TEST_F(ReloaderTest, TakesANewConfigurationThroughEveryStep) {
  begin();
  reloader_.reload();
  EXPECT_EQ(loader_.servedBefore, "one");
  EXPECT_TRUE(reloader_.reloading());
  loader_.hand(loaded("two"));
  EXPECT_EQ(server_.take(), (Events{"open two", "publish two"}));
  EXPECT_EQ(reloader_.revisions().desired, "two");
  EXPECT_EQ(reloader_.revisions().published, "two");
  EXPECT_EQ(reloader_.revisions().served, "one");
  server_.answer();
  EXPECT_EQ(server_.take(), Events{"accept two"}) << "only when all workers know it";
  EXPECT_EQ(reloader_.generation()->revision, "one");
  server_.answer();
  EXPECT_EQ(server_.take(), (Events{"close others than two", "served two after one"}));
  EXPECT_EQ(reloader_.generation()->revision, "two");
  EXPECT_EQ(reloader_.configuration()->revision, "two");
  EXPECT_EQ(loader_.discarded, Events{"one"});
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, StopsAtAConfigurationThatChangesNothing) {
  begin();
  reloader_.reload();
  loader_.hand(loaded("one", Loaded::Outcome::kUnchanged));
  EXPECT_EQ(server_.take(), Events{"unchanged one"});
  EXPECT_EQ(loader_.discarded, Events{"one"}) << "the reading of it";
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, KeepsTheOldConfigurationIfTheNewOneIsRefused) {
  begin();
  reloader_.reload();
  loader_.hand(loaded("bad", Loaded::Outcome::kRefused));
  EXPECT_EQ(server_.take(), (Events{"close others than one", "refused bad: it is broken"}));
  EXPECT_EQ(state(), "Rollback");
  EXPECT_EQ(reloader_.revisions().desired, "bad");
  EXPECT_EQ(reloader_.revisions().served, "one");
  EXPECT_EQ(reloader_.generation()->revision, "one");
  reloader_.reload();
  loader_.hand(loaded("one", Loaded::Outcome::kUnchanged));
  EXPECT_EQ(state(), "InSync") << "the old one is wanted again";
}

TEST_F(ReloaderTest, TriesAPortInUseAgain) {
  begin();
  reloader_.reload();
  server_.failures = 2;
  loader_.hand(loaded("two"));
  EXPECT_EQ(server_.take(), Events{"open two"});
  passes(std::chrono::milliseconds(30));
  EXPECT_EQ(server_.take(), Events{"open two"});
  passes(std::chrono::milliseconds(30));
  EXPECT_EQ(server_.take(), (Events{"open two", "publish two"}));
}

TEST_F(ReloaderTest, GivesUpAPortInUseAfterFiveAttempts) {
  begin();
  for (int round = 0; round < 2; ++round) {
    reloader_.reload();
    server_.failures = 5;
    loader_.hand(loaded("two"));
    for (int i = 0; i < 8; ++i) passes(std::chrono::milliseconds(120));
    EXPECT_EQ(server_.take(), (Events{"open two", "open two", "open two", "open two", "open two",
                                      "close others than one", "refused two: the port is in use"}));
    EXPECT_EQ(reloader_.generation()->revision, "one");
    EXPECT_FALSE(reloader_.reloading());
  }
}

TEST_F(ReloaderTest, ServesAConfigurationWithoutThePlacesThatCannotBeUsed) {
  binds_ = 2;
  begin();
  reloader_.reload();
  server_.failures = 5;
  loader_.hand(loaded("two"));
  for (int i = 0; i < 8; ++i) passes(std::chrono::milliseconds(120));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.without, UnusablePlaces{kTaken});
  server_.take();
  binds_ = 1;
  serve("two");
  EXPECT_EQ(server_.take(),
            (Events{"open two", "publish two", "accept two", "close others than two", "served two after one"}));
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, TriesUnusablePlacesUntilTheyAreFree) {
  binds_ = 2;
  server_.failures = 1;
  std::optional<base::Status> started;
  reloader_.start([&](const base::Status& status) { started = status; });
  loader_.hand(loaded("one"));
  EXPECT_FALSE(started) << "it is compiled once more";
  EXPECT_EQ(loader_.without, UnusablePlaces{kTaken});
  loader_.hand(loaded("one"));
  ASSERT_TRUE(started && started->ok());
  reloader_.begin();
  server_.take();
  for (int i = 0; i < 2; ++i) {
    passes(std::chrono::seconds(6));
    EXPECT_EQ(server_.take(), Events{"try the port is in use"});
  }
  server_.free = true;
  passes(std::chrono::seconds(6));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.without, UnusablePlaces{}) << "all places are wanted again";
  serve("one");
  server_.take();
  passes(std::chrono::seconds(20));
  EXPECT_EQ(server_.take(), Events{}) << "there is nothing to try any more";
}

TEST_F(ReloaderTest, RefusesAConfigurationThatCanListenNowhere) {
  binds_ = 0;
  begin();
  binds_ = 1;
  reloader_.reload();
  server_.failures = 5;
  loader_.hand(loaded("two"));
  for (int i = 0; i < 8; ++i) passes(std::chrono::milliseconds(120));
  EXPECT_EQ(state(), "Rollback");
  EXPECT_FALSE(loader_.loading());
}

TEST_F(ReloaderTest, ReadsTwoChangesDuringAReloadOnceAfterwards) {
  begin();
  reloader_.reload();
  loader_.hand(loaded("two"));
  reloader_.reload();
  reloader_.reload();
  EXPECT_EQ(loader_.loads, 2) << "the first configuration and the second";
  server_.answer();
  server_.answer();
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(loader_.servedBefore, "two");
  serve("three");
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(reloader_.generation()->revision, "three");
}

TEST_F(ReloaderTest, DoesARequestedReloadAfterARefusalToo) {
  begin();
  reloader_.reload();
  reloader_.reload();
  loader_.hand(loaded("bad", Loaded::Outcome::kRefused));
  EXPECT_TRUE(loader_.loading());
  serve("two");
  EXPECT_EQ(reloader_.generation()->revision, "two");
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, DelaysARequestedReloadUntilTheNextAttemptWhileAPortIsInUse) {
  begin();
  reloader_.reload();
  server_.failures = 1;
  loader_.hand(loaded("two"));
  reloader_.reload();
  EXPECT_EQ(server_.take(), Events{"open two"}) << "it is not tried any sooner";
  EXPECT_FALSE(loader_.loading());
  passes(std::chrono::milliseconds(30));
  EXPECT_EQ(server_.take(), (Events{"open two", "publish two"}));
  EXPECT_FALSE(loader_.loading());
  server_.answer();
  server_.answer();
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.servedBefore, "two");
}

TEST_F(ReloaderTest, DoesAReloadRequestedByTheObserverOfAServedConfiguration) {
  begin();
  reloader_.reload();
  server_.whenTold = [this] { reloader_.reload(); };
  serve("two");
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(loader_.servedBefore, "two");
  EXPECT_EQ(loader_.discarded, Events{"one"});
  serve("three");
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(reloader_.generation()->revision, "three");
}

TEST_F(ReloaderTest, DoesAReloadRequestedByTheObserverOfAnUnchangedConfiguration) {
  begin();
  reloader_.reload();
  server_.whenTold = [this] { reloader_.reload(); };
  loader_.hand(loaded("one", Loaded::Outcome::kUnchanged));
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(loader_.discarded, Events{"one"}) << "the reading of it";
  serve("two");
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(reloader_.generation()->revision, "two");
}

TEST_F(ReloaderTest, DelaysAReloadUntilThereAreWorkers) {
  reloader_.reload();
  EXPECT_TRUE(start(loaded("one")).ok());
  reloader_.reload();
  EXPECT_EQ(loader_.loads, 1);
  reloader_.begin();
  EXPECT_EQ(loader_.loads, 2);
}

TEST_F(ReloaderTest, DropsAReloadThatIsStoppedWhileLoading) {
  begin();
  reloader_.reload();
  reloader_.reload();
  reloader_.stop();
  loader_.hand(loaded("two"));
  EXPECT_TRUE(server_.take().empty());
  EXPECT_EQ(reloader_.revisions().desired, "one");
  EXPECT_FALSE(reloader_.reloading());
  reloader_.reload();
  EXPECT_FALSE(loader_.loading());
}

TEST_F(ReloaderTest, DropsAReloadThatIsStoppedWhileWaitingForAPort) {
  begin();
  reloader_.reload();
  server_.failures = 1;
  loader_.hand(loaded("two"));
  server_.take();
  reloader_.stop();
  passes(std::chrono::seconds(1));
  EXPECT_TRUE(server_.take().empty());
  EXPECT_EQ(loader_.discarded, Events{"two"});
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, FinishesAReloadThatIsStoppedAfterPublishing) {
  begin();
  reloader_.reload();
  loader_.hand(loaded("two"));
  reloader_.reload();
  reloader_.stop();
  server_.answer();
  server_.answer();
  EXPECT_EQ(reloader_.generation()->revision, "two");
  EXPECT_FALSE(loader_.loading()) << "nothing is begun any more";
}

TEST_F(ReloaderTest, FinishesAReloadThatIsStoppedWhileSwitchingConnections) {
  begin();
  reloader_.reload();
  loader_.hand(loaded("two"));
  server_.answer();
  reloader_.stop();
  EXPECT_TRUE(reloader_.reloading());
  server_.take();
  server_.answer();
  EXPECT_EQ(server_.take(), (Events{"close others than two", "served two after one"}));
  EXPECT_EQ(loader_.discarded, Events{"one"});
  EXPECT_FALSE(reloader_.reloading());
  EXPECT_FALSE(loader_.loading());
}

TEST_F(ReloaderTest, DoesNotCallBackIfStoppedBeforeTheFirstConfiguration) {
  bool told = false;
  reloader_.start([&](const base::Status&) { told = true; });
  reloader_.stop();
  loader_.hand(loaded("one"));
  EXPECT_FALSE(told);
}

TEST_F(ReloaderTest, ChangesItsVersionWithEveryChange) {
  begin();
  std::vector<std::string> versions{reloader_.version()};
  const auto another = [&] {
    const std::string now = reloader_.version();
    const bool is = now != versions.back();
    versions.push_back(now);
    return is;
  };
  reloader_.reload();
  loader_.hand(loaded("bad", Loaded::Outcome::kRefused));
  EXPECT_TRUE(another());
  reloader_.reload();
  loader_.hand(loaded("two"));
  EXPECT_TRUE(another());
  server_.answer();
  server_.answer();
  EXPECT_TRUE(another());
  reloader_.reload();
  serve("two");
  EXPECT_TRUE(another()) << "objects may have changed that the revision does not cover";
}

}  // namespace
}  // namespace sluice::control
