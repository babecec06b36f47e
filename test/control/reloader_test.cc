// Tests a reload step by step.
#include "proxy/control/reloader.h"

#include "test/control/reloader_fixture.h"

namespace sluice::control {
namespace {

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
  EXPECT_EQ(server_.take(), (Events{"close others than one", "unchanged one"}));
  EXPECT_EQ(loader_.discarded, Events{"one"}) << "the reading of it";
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, KeepsTheOldConfigurationIfTheNewOneIsRefused) {
  begin();
  reloader_.reload();
  loader_.hand(refused("bad"));
  EXPECT_EQ(server_.take(), (Events{"close others than one", "refused bad: it is broken"}));
  EXPECT_EQ(state(), "Rollback");
  EXPECT_EQ(reloader_.revisions().desired, "bad");
  EXPECT_EQ(reloader_.revisions().served, "one");
  EXPECT_EQ(reloader_.generation()->revision, "one");
  reloader_.reload();
  loader_.hand(loaded("one", Loaded::Outcome::kUnchanged));
  EXPECT_EQ(state(), "InSync") << "the old one is wanted again";
}

TEST_F(ReloaderTest, KeepsTheOldConfigurationUntilTheNewOneMayBeServed) {
  begin();
  reloader_.reload();
  loader_.hand(refused("bad"));
  server_.take();
  held_ = "two";
  reloader_.reload();
  loader_.hand(loaded("two"));
  EXPECT_EQ(server_.take(), (Events{"close others than one", "held two"}));
  EXPECT_EQ(reloader_.revisions().standing, Standing::kHeld);
  EXPECT_EQ(state(), "InSync") << "what was refused is not desired any more";
  EXPECT_EQ(reloader_.revisions().desired, "two");
  EXPECT_EQ(served(), "one");
  EXPECT_FALSE(reloader_.reloading());
  held_.clear();
  reloader_.reload();
  serve("two");
  EXPECT_EQ(reloader_.revisions().standing, Standing::kServed);
  EXPECT_EQ(served(), "two");
}

TEST_F(ReloaderTest, RefreshesTheServedConfigurationWithNewerSecrets) {
  fromApiServer_ = true;
  begin();
  held_ = "two";
  for (const auto& notServed : {loaded("two"), refused("bad")}) {
    reloader_.reload();
    loader_.hand(notServed);
    EXPECT_TRUE(reloader_.reloading());
    EXPECT_EQ(loader_.servedBefore, served());
    EXPECT_EQ(loader_.refreshedBy, notServed.configuration->revision);
    const std::string refreshed = "one, refreshed by " + loader_.refreshedBy;
    server_.take();
    serve(refreshed);
    EXPECT_EQ(server_.take(),
              (Events{"open " + refreshed, "publish " + refreshed, "accept " + refreshed,
                      "close others than " + refreshed, "serving " + refreshed, "refreshed " + refreshed}))
        << "it is no reload";
    EXPECT_EQ(served(), refreshed);
    EXPECT_EQ(reloader_.revisions().desired, notServed.configuration->revision);
    EXPECT_FALSE(reloader_.reloading());
    EXPECT_EQ(loader_.discarded.back(), notServed.configuration->revision);
  }
  EXPECT_EQ(state(), "Rollback");
  const int recompilations = loader_.recompilations;
  reloader_.reload();
  loader_.hand(unavailable("bad"));
  EXPECT_EQ(loader_.recompilations, recompilations) << "it has no secrets";
}

TEST_F(ReloaderTest, ServesOnIfARefreshChangesNothingOrIsRefused) {
  fromApiServer_ = true;
  begin();
  for (const Loaded::Outcome outcome : {Loaded::Outcome::kUnchanged, Loaded::Outcome::kRefused}) {
    reloader_.reload();
    loader_.hand(refused("bad"));
    server_.take();
    loader_.hand(loaded("one", outcome));
    EXPECT_EQ(server_.take(), Events{"close others than one"});
    EXPECT_EQ(served(), "one");
    EXPECT_EQ(state(), "Rollback");
    EXPECT_FALSE(reloader_.reloading());
  }
}

TEST_F(ReloaderTest, ReadsTheSourceAfterARefreshIfThatIsRequestedMeanwhile) {
  fromApiServer_ = true;
  begin();
  reloader_.reload();
  loader_.hand(refused("bad"));
  const int loads = loader_.loads;
  reloader_.reload();
  EXPECT_EQ(loader_.loads, loads) << "the refresh comes first";
  loader_.hand(loaded("one", Loaded::Outcome::kUnchanged));
  EXPECT_EQ(loader_.loads, loads + 1);
  serve("two");
  EXPECT_EQ(served(), "two");
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, RefreshesNothingIfItStops) {
  fromApiServer_ = true;
  begin();
  reloader_.reload();
  server_.whenTold = [this] { reloader_.stop(); };
  loader_.hand(refused("bad"));
  EXPECT_FALSE(loader_.loading());
}

TEST_F(ReloaderTest, ServesAtOnceWithoutWorkers) {
  server_.alone = true;
  begin();
  reloader_.reload();
  loader_.hand(loaded("two"));
  EXPECT_EQ(server_.take(),
            (Events{"open two", "publish two", "accept two", "close others than two", "served two after one"}));
  EXPECT_EQ(served(), "two");
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, TriesATaintedRevisionAgainAndNoOther) {
  begin();
  const int loads = loader_.loads;
  for (const char* const prefix : {"two", "one"}) {
    const bool isTainted = prefix == std::string_view("one");
    loader_.tainted = "one";
    std::optional<bool> cleared;
    reloader_.retry(prefix, [&](bool done) { cleared = done; });
    EXPECT_EQ(cleared, isTainted);
    EXPECT_EQ(loader_.loads, loads + (isTainted ? 1 : 0));
  }
}

TEST_F(ReloaderTest, NotifiesAllObserversInOrder) {
  struct LastObserver final : ReloadObserver {
    explicit LastObserver(Events& events) : told(events) {}
    void onCompiled(const CompiledConfiguration& compiled) override { told.push_back("compiled " + compiled.revision); }
    void onServed(const Revisions&, const Generation& now, std::string_view) override {
      told.push_back("seen " + now.revision);
    }
    Events& told;
  } last(server_.events);
  begin();
  reloader_.observe(last);
  reloader_.reload();
  serve("two");
  const Events events = server_.take();
  EXPECT_EQ(Events(events.end() - 3, events.end()), (Events{"compiled two", "served two after one", "seen two"}));
}

TEST_F(ReloaderTest, AFirstConfigurationNeedNotWait) {
  held_ = "one";
  start(loaded("one"));
  EXPECT_EQ(served(), "one") << "there is nothing else to serve";
}

TEST_F(ReloaderTest, ReportsSinceWhenItIsInItsState) {
  begin();
  const base::WallTime began = reloader_.revisions().since;
  passes(std::chrono::minutes(1));
  reloader_.reload();
  loader_.hand(refused("bad"));
  const base::WallTime refusedAt = clock_.wallNow();
  EXPECT_EQ(reloader_.revisions().since, refusedAt);
  passes(std::chrono::minutes(1));
  reloader_.reload();
  loader_.hand(refused("worse"));
  EXPECT_EQ(reloader_.revisions().since, refusedAt) << "the state is the same";
  EXPECT_LT(began, refusedAt);
}

TEST_F(ReloaderTest, ReadsASourceAgainThatCouldNotBeRead) {
  begin();
  reloader_.reload();
  loader_.hand(unavailable("one"));
  EXPECT_EQ(state(), "Rollback");
  EXPECT_EQ(served(), "one");
  for (int i = 0; i < 12; ++i) {
    passes(std::chrono::seconds(8));
    ASSERT_TRUE(loader_.loading()) << "for as long as it takes";
    loader_.hand(unavailable("one"));
  }
  passes(std::chrono::seconds(8));
  loader_.hand(loaded("one", Loaded::Outcome::kUnchanged));
  EXPECT_EQ(state(), "InSync");
  passes(std::chrono::hours(1));
  EXPECT_FALSE(loader_.loading());
}

TEST_F(ReloaderTest, ServesAConfigurationAtOnceWithoutThePlacesThatCannotBeUsed) {
  begin();
  reloader_.reload();
  server_.failures = 1;
  loader_.hand(loaded("two"));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.without, compile::UnusablePlaces{kTaken});
  server_.take();
  serve("two");
  EXPECT_EQ(server_.take(),
            (Events{"open two", "publish two", "accept two", "close others than two", "served two after one"}));
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, CompilesWhatIsServedAgainIfAPlaceIsFreeWhileTheSourceIsRefused) {
  server_.failures = 1;
  start(loaded("one"));
  loader_.hand(loaded("one"));
  reloader_.reload();
  loader_.hand(refused("bad"));
  passes(std::chrono::seconds(20));
  EXPECT_FALSE(loader_.loading());
  server_.free = true;
  server_.take();
  passes(std::chrono::seconds(20));
  ASSERT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.recompilations, 1);
  EXPECT_EQ(loader_.without, compile::UnusablePlaces{});
  serve("one and all");
  EXPECT_EQ(served(), "one and all");
  EXPECT_EQ(state(), "Rollback") << "the source is as bad as before";
  EXPECT_EQ(reloader_.revisions().desired, "bad");
  EXPECT_EQ(reloader_.revisions().problems->at(0).message, "it is broken");
  reloader_.reload();
  loader_.hand(loaded("two"));
  EXPECT_EQ(loader_.recompilations, 1) << "a change is read from the source";
}

TEST_F(ReloaderTest, ReadsASourceAgainThatCannotBeReadEvenIfAPlaceIsAwaited) {
  server_.failures = 1;
  start(loaded("one"));
  loader_.hand(loaded("one"));
  reloader_.reload();
  const int loads = loader_.loads;
  loader_.hand(unavailable("one"));
  server_.free = true;
  passes(std::chrono::seconds(20));
  EXPECT_EQ(loader_.loads, loads + 1);
}

TEST_F(ReloaderTest, CompilesAgainWhenAProcessorMayFindWhatItNeeds) {
  struct AwaitedSwitch final : processing::Awaited {
    bool mayHaveCome() const override { return come; }
    bool come = false;
  };
  AwaitedSwitch awaited;
  begin();
  reloader_.reload();
  CompiledConfiguration lacking;
  lacking.revision = lacking.servedRevision = "two";
  const std::shared_ptr<const processing::Awaited> shared(std::shared_ptr<void>(), &awaited);
  lacking.compiled.awaiting = {{"Backend demo/api: script", processing::LoadState::kDegraded, "no file", shared}};
  Loaded two = loaded("two");
  two.configuration = std::make_shared<const CompiledConfiguration>(std::move(lacking));
  loader_.hand(std::move(two));
  server_.answer();
  server_.answer();
  passes(std::chrono::seconds(20));
  EXPECT_FALSE(loader_.loading());
  awaited.come = true;
  passes(std::chrono::seconds(20));
  EXPECT_TRUE(loader_.loading());
  serve("three");
  passes(std::chrono::seconds(20));
  EXPECT_FALSE(loader_.loading()) << "nothing is awaited any more";
}

TEST_F(ReloaderTest, CompilesWhatIsServedAgainWhenTheServerOfAProcessorHasAnotherState) {
  const auto health = std::make_shared<const processing::ServerHealth>();
  const auto asking = [&](const std::string& revision) {
    CompiledConfiguration configuration;
    configuration.revision = configuration.servedRevision = revision;
    configuration.compiled.servers = {
        {"Backend b", "guard", "spec", compile::ServerLoss::kRefused, health, health->announced()}};
    Loaded made = loaded(revision);
    made.configuration = std::make_shared<const CompiledConfiguration>(std::move(configuration));
    return made;
  };
  begin();
  reloader_.reload();
  loader_.hand(asking("two"));
  server_.answer();
  server_.answer();
  server_.take();
  passes(std::chrono::seconds(20));
  EXPECT_FALSE(loader_.loading()) << "it is Pending still";
  health->onAnswer();
  passes(std::chrono::seconds(2));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.recompilations, 1) << "the source is not read for it";
  loader_.hand(asking("two"));
  server_.answer();
  server_.answer();
  for (const std::string& event : server_.take())
    EXPECT_FALSE(event.starts_with("served")) << "it is no reload: " << event;
  passes(std::chrono::seconds(20));
  EXPECT_FALSE(loader_.loading());
  for (int i = 0; i < 3; ++i) health->onFailure(processing::Cause::kError, clock_.wallNow());
  passes(std::chrono::seconds(2));
  EXPECT_TRUE(loader_.loading());
}

TEST_F(ReloaderTest, TriesUnusablePlacesUntilTheyAreFree) {
  server_.failures = 1;
  start(loaded("one"));
  EXPECT_EQ(served(), "") << "it is compiled once more";
  EXPECT_EQ(loader_.without, compile::UnusablePlaces{kTaken});
  loader_.hand(loaded("one"));
  EXPECT_EQ(served(), "one");
  server_.take();
  for (const int after : {1, 20, 20, 160, 160, 800, 800, 4600, 4600, 7600, 7600}) {
    passes(std::chrono::milliseconds(after) + 2 * net::TimerWheel::kTick);
    EXPECT_EQ(server_.take(), Events{"try the port is in use"}) << after;
  }
  server_.free = true;
  passes(std::chrono::seconds(8));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.without, compile::UnusablePlaces{}) << "all places are wanted again";
  serve("one");
  server_.take();
  passes(std::chrono::seconds(20));
  EXPECT_EQ(server_.take(), Events{}) << "there is nothing to try any more";
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
  loader_.hand(refused("bad"));
  EXPECT_TRUE(loader_.loading());
  serve("two");
  EXPECT_EQ(reloader_.generation()->revision, "two");
  EXPECT_EQ(state(), "InSync");
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

TEST_F(ReloaderTest, DelaysAReloadUntilTheFirstConfigurationIsServed) {
  start();
  reloader_.reload();
  EXPECT_EQ(loader_.loads, 1);
  loader_.hand(loaded("one"));
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

TEST_F(ReloaderTest, MakesNoWorkersIfStoppedBeforeTheFirstConfiguration) {
  start();
  reloader_.stop();
  loader_.hand(loaded("one"));
  EXPECT_TRUE(server_.take().empty());
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
  loader_.hand(refused("bad"));
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
