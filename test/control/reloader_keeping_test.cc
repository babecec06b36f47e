// Tests when the Reloader has the served configuration kept for the next process.
#include "test/control/reloader_fixture.h"

namespace sluice::control {
namespace {

/// A Reloader that serves "one" and has used up what is kept at once.
class ReloaderKeeping : public ReloaderTest {
 protected:
  void SetUp() override {
    start(loaded("one"));
    for (int i = 1; i < PacedKeeping::kAtOnceAfterRest; ++i) change("earlier " + std::to_string(i));
    ASSERT_EQ(loader_.kept.size(), static_cast<std::size_t>(PacedKeeping::kAtOnceAfterRest));
    loader_.kept.clear();
    loader_.remembered.clear();
  }
  void change(const std::string& revision) {
    reloader_.reload();
    serve(revision);
  }
};

TEST_F(ReloaderKeeping, KeepsTheNewestWithinAMinuteOfTheLastChange) {
  for (const char* revision : {"a", "b", "c"}) {
    passes(std::chrono::seconds(5));
    change(revision);
  }
  EXPECT_EQ(loader_.kept, Events{});
  EXPECT_EQ(loader_.remembered, (Events{"a", "b", "c"})) << "the history has them at once";
  passes(std::chrono::seconds(50));
  EXPECT_EQ(loader_.kept, Events{"c"});
  passes(std::chrono::minutes(5));
  EXPECT_EQ(loader_.kept, Events{"c"});
  change("d");
  EXPECT_EQ(loader_.kept, (Events{"c", "d"})) << "after a rest, at once";
}

TEST_F(ReloaderKeeping, KeepsWhatIsServedInPlaceOfARefusedOneAtOnce) {
  change("good");
  EXPECT_EQ(loader_.kept, Events{});
  reloader_.reload();
  loader_.hand(refused("bad"));
  EXPECT_EQ(loader_.kept, Events{"good"});
  reloader_.reload();
  loader_.hand(refused("worse"));
  EXPECT_EQ(loader_.kept, Events{"good"}) << "once";
}

TEST_F(ReloaderKeeping, KeepsWhatIsServedWhenItStops) {
  change("last");
  EXPECT_EQ(loader_.kept, Events{});
  reloader_.stop();
  EXPECT_EQ(loader_.kept, Events{"last"});
}

TEST_F(ReloaderKeeping, KeepsWhatIsServedOnlyAfterItWasStopped) {
  reloader_.reload();
  loader_.hand(loaded("last"));
  reloader_.stop();
  EXPECT_EQ(loader_.kept, Events{});
  server_.answer();
  server_.answer();
  EXPECT_EQ(loader_.kept, Events{"last"});
}

}  // namespace
}  // namespace sluice::control
