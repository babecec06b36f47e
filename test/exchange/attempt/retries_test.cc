#include "proxy/exchange/attempt/retries.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <set>

#include "test/support/manual_clock.h"

namespace sluice::exchange {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

class RetriesTest : public ::testing::Test {
 protected:
  RetriesTest() {
    rule_.retry.emplace();
    rule_.retry->attempts = 3;
    rule_.retry->backoff = milliseconds(100);
  }
  void addShare(std::uint32_t weight) {
    rule_.backends.emplace_back().weight = weight;
    rule_.backends.back().backend = std::make_shared<routing::BackendPlan>();
    rule_.totalWeight += weight;
  }
  Retries make() { return {rule_, empty_, 0, room_, {}}; }
  std::size_t choose(Retries& retries, std::size_t failed, std::uint64_t random) {
    const auto another = [&](std::uint64_t avoided) { return rule_.chooseAnother(random, avoided); };
    return static_cast<std::size_t>(&retries.choose(rule_.backends[failed], another) - rule_.backends.data());
  }

  base::ChunkPool pool_;
  base::ByteQueue empty_{pool_};
  test::ManualClock clock_;
  processing::BufferBudget budget_{0};
  processing::BufferRoom room_{budget_, clock_};
  routing::Rule rule_;
  routing::WeightedBackend share_;
};

TEST_F(RetriesTest, AreAsManyAsTheRuleSays) {
  Retries retries = make();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(retries.left());
    retries.plan({}, share_, std::nullopt);
  }
  EXPECT_FALSE(retries.left());
}

TEST_F(RetriesTest, PauseForAtLeastTheBackoffAndTwiceAsLongEachTime) {
  Retries retries = make();
  for (const int least : {100, 200, 400, 800}) {
    EXPECT_EQ(retries.pause(0), milliseconds(least));
    EXPECT_GT(retries.pause(kMost), milliseconds(least) * 5 / 4 - milliseconds(1));
    EXPECT_LE(retries.pause(kMost), milliseconds(least) * 5 / 4);
    retries.plan({}, share_, std::nullopt);
  }
}

TEST_F(RetriesTest, PauseNoLongerThanTenSecondsUnlessTheBackoffIsLonger) {
  for (const auto& [backoff, longest] : {std::pair(seconds(4), seconds(10)), std::pair(seconds(30), seconds(30))}) {
    rule_.retry->backoff = backoff;
    Retries retries = make();
    EXPECT_EQ(retries.pause(0), backoff);
    for (int i = 0; i < 40; ++i) retries.plan({}, share_, std::nullopt);
    EXPECT_EQ(retries.pause(0), longest);
  }
  rule_.retry->backoff = base::Duration::zero();
  EXPECT_EQ(make().pause(kMost), base::Duration::zero());
  rule_.retry->backoff = std::chrono::hours(4 * 99999);
  Retries longest = make();
  longest.plan({}, share_, std::nullopt);
  EXPECT_GE(longest.pause(kMost), rule_.retry->backoff) << "as long as a duration can be written";
}

TEST_F(RetriesTest, PauseNoLongerThanThePolicySays) {
  rule_.retry->longestBackoff = milliseconds(150);
  Retries retries = make();
  for (int i = 0; i < 3; ++i) retries.plan({}, share_, std::nullopt);
  EXPECT_EQ(retries.pause(0), milliseconds(150));
}

TEST_F(RetriesTest, RefuseStatusesOfHttpAndOfGrpc) {
  rule_.retry->cover(503);
  base::Arena arena(pool_);
  http::ResponseHead head;
  head.status = 503;
  EXPECT_TRUE(make().refuses(head));
  head.status = 200;
  head.headers.add(arena, http::FieldId::kGrpcStatus, "14");
  EXPECT_FALSE(make().refuses(head));
  rule_.retry->grpcCodes = 1U << 14;
  EXPECT_TRUE(make().refuses(head));
  head.body = http::Body::kUntilEnd;
  EXPECT_FALSE(make().refuses(head)) << "messages follow";
  head.body = http::Body::kNone;
  rule_.retry->grpcCodes = 1U << 8;
  EXPECT_FALSE(make().refuses(head));
}

TEST_F(RetriesTest, AvoidEveryBackendThatFailed) {
  for (int i = 0; i < 3; ++i) addShare(1);
  Retries retries = make();
  const std::size_t second = choose(retries, 0, 0);
  EXPECT_EQ(second, 1U);
  EXPECT_EQ(choose(retries, second, kMost), 2U);
  EXPECT_EQ(choose(retries, 2, 0), 0U) << "all have failed: another than the last";
  EXPECT_EQ(choose(retries, 0, kMost), 2U);
}

TEST_F(RetriesTest, KeepToAPriorityUntilItHasHadItsAttempts) {
  for (int i = 0; i < 4; ++i) addShare(1);
  routing::FailoverPolicy failover;
  for (const std::uint32_t priority : {0U, 1U, 0U, 2U}) failover.members.emplace_back().priority = priority;
  rule_.failover = std::make_shared<const routing::FailoverPolicy>(failover);
  rule_.retry->attemptsPerPriority = 2;
  constexpr std::uint64_t kEvery = 0b1111;
  Retries retries = make();
  const auto leftOut = [&](std::size_t failed) { return retries.leftOut(rule_.backends[failed]) & kEvery; };
  EXPECT_EQ(leftOut(0), 0b1010U) << "the other priorities";
  EXPECT_EQ(leftOut(2), 0b0101U) << "the priority that has had its attempts";
  EXPECT_EQ(leftOut(1), 0b1101U);
  EXPECT_EQ(leftOut(1), 0b0111U) << "two priorities have had theirs";
  EXPECT_EQ(leftOut(3), 0b0111U);
  EXPECT_EQ(leftOut(3), 0U) << "all have: the first one comes again";
  EXPECT_EQ(leftOut(0), 0b1010U);
  EXPECT_EQ(leftOut(1), 0b1101U) << "no Backend of the priority served, so another one was tried";
  rule_.retry->attemptsPerPriority = 0;
  EXPECT_EQ(leftOut(1), 0U);
}

TEST_F(RetriesTest, ChooseByWeightAmongTheRemainingBackends) {
  addShare(5);
  addShare(1);
  addShare(0);
  addShare(3);
  std::set<std::size_t> chosen;
  for (const std::uint64_t random : {std::uint64_t{0}, kMost / 4 - 1, kMost / 4 + 2, kMost}) {
    Retries retries = make();
    chosen.insert(choose(retries, 0, random));
    EXPECT_EQ(choose(retries, 0, random), random < kMost / 4 ? 1U : 3U);
  }
  EXPECT_EQ(chosen, (std::set<std::size_t>{1, 3}));
}

TEST_F(RetriesTest, GoBackToTheOnlyBackendThatServes) {
  addShare(1);
  addShare(1);
  rule_.backends[1].backend = nullptr;
  rule_.backends[1].failure = base::Error::config("broken");
  addShare(1);
  rule_.backends[2].redirect.emplace();
  Retries retries = make();
  EXPECT_EQ(choose(retries, 0, 0), 0U);
  EXPECT_EQ(choose(retries, 0, kMost), 0U);
}

}  // namespace
}  // namespace sluice::exchange
