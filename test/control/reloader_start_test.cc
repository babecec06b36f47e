// Tests the start of a process: its first configuration may be kept from an earlier one, refused, or not be there yet.
#include "test/control/reloader_fixture.h"

namespace sluice::control {
namespace {

TEST_F(ReloaderTest, OpensAndServesTheFirstConfigurationAtOnce) {
  EXPECT_EQ(reloader_.known(), nullptr);
  start(loaded("one"));
  EXPECT_EQ(server_.take(), (Events{"open one", "make workers for one", "close others than one"}));
  EXPECT_EQ(served(), "one");
  EXPECT_EQ(reloader_.revisions().desired, "one");
  EXPECT_EQ(reloader_.revisions().published, "one");
  EXPECT_EQ(reloader_.revisions().served, "one");
  EXPECT_EQ(loader_.kept, Events{"one"});
  EXPECT_FALSE(reloader_.reloading());
}

TEST_F(ReloaderTest, WaitsForTheSourceToBecomeGood) {
  start(refused("bad"));
  EXPECT_EQ(server_.take(), Events{"refused bad: it is broken"});
  EXPECT_EQ(state(), "RollbackFailed");
  EXPECT_EQ(reloader_.generation(), nullptr);
  EXPECT_EQ(reloader_.known()->revision, "bad") << "to say what is wrong";
  passes(std::chrono::hours(1));
  EXPECT_FALSE(loader_.loading()) << "only the source can change it";
  reloader_.reload();
  loader_.hand(refused("worse"));
  EXPECT_EQ(server_.take(), Events{"refused worse: it is broken"});
  EXPECT_EQ(loader_.discarded, Events{"bad"});
  reloader_.reload();
  loader_.hand(loaded("good"));
  EXPECT_EQ(server_.take(), (Events{"open good", "make workers for good", "close others than good"}));
  EXPECT_EQ(state(), "InSync");
  EXPECT_EQ(served(), "good");
  EXPECT_EQ(reloader_.revisions().since, clock_.wallNow());
}

TEST_F(ReloaderTest, AnswersAtTheListenersOfAFirstConfigurationThatIsRefused) {
  start(fenced("bad"));
  EXPECT_EQ(server_.take(),
            (Events{"open bad", "refuse all of bad", "close others than bad", "refused bad: it is broken"}));
  EXPECT_EQ(state(), "RollbackFailed");
  EXPECT_EQ(served(), "") << "it is not served";
  reloader_.reload();
  EXPECT_EQ(loader_.servedBefore, "");
  loader_.hand(loaded("good"));
  EXPECT_EQ(server_.take(), (Events{"open good", "make workers for good", "close others than good"}));
  EXPECT_EQ(served(), "good");
}

TEST_F(ReloaderTest, TriesAgainWhatTheEnvironmentRefusesAtTheStart) {
  start(unavailable("one"));
  EXPECT_EQ(state(), "RollbackFailed");
  passes(std::chrono::milliseconds(30));
  ASSERT_TRUE(loader_.loading());
  workersFail_ = true;
  server_.take();
  loader_.hand(loaded("one"));
  EXPECT_EQ(server_.take(),
            (Events{"open one", "make workers for one", "close others than ", "refused one: no access log"}));
  passes(std::chrono::milliseconds(40));
  ASSERT_TRUE(loader_.loading());
  loader_.hand(loaded("one"));
  EXPECT_EQ(served(), "one");
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, ServesTheLastGoodConfigurationFirstAndThenReadsTheSource) {
  loader_.stored = true;
  start(loaded("old"));
  EXPECT_EQ(server_.take(), (Events{"open old", "make workers for old", "close others than old"}));
  EXPECT_EQ(served(), "old");
  EXPECT_EQ(loader_.servedBefore, "old");
  loader_.hand(refused("bad"));
  EXPECT_EQ(state(), "Rollback");
  EXPECT_EQ(served(), "old");
  reloader_.reload();
  serve("new");
  EXPECT_EQ(served(), "new");
  EXPECT_EQ(loader_.kept, (Events{"old", "new"}));
}

TEST_F(ReloaderTest, TriesAgainIfARestoredConfigurationGetsNoWorkers) {
  loader_.stored = true;
  workersFail_ = true;
  start(loaded("old"));
  EXPECT_EQ(server_.take(),
            (Events{"open old", "make workers for old", "close others than ", "refused old: no access log"}));
  EXPECT_FALSE(loader_.loading());
  passes(std::chrono::milliseconds(40));
  EXPECT_EQ(loader_.loads, 1);
  loader_.hand(refused("bad"));
  EXPECT_EQ(state(), "RollbackFailed");
  reloader_.reload();
  loader_.hand(loaded("good"));
  EXPECT_EQ(served(), "good");
}

TEST_F(ReloaderTest, RestoresTheLastGoodConfigurationWithoutPlacesThatCannotBeUsed) {
  loader_.stored = true;
  server_.failures = 1;
  start(loaded("old"));
  EXPECT_EQ(loader_.without, compile::UnusablePlaces{kTaken});
  loader_.hand(loaded("old"));
  EXPECT_EQ(served(), "old");
}

TEST_F(ReloaderTest, ReadsTheSourceIfTheLastGoodConfigurationIsOfNoUse) {
  loader_.stored = true;
  start(refused("old"));
  ASSERT_TRUE(loader_.loading());
  loader_.hand(loaded("one"));
  EXPECT_EQ(served(), "one");
}

TEST_F(ReloaderTest, StartsFromTheGoodConfigurationOfTheSourceIfTheFirstOneIsRefused) {
  loader_.good = true;
  fromApiServer_ = true;
  start(fenced("bad"));
  EXPECT_EQ(server_.take(), Events()) << "it refuses no request in the meantime";
  loader_.hand(loaded("good"));
  EXPECT_EQ(server_.take(), (Events{"open good", "make workers for good", "close others than good"}));
  EXPECT_EQ(served(), "good");
  EXPECT_EQ(loader_.discarded, Events{"bad"});
  EXPECT_EQ(loader_.servedBefore, "good") << "the newest one is read again";
  loader_.hand(refused("bad"));
  EXPECT_EQ(state(), "Rollback");
  EXPECT_EQ(reloader_.revisions().desired, "bad");
  EXPECT_EQ(loader_.refreshedBy, "bad") << "it has the Secrets and endpoints of now";
  serve("refreshed");
  EXPECT_EQ(served(), "refreshed");
  EXPECT_EQ(state(), "Rollback");
  reloader_.reload();
  serve("new");
  EXPECT_EQ(served(), "new");
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, StartsFromTheGoodConfigurationOfTheSourceIfTheFirstOneHasToWait) {
  loader_.good = true;
  held_ = "new";
  start(loaded("new"));
  loader_.hand(loaded("good"));
  EXPECT_EQ(served(), "good");
  loader_.hand(loaded("new"));
  EXPECT_EQ(served(), "good") << "it still waits";
  EXPECT_EQ(reloader_.revisions().standing, Standing::kHeld);
  held_.clear();
  reloader_.reload();
  serve("new");
  EXPECT_EQ(served(), "new");
}

TEST_F(ReloaderTest, ServesAFirstConfigurationThatHasToWaitIfThereIsNoOther) {
  held_ = "new";
  start(loaded("new"));
  EXPECT_EQ(served(), "new");
  EXPECT_EQ(state(), "InSync");
}

TEST_F(ReloaderTest, RefusesTheFirstConfigurationIfTheGoodOneOfTheSourceIsOfNoUse) {
  loader_.good = true;
  start(fenced("bad"));
  loader_.hand(refused("forged"));
  EXPECT_EQ(server_.take(),
            (Events{"open bad", "refuse all of bad", "close others than bad", "refused bad: it is broken"}));
  EXPECT_EQ(state(), "RollbackFailed");
  // When the source changes, it is looked for again.
  reloader_.reload();
  loader_.hand(fenced("worse"));
  loader_.hand(loaded("good"));
  EXPECT_EQ(served(), "good");
}

TEST_F(ReloaderTest, StartsFromTheGoodConfigurationOfTheSourceWithoutPlacesThatCannotBeUsed) {
  loader_.good = true;
  start(refused("bad"));
  server_.failures = 1;
  loader_.hand(loaded("good"));
  EXPECT_EQ(loader_.without, compile::UnusablePlaces{kTaken});
  workersFail_ = true;
  loader_.hand(loaded("good"));
  EXPECT_EQ(state(), "RollbackFailed");
  EXPECT_EQ(loader_.discarded, Events{"bad"});
  passes(std::chrono::milliseconds(40));
  loader_.hand(refused("bad"));
  loader_.hand(loaded("good"));
  EXPECT_EQ(served(), "good");
}

TEST_F(ReloaderTest, LooksForTheGoodConfigurationOfTheSourceAgainIfItCannotBeReadNow) {
  loader_.good = true;
  start(fenced("bad"));
  loader_.hand(unavailable("good"));
  EXPECT_EQ(server_.take(),
            (Events{"open bad", "refuse all of bad", "close others than bad", "refused bad: it is broken"}));
  EXPECT_EQ(state(), "RollbackFailed");
  passes(std::chrono::milliseconds(40));
  loader_.hand(fenced("bad"));
  loader_.hand(loaded("good"));
  EXPECT_EQ(served(), "good");
}

TEST_F(ReloaderTest, ServesAFirstConfigurationThatHasToWaitIfTheGoodOneCannotBeReadNow) {
  loader_.good = true;
  held_ = "new";
  start(loaded("new"));
  loader_.hand(unavailable("good"));
  EXPECT_EQ(served(), "new");
}

TEST_F(ReloaderTest, TakesNoGoodConfigurationOfTheSourceAfterItWasStopped) {
  loader_.good = true;
  start(refused("bad"));
  reloader_.stop();
  loader_.hand(loaded("good"));
  EXPECT_EQ(server_.take(), Events());
}

TEST_F(ReloaderTest, ReadsTheSourceOnceIfAReloadIsRequestedBeforeItIsRead) {
  loader_.stored = true;
  start();
  reloader_.reload();
  loader_.hand(refused("old"));
  EXPECT_EQ(loader_.loads, 1);
  reloader_.reload();
  server_.failures = 1;
  loader_.hand(loaded("one"));
  EXPECT_EQ(loader_.loads, 2) << "without the place that cannot be used";
  loader_.hand(loaded("one"));
  EXPECT_EQ(served(), "one");
  EXPECT_EQ(loader_.loads, 2);
}

TEST_F(ReloaderTest, DoesAReloadRequestedByTheObserverOfAFirstConfigurationThatCannotBeRead) {
  server_.whenTold = [this] { reloader_.reload(); };
  start(unavailable("one"));
  EXPECT_EQ(loader_.loads, 2);
  passes(std::chrono::seconds(1));
  EXPECT_EQ(loader_.loads, 2) << "it is being read";
  loader_.hand(loaded("one"));
  EXPECT_EQ(served(), "one");
}

}  // namespace
}  // namespace sluice::control
