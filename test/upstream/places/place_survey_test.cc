// Who gives way when the places of a Backend are short.
#include "proxy/upstream/places/place_survey.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr net::ClientNetwork kMuch = 1;
constexpr net::ClientNetwork kSome = 2;
constexpr net::ClientNetwork kNone = 3;

class PlaceSurveyTest : public testing::Test {
 protected:
  const base::MonotonicTime now_{seconds(1000)};
  PlaceSurvey survey_{now_};
  std::map<net::ClientNetwork, std::uint64_t> held_;
  http::Token last_ = 100;

  void add(net::ClientNetwork client, base::MonotonicTime owesSince) {
    ++held_[client];
    survey_.add(++last_, {client, owesSince});
  }
  /// Adds holders, each of whose clients owes bytes for so long, the first one for longest.
  void hold(net::ClientNetwork client, int count, base::Duration stalled) {
    for (int i = 0; i < count; ++i) add(client, now_ - stalled + milliseconds(i));
  }
  void holdWaiting(net::ClientNetwork client, int count) {
    for (int i = 0; i < count; ++i) add(client, base::MonotonicTime::max());
  }
  std::optional<http::Token> choose(net::ClientNetwork client, base::Duration later = {}) {
    weigh();
    return survey_.choose(client, held_[client], now_ + later);
  }
  bool favours(net::ClientNetwork client, std::uint64_t elsewhere = 0) {
    weigh();
    std::uint64_t taken = elsewhere;
    for (const auto& [each, count] : held_) taken += count;
    return survey_.favours(client, held_[client], taken, now_);
  }
  void weigh() {
    survey_.weigh([this](net::ClientNetwork client) { return held_[client]; });
  }
};

TEST_F(PlaceSurveyTest, TheSlowestOfTheClientThatHoldsMostGivesWay) {
  hold(kSome, 2, seconds(100));
  hold(kMuch, 3, seconds(10));
  EXPECT_TRUE(favours(kNone));
  EXPECT_EQ(choose(kNone), 103U);
}

TEST_F(PlaceSurveyTest, NoClientIsPushedBelowTheOneThatAsks) {
  hold(kMuch, 4, seconds(1));
  holdWaiting(kSome, 3);
  EXPECT_FALSE(favours(kSome)) << "the two would only change places";
  EXPECT_FALSE(choose(kSome));
  hold(kMuch, 1, seconds(1));
  EXPECT_TRUE(favours(kSome));
  EXPECT_EQ(choose(kSome), 101U);
  --held_[kMuch];
  EXPECT_FALSE(choose(kSome));
}

TEST_F(PlaceSurveyTest, ARequestThatWaitsForItsBackendNeverGivesWay) {
  holdWaiting(kMuch, 1000);
  EXPECT_TRUE(favours(kNone)) << "it gets the next place that comes back";
  EXPECT_FALSE(choose(kNone));
  hold(kSome, 2, seconds(1));
  EXPECT_EQ(choose(kNone), 1101U);
  held_[kSome] = 1;
  EXPECT_FALSE(choose(kNone));
}

TEST_F(PlaceSurveyTest, AShortStallIsWaitedFor) {
  hold(kMuch, 3, PlaceSurvey::kStalled - milliseconds(1));
  EXPECT_TRUE(favours(kNone)) << "it will give way soon";
  EXPECT_FALSE(choose(kNone));
  EXPECT_EQ(choose(kNone, milliseconds(1)), 101U);
}

TEST_F(PlaceSurveyTest, AClientTakesPlacesFromItselfOnlyIfTheyAreStuck) {
  hold(kMuch, 3, PlaceSurvey::kStuck - milliseconds(1));
  EXPECT_FALSE(favours(kMuch));
  EXPECT_FALSE(choose(kMuch));
  hold(kMuch, 1, PlaceSurvey::kStuck);
  EXPECT_TRUE(favours(kMuch));
  EXPECT_EQ(choose(kMuch), 104U);
}

TEST_F(PlaceSurveyTest, AClientWithoutARequestHereMayHoldManyElsewhere) {
  hold(kSome, 1, seconds(1));
  EXPECT_FALSE(favours(kNone, 1));
  EXPECT_TRUE(favours(kNone, 2)) << "other workers are asked";
  EXPECT_FALSE(choose(kNone));
}

}  // namespace
}  // namespace sluice::upstream
