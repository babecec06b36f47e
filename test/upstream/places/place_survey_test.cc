// Tests which request gives way when the places of a Backend are all in use.
#include "proxy/upstream/places/place_survey.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "proxy/upstream/places/place_ask.h"

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
  http::Token last_ = 100;

  /// Adds holders whose clients are late with bytes for that long, the first one for longest.
  void hold(net::ClientNetwork client, int count, base::Duration stalled) {
    for (int i = 0; i < count; ++i) survey_.add(++last_, {client, now_ - stalled + milliseconds(i)});
  }
  void holdWaiting(net::ClientNetwork client, int count) {
    for (int i = 0; i < count; ++i) survey_.add(++last_, {client});
  }
  /// Returns the number of the holder that gives way.
  std::optional<http::Token> choose(net::ClientNetwork client, base::Duration later = {}) {
    const auto chosen = survey_.choose(client, survey_.heldBy(client), now_ + later);
    return chosen ? std::optional(chosen->holder) : std::nullopt;
  }
  bool favours(net::ClientNetwork client) const { return survey_.favours(client, survey_.heldBy(client), now_); }
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
  EXPECT_FALSE(choose(kSome));
}

TEST_F(PlaceSurveyTest, ARequestThatWaitsForItsBackendNeverGivesWay) {
  holdWaiting(kMuch, 1000);
  EXPECT_TRUE(favours(kNone)) << "it gets the next place that comes back";
  EXPECT_FALSE(choose(kNone));
  hold(kSome, 2, seconds(1));
  EXPECT_EQ(choose(kNone), 1101U);
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

TEST_F(PlaceSurveyTest, PlacesAtOtherWorkersCount) {
  hold(kSome, 1, seconds(1));
  EXPECT_FALSE(favours(kNone));
  survey_.weigh({{kSome, 2}, {kMuch, 5}}, true);
  EXPECT_EQ(survey_.heldBy(kSome), 2U);
  EXPECT_TRUE(favours(kNone));
  EXPECT_EQ(choose(kNone), 101U);
  EXPECT_FALSE(choose(kNone)) << "the others are asked";
  survey_.weigh({{kSome, 5}, {kMuch, 5}}, true);
  EXPECT_FALSE(favours(kSome));
  survey_.weigh({{kSome, 5}, {kMuch, 5}}, false);
  EXPECT_TRUE(favours(kSome)) << "a worker has not counted yet";
}

TEST(PlaceReports, CountForAMoment) {
  class Party final : public PlaceParty {
    void onAsked(std::shared_ptr<const PlaceAsk>) override {}
    void onConnectionWanted(const routing::BackendIdentity&) override {}
  };
  const Party one;
  const Party two;
  const base::MonotonicTime now{seconds(1000)};
  PlaceReports reports;
  reports.put(one, {{kSome, 1}}, now);
  reports.put(two, {{kSome, 2}, {kMuch, 7}}, now);
  ClientTotals totals{{kSome, 1}};
  EXPECT_EQ(reports.addOthers(one, now, totals), 1U);
  EXPECT_EQ(totals, (ClientTotals{{kSome, 3}, {kMuch, 7}}));
  EXPECT_EQ(reports.addOthers(one, now + seconds(2), totals), 0U);
  reports.drop(two);
  EXPECT_EQ(reports.addOthers(one, now, totals), 0U);
}

}  // namespace
}  // namespace sluice::upstream
