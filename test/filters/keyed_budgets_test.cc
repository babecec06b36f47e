#include "filters/keyed_budgets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "test/support/manual_clock.h"

namespace sluice::filters {
namespace {

using std::chrono::seconds;

constexpr Allowance kTwo{.perMinute = 60, .burst = 2};

/// Returns the n-th key of the first shard.
constexpr std::uint64_t key(std::uint64_t n) { return n * KeyedBudgets::kShards; }

class KeyedBudgetsTest : public ::testing::Test {
 protected:
  /// Returns how many of ten requests pass at once.
  int passing(const KeyedBudgets& budgets, std::uint64_t of, const Allowance& allowance = kTwo) const {
    int passed = 0;
    for (int i = 0; i < 10; ++i) passed += budgets.take(of, allowance, clock_.now()).budget != nullptr ? 1 : 0;
    return passed;
  }

  test::ManualClock clock_;
};

TEST_F(KeyedBudgetsTest, GivesEachKeyItsOwnBudget) {
  const KeyedBudgets budgets;
  EXPECT_EQ(passing(budgets, 1), 2);
  EXPECT_EQ(passing(budgets, 2), 2);
  EXPECT_EQ(passing(budgets, key(1)), 2);
  EXPECT_EQ(passing(budgets, 1), 0);
  EXPECT_EQ(budgets.take(1, kTwo, clock_.now()).retryAfter, seconds(1));
}

TEST_F(KeyedBudgetsTest, SharesOneBudgetBetweenNewKeysWhileAllPlacesAreTaken) {
  const KeyedBudgets budgets(2);
  EXPECT_EQ(passing(budgets, key(1)), 2);
  EXPECT_EQ(passing(budgets, key(2)), 2);
  EXPECT_EQ(passing(budgets, key(3)), 2);
  EXPECT_EQ(passing(budgets, key(4)), 0);
  EXPECT_EQ(passing(budgets, key(4) + 1), 2) << "another shard";
}

TEST_F(KeyedBudgetsTest, DoesNotRefillABudgetForOtherKeys) {
  const KeyedBudgets budgets(2);
  EXPECT_EQ(passing(budgets, key(1)), 2);
  for (std::uint64_t other = 2; other < 1000; ++other) passing(budgets, key(other));
  EXPECT_EQ(passing(budgets, key(1)), 0);
  clock_.advance(seconds(1));
  for (std::uint64_t other = 2; other < 1000; ++other) passing(budgets, key(other));
  EXPECT_EQ(passing(budgets, key(1)), 1);
}

TEST_F(KeyedBudgetsTest, GivesThePlaceOfAnUntouchedBudgetAway) {
  const KeyedBudgets budgets(1);
  EXPECT_EQ(passing(budgets, key(1)), 2);
  clock_.advance(seconds(3));
  EXPECT_EQ(passing(budgets, key(2)), 2);
  EXPECT_EQ(passing(budgets, key(3)), 2) << "the shared one";
  EXPECT_EQ(passing(budgets, key(1)), 0) << "it has no place any more";
}

TEST_F(KeyedBudgetsTest, StartsANewPlaceWithTheUseOfTheSharedBudget) {
  const KeyedBudgets budgets(1);
  EXPECT_EQ(budgets.take(key(1), kTwo, clock_.now()).retryAfter, seconds(0));
  EXPECT_EQ(passing(budgets, key(2)), 2);
  clock_.advance(std::chrono::milliseconds(1001));
  // The place is free again, and the shared budget has regained one request.
  EXPECT_EQ(passing(budgets, key(2)), 1);
  EXPECT_EQ(passing(budgets, key(2)), 0);
}

TEST_F(KeyedBudgetsTest, CountsRequestsInFlightInTheSharedBudget) {
  const KeyedBudgets budgets(1);
  const Allowance two{.concurrency = 2};
  const RequestBudget* first = budgets.take(key(1), two, clock_.now()).budget;
  const RequestBudget* shared = budgets.take(key(2), two, clock_.now()).budget;
  ASSERT_NE(first, nullptr);
  ASSERT_NE(shared, nullptr);
  EXPECT_NE(first, shared);
  first->giveBack();
  clock_.advance(seconds(1));
  const RequestBudget* own = budgets.take(key(2), two, clock_.now()).budget;
  ASSERT_NE(own, nullptr);
  EXPECT_NE(own, shared);
  EXPECT_EQ(budgets.take(key(2), two, clock_.now()).budget, nullptr) << "one is in each";
  shared->giveBack();
  EXPECT_EQ(budgets.take(key(2), two, clock_.now()).budget, own);
}

TEST_F(KeyedBudgetsTest, KeepsThePlaceOfABudgetWithRequestsInFlight) {
  const KeyedBudgets budgets(1);
  const Allowance one{.concurrency = 1};
  const RequestBudget* own = budgets.take(key(1), one, clock_.now()).budget;
  for (std::uint64_t other = 2; other < 100; ++other) {
    clock_.advance(seconds(2));
    budgets.take(key(other), one, clock_.now());
  }
  EXPECT_EQ(budgets.take(key(1), one, clock_.now()).budget, nullptr);
  own->giveBack();
}

TEST(KeyedBudgetsThreads, NeverExceedABudgetWhileKeysComeAndGo) {
  constexpr int kThreads = 4;
  const base::MonotonicTime begin = test::ManualClock().now();
  const KeyedBudgets budgets(4);
  const Allowance allowance{.perMinute = 6000, .burst = 5, .concurrency = 3};
  std::atomic<int> elapsed = 0;  // milliseconds
  std::atomic<int> passed = 0;
  std::atomic<int> inFlight = 0;
  std::atomic<bool> tooMany = false;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        const auto now = begin + std::chrono::milliseconds(elapsed.fetch_add(1));
        if (const auto other = budgets.take(key(2 + i % 50), allowance, now); other.budget != nullptr) {
          other.budget->giveBack();
        }
        const auto mine = budgets.take(key(1), allowance, now);
        if (mine.budget == nullptr) continue;
        ++passed;
        if (++inFlight > 3) tooMany = true;
        --inFlight;
        mine.budget->giveBack();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(passed, 5 + elapsed / 10);
  EXPECT_FALSE(tooMany);
}

}  // namespace
}  // namespace sluice::filters
