#include "proxy/routing/policy/retry_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sluice::routing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class RetryBudgetTest : public ::testing::Test {
 protected:
  /// Serves requests that all fail, over that time; each is retried until a retry is refused.
  std::uint64_t storm(std::uint64_t requests, base::Duration time) {
    std::uint64_t retries = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
      now_ += time / requests;
      budget_.count(now_);
      while (take()) ++retries;
    }
    return retries;
  }
  void serve(std::uint64_t requests, base::Duration time) {
    for (std::uint64_t i = 0; i < requests; ++i) budget_.count(now_);
    now_ += time;
  }
  bool take() { return budget_.tryTake(now_, {bounds_.percent, bounds_.minPerSecond}).has_value(); }

  base::MonotonicTime now_{hours(1)};
  base::RetryBudgetSettings bounds_;
  RetryBudget budget_;
};

TEST_F(RetryBudgetTest, AllowsAFewOfFewRequests) {
  EXPECT_EQ(storm(1, milliseconds(1)), 10U);
  EXPECT_EQ(storm(1, milliseconds(1)), 0U) << "of this second";
  serve(0, seconds(1));
  EXPECT_EQ(storm(1, milliseconds(1)), 10U);
}

TEST(RetryBudgetOfIntervals, CountsRetriesInEachInterval) {
  const RetryBudget budget(hours(1), std::chrono::minutes(1));
  base::MonotonicTime now(hours(100));
  for (int i = 0; i < 100; ++i) budget.count(now);
  const auto taken = [&] {
    int count = 0;
    while (budget.tryTake(now, {10, 1})) ++count;
    return count;
  };
  EXPECT_EQ(taken(), 10);
  now += std::chrono::seconds(59);
  EXPECT_EQ(taken(), 0) << "of this minute";
  now += seconds(1);
  EXPECT_EQ(taken(), 1);
  now += std::chrono::minutes(50);
  for (int i = 0; i < 20; ++i) budget.count(now);
  EXPECT_EQ(taken(), 1) << "11 of 120 requests of an hour were retries, and the spare one is of this minute";
  now += std::chrono::minutes(20);
  EXPECT_GE(taken(), 1) << "the hour has passed for most";
}

TEST_F(RetryBudgetTest, AllowsAFewAtATimeInPlaceOfThoseOfASecond) {
  const RetryBounds bounds{.percent = 0, .least = 100, .minConcurrent = 2};
  std::optional<ActiveRetry> first = budget_.tryTake(now_, bounds);
  std::optional<ActiveRetry> second = budget_.tryTake(now_, bounds);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(budget_.tryTake(now_, bounds));
  first.reset();
  EXPECT_TRUE(budget_.tryTake(now_, bounds)) << "one of them has ended";
  EXPECT_TRUE(budget_.tryTake(now_, bounds)) << "and so has the one that nobody has kept";
}

TEST_F(RetryBudgetTest, AllowsNoMoreAtATimeWhateverTheShareIs) {
  for (int i = 0; i < 100; ++i) budget_.count(now_);
  const RetryBounds bounds{.percent = 100, .least = 100, .maxConcurrent = 1};
  std::optional<ActiveRetry> only = budget_.tryTake(now_, bounds);
  EXPECT_TRUE(only);
  EXPECT_FALSE(budget_.tryTake(now_, bounds));
  ActiveRetry moved = std::move(*only);
  only.reset();
  EXPECT_FALSE(budget_.tryTake(now_, bounds)) << "it goes on under another name";
  { const ActiveRetry ended = std::move(moved); }
  EXPECT_TRUE(budget_.tryTake(now_, bounds));
  EXPECT_FALSE(budget_.tryTake(now_, {.percent = 100, .least = 100, .maxConcurrent = 0}));
}

TEST_F(RetryBudgetTest, AllowsOneRetryForFiveRequestsOfAStorm) {
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t retries = storm(100'000, seconds(10));
    EXPECT_LE(retries, 20'000U + 10U);
    EXPECT_GE(retries, 19'900U);
  }
}

TEST_F(RetryBudgetTest, AllowsNoMoreInTheFirstMoment) {
  const std::uint64_t retries = storm(1000, milliseconds(10));
  EXPECT_LE(retries, 200U);
  EXPECT_GE(retries, 199U);
}

TEST_F(RetryBudgetTest, SavesNothingBeyondTheInterval) {
  serve(1'000'000, hours(1));  // 2777 in ten seconds
  std::uint64_t retries = 0;
  while (take()) ++retries;
  EXPECT_GE(retries, 540U);
  EXPECT_LE(retries, 556U);
}

TEST_F(RetryBudgetTest, RemembersTheRequestsOfTheInterval) {
  serve(1000, milliseconds(500));
  EXPECT_TRUE(take());
  serve(0, seconds(8));
  std::uint64_t retries = 1;
  while (take()) ++retries;
  EXPECT_EQ(retries, 200U);
  serve(0, seconds(11));
  EXPECT_EQ(storm(1, milliseconds(1)), 10U) << "all are forgotten";
}

TEST_F(RetryBudgetTest, HasTheBoundsOfTheSettings) {
  bounds_ = {.percent = 50, .minPerSecond = 0};
  EXPECT_EQ(storm(100, milliseconds(10)), 50U);
  bounds_ = {.percent = 0, .minPerSecond = 3};
  serve(0, seconds(1));
  EXPECT_EQ(storm(100, milliseconds(10)), 3U);
}

TEST_F(RetryBudgetTest, EndsForAClockThatIsALittleBehind) {
  serve(100, seconds(5));
  EXPECT_TRUE(take());
  now_ -= seconds(1);
  EXPECT_TRUE(take());
}

TEST(RetryBudgetThreads, GiveNoMoreThanTheBudgetToAllTogether) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 5000;
  const RetryBudget budget;
  const base::RetryBudgetSettings bounds;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kRequests; ++k) {
        const base::MonotonicTime now(hours(1) + milliseconds(k / 10));
        budget.count(now);
        if (budget.tryTake(now, {bounds.percent, bounds.minPerSecond})) ++taken;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_GE(taken, static_cast<int>(bounds.minPerSecond));
  EXPECT_LE(taken,
            kThreads * kRequests * static_cast<int>(bounds.percent) / 100 + static_cast<int>(bounds.minPerSecond));
}

}  // namespace
}  // namespace sluice::routing
