#include "filters/request_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "test/support/manual_clock.h"

namespace sluice::filters {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Allowance kTen{.perMinute = 60, .burst = 10};

/// Returns how many of `tries` requests pass at once.
int passing(const RequestBudget& budget, const Allowance& allowance, base::MonotonicTime now, int tries = 2000) {
  int passed = 0;
  for (int i = 0; i < tries; ++i) passed += budget.take(allowance, now) ? 0 : 1;
  return passed;
}

TEST(RequestBudget, LetsABurstPassAndThenTheRate) {
  test::ManualClock clock;
  RequestBudget budget;
  EXPECT_EQ(passing(budget, kTen, clock.now()), 10);
  clock.advance(milliseconds(999));
  EXPECT_EQ(passing(budget, kTen, clock.now()), 0);
  clock.advance(milliseconds(2));
  EXPECT_EQ(passing(budget, kTen, clock.now()), 1);
  clock.advance(seconds(3));
  EXPECT_EQ(passing(budget, kTen, clock.now()), 3);
  clock.advance(hours(1));
  EXPECT_EQ(passing(budget, kTen, clock.now()), 10);
}

TEST(RequestBudget, ReturnsInWholeSecondsWhenToComeAgain) {
  test::ManualClock clock;
  RequestBudget budget;
  const Allowance slow{.perMinute = 6, .burst = 1};
  EXPECT_EQ(budget.take(slow, clock.now()), std::nullopt);
  EXPECT_EQ(budget.take(slow, clock.now()), seconds(10));
  clock.advance(milliseconds(8500));
  EXPECT_EQ(budget.take(slow, clock.now()), seconds(2));
  clock.advance(milliseconds(1499));
  EXPECT_EQ(budget.take(slow, clock.now()), seconds(1));
  clock.advance(milliseconds(2));
  EXPECT_EQ(budget.take(slow, clock.now()), std::nullopt);
}

TEST(RequestBudget, KeepsTheRateToAThousandthWhateverItIs) {
  for (const std::uint32_t perMinute : {1u, 7u, 1000u, 77'777u, 1'000'000u}) {
    test::ManualClock clock;
    RequestBudget budget;
    const Allowance allowance{.perMinute = perMinute, .burst = std::max(1u, perMinute / 10)};
    const base::Duration step = std::chrono::nanoseconds(std::chrono::minutes(1)) / perMinute / 3 + milliseconds(1);
    passing(budget, allowance, clock.now(), 200'000);
    const base::MonotonicTime begun = clock.now();
    std::int64_t passed = 0;
    for (int i = 0; i < 5000; ++i) {
      clock.advance(step);
      passed += passing(budget, allowance, clock.now(), 40);
    }
    const double due = std::chrono::duration<double>(clock.now() - begun).count() * perMinute / 60;
    EXPECT_LE(static_cast<double>(passed), due + 1) << perMinute;
    EXPECT_GE(static_cast<double>(passed), due * 0.999 - 1) << perMinute;
  }
}

TEST(RequestBudget, KeepsItsUseWhenANumberChanges) {
  test::ManualClock clock;
  RequestBudget budget;
  EXPECT_EQ(passing(budget, {.perMinute = 60, .burst = 100}, clock.now()), 100);
  EXPECT_EQ(passing(budget, {.perMinute = 6000, .burst = 130}, clock.now()), 30);
  EXPECT_EQ(budget.take({.perMinute = 60, .burst = 10}, clock.now()), seconds(121));
}

TEST(RequestBudget, IsNotRefilledForAThreadWhoseClockIsBehind) {
  test::ManualClock clock;
  RequestBudget budget;
  const base::MonotonicTime before = clock.now();
  clock.advance(seconds(5));
  EXPECT_EQ(passing(budget, kTen, clock.now()), 10);
  EXPECT_EQ(passing(budget, kTen, before), 0);
  clock.advance(seconds(1));
  EXPECT_EQ(passing(budget, kTen, clock.now()), 1);
}

TEST(RequestBudget, IsNotBlockedAfterIdleDays) {
  for (const int idle : {1, 24, 290, 292, 600, 10'000}) {
    test::ManualClock clock;
    RequestBudget budget;
    EXPECT_EQ(passing(budget, kTen, clock.now()), 10);
    clock.advance(hours(idle));
    EXPECT_EQ(passing(budget, kTen, clock.now()), 10) << idle;
  }
}

TEST(RequestBudget, CountsRequestsInFlight) {
  test::ManualClock clock;
  RequestBudget budget;
  RequestBudget beside;
  const Allowance two{.concurrency = 2};
  EXPECT_EQ(budget.take(two, clock.now()), std::nullopt);
  EXPECT_EQ(beside.take(two, clock.now()), std::nullopt);
  EXPECT_EQ(budget.take(two, clock.now(), &beside), seconds(1));
  beside.giveBack();
  EXPECT_EQ(budget.take(two, clock.now(), &beside), std::nullopt);
  EXPECT_EQ(budget.take(two, clock.now(), &beside), seconds(1));
}

TEST(RequestBudget, DoesNotCountARequestRefusedByTheRateAsInFlight) {
  test::ManualClock clock;
  RequestBudget budget;
  const Allowance both{.perMinute = 60, .burst = 1, .concurrency = 2};
  EXPECT_EQ(passing(budget, both, clock.now()), 1);
  clock.advance(seconds(1));
  EXPECT_EQ(passing(budget, both, clock.now()), 1);
  clock.advance(seconds(1));
  EXPECT_EQ(passing(budget, both, clock.now()), 0);
}

constexpr int kThreads = 4;

template <typename Run>
void together(Run&& run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run);
  for (std::thread& thread : threads) thread.join();
}

TEST(RequestBudgetThreads, TakeTogetherOnlyWhatOneMayTake) {
  test::ManualClock clock;
  RequestBudget budget;
  std::atomic<int> passed = 0;
  together([&] { passed += passing(budget, {.perMinute = 60, .burst = 1000}, clock.now(), 2000); });
  EXPECT_EQ(passed, 1000);
}

TEST(RequestBudgetThreads, NeverTakeMoreThanTheRateAllows) {
  const base::MonotonicTime begin = test::ManualClock().now();
  RequestBudget budget;
  std::atomic<int> elapsed = 0;  // milliseconds; each thread moves the time, and sees the others move it
  std::atomic<int> passed = 0;
  together([&] {
    for (int i = 0; i < 5000; ++i) {
      const auto now = begin + milliseconds(elapsed.fetch_add(1));
      passed += budget.take({.perMinute = 6000, .burst = 10}, now) ? 0 : 1;
    }
  });
  EXPECT_LE(passed, 10 + elapsed / 10);
  EXPECT_GE(passed, elapsed / 10 - 10);
}

TEST(RequestBudgetThreads, NeverExceedTheConcurrencyLimit) {
  test::ManualClock clock;
  RequestBudget budget;
  std::atomic<int> inFlight = 0;
  std::atomic<int> most = 0;
  together([&] {
    for (int i = 0; i < 5000; ++i) {
      if (budget.take({.concurrency = 2}, clock.now())) continue;
      const int now = ++inFlight;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      --inFlight;
      budget.giveBack();
    }
  });
  EXPECT_GE(most, 1);
  EXPECT_LE(most, 2);
  EXPECT_TRUE(budget.untouched({.concurrency = 2}, clock.now()));
}

}  // namespace
}  // namespace sluice::filters
