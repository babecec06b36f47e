#include "proxy/upstream/retry_budget.h"

#include <gtest/gtest.h>

namespace sluice::upstream {
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
      ++begun_;
      while (budget_.tryTake(now_, begun_)) {
        ++begun_;
        ++retries;
      }
    }
    return retries;
  }
  void serve(std::uint64_t requests, base::Duration time) {
    begun_ += requests;
    now_ += time;
  }

  base::MonotonicTime now_{hours(1)};
  std::uint64_t begun_ = 0;
  RetryBudget budget_{RetryConstraint{}, now_};
};

TEST_F(RetryBudgetTest, AllowsAFewOfFewRequests) {
  EXPECT_EQ(storm(1, milliseconds(1)), 10U);
  EXPECT_EQ(storm(1, milliseconds(1)), 0U) << "of this second";
  serve(0, seconds(1));
  EXPECT_EQ(storm(1, milliseconds(1)), 10U);
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
  while (budget_.tryTake(now_, begun_ + retries)) ++retries;
  EXPECT_GE(retries, 540U);
  EXPECT_LE(retries, 556U);
}

TEST_F(RetryBudgetTest, RemembersTheRequestsOfTheInterval) {
  serve(1000, milliseconds(500));
  EXPECT_TRUE(budget_.tryTake(now_, begun_++));
  serve(0, seconds(8));
  std::uint64_t retries = 1;
  while (budget_.tryTake(now_, begun_)) ++retries, ++begun_;
  EXPECT_EQ(retries, 200U);
  serve(0, seconds(11));
  EXPECT_EQ(storm(1, milliseconds(1)), 10U) << "all are forgotten";
}

// Some retries are still in their pause, and the clients of others went away in it.
TEST_F(RetryBudgetTest, CountsARetryWhetherItIsBegunOrNot) {
  serve(100, milliseconds(1));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(budget_.tryTake(now_, begun_));
  EXPECT_FALSE(budget_.tryTake(now_, begun_));
  begun_ += 20;
  EXPECT_FALSE(budget_.tryTake(now_, begun_)) << "they are no requests of their own";
  serve(5, milliseconds(1));
  EXPECT_TRUE(budget_.tryTake(now_, begun_));
  EXPECT_FALSE(budget_.tryTake(now_, begun_));
}

}  // namespace
}  // namespace sluice::upstream
