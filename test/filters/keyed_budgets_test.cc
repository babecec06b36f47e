#include "filters/keyed_budgets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <ratio>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/base/random.h"
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

TEST_F(KeyedBudgetsTest, HaveTenThousandPlaces) {
  const KeyedBudgets budgets;
  for (std::uint64_t i = 1; i <= KeyedBudgets::kMostKeys; ++i) ASSERT_EQ(passing(budgets, i), 2) << i;
  EXPECT_EQ(budgets.size(), KeyedBudgets::kMostKeys);
  EXPECT_EQ(passing(budgets, key(20'000)), 2) << "of the budget that keys without a place share";
  EXPECT_EQ(passing(budgets, key(20'001)), 0);
  EXPECT_EQ(budgets.size(), KeyedBudgets::kMostKeys);
}

TEST_F(KeyedBudgetsTest, GiveThePlaceOfAKeyInAnotherShardAway) {
  const KeyedBudgets budgets(1);
  EXPECT_EQ(passing(budgets, key(1)), 2);
  clock_.advance(seconds(3));
  EXPECT_EQ(passing(budgets, key(1) + 1), 2);
  EXPECT_EQ(passing(budgets, key(2) + 1), 2) << "that shard's shared one";
  EXPECT_EQ(passing(budgets, key(1)), 2) << "it shares one without a place, and the rate has come back";
}

TEST_F(KeyedBudgetsTest, ForgetIdleKeysThoughNobodyWantsTheirPlaces) {
  const KeyedBudgets budgets;
  for (std::uint64_t i = 1; i <= 5; ++i) passing(budgets, key(i));
  clock_.advance(std::chrono::minutes(9));
  passing(budgets, key(1));
  passing(budgets, key(6));
  EXPECT_EQ(budgets.size(), 6u);
  clock_.advance(std::chrono::minutes(2));
  passing(budgets, key(7));
  EXPECT_EQ(budgets.size(), 3u) << "the others have been idle for eleven minutes";
}

TEST_F(KeyedBudgetsTest, KeepTheUseOfAnIdleKeyThatGivesItsPlaceUp) {
  const KeyedBudgets budgets(1);
  const Allowance slow{.perMinute = 1, .burst = 100};
  const auto left = [&](std::uint64_t of) {
    int passed = 0;
    for (int i = 0; i < 200; ++i) passed += budgets.take(of, slow, clock_.now()).budget != nullptr ? 1 : 0;
    return passed;
  };
  EXPECT_EQ(left(key(1)), 100);
  clock_.advance(std::chrono::minutes(9));
  budgets.take(key(2), slow, clock_.now());
  EXPECT_EQ(left(key(1)), 9) << "it has its place, because it was not idle for long enough";
  clock_.advance(std::chrono::minutes(11));
  EXPECT_EQ(left(key(3)), 11) << "it takes the place, and begins with what the first key has used";
  EXPECT_EQ(left(key(1)), 11) << "it has no place any more, and no new budget";
}

TEST_F(KeyedBudgetsTest, KeepAnIdleKeyWithRequestsInFlight) {
  const KeyedBudgets budgets(1);
  const Allowance one{.concurrency = 1};
  const RequestBudget* own = budgets.take(key(1), one, clock_.now()).budget;
  clock_.advance(std::chrono::hours(1));
  budgets.take(key(2), one, clock_.now()).budget->giveBack();
  EXPECT_EQ(budgets.take(key(1), one, clock_.now()).budget, nullptr);
  own->giveBack();
}

/// The bound that holds for one key: a bucket that is filled by each request and drained by the rate.
struct ExactBucket {
  double used = 0;
  base::MonotonicTime at{};
  std::uint32_t inFlight = 0;

  void fill(const Allowance& allowance, base::MonotonicTime now) {
    const std::chrono::duration<double, std::ratio<60>> minutes = now - at;
    used = std::max(0.0, used - minutes.count() * allowance.perMinute) + 1;
    at = now;
  }
};

TEST_F(KeyedBudgetsTest, NeverGiveAKeyMoreThanItsBudgetWhateverOthersDo) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    base::Random random(seed);
    const auto pick = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random.next() % below); };
    constexpr std::uint32_t kRates[] = {0, 1, 7, 60, 600, 6000};
    constexpr std::uint32_t kBursts[] = {1, 5, 20, 150};
    Allowance allowance{.perMinute = kRates[pick(6)], .burst = kBursts[pick(4)], .concurrency = pick(4)};
    if (allowance.perMinute == 0) allowance.concurrency += 1;
    const KeyedBudgets budgets(1 + pick(6));
    std::map<std::uint64_t, ExactBucket> exact;
    std::vector<std::pair<std::uint64_t, const RequestBudget*>> inFlight;
    for (int step = 0; step < 3000; ++step) {
      // Now and then everybody is idle for longer than ten minutes.
      constexpr int kQuarters[] = {0, 0, 1, 4, 40};
      const int quarters = pick(300) == 0 ? 2404 : pick(4) == 0 ? kQuarters[pick(5)] : 0;
      clock_.advance(quarters * std::chrono::milliseconds(250));
      if (!inFlight.empty() && pick(2) == 0) {
        std::swap(inFlight[pick(inFlight.size())], inFlight.back());
        --exact[inFlight.back().first].inFlight;
        inFlight.back().second->giveBack();
        inFlight.pop_back();
      }
      const std::uint64_t of = 1 + pick(8);
      const auto taken = budgets.take(of, allowance, clock_.now());
      if (taken.budget == nullptr) continue;
      ExactBucket& bucket = exact[of];
      bucket.fill(allowance, clock_.now());
      if (allowance.perMinute > 0) {
        ASSERT_LE(bucket.used, allowance.burst + 1e-6) << seed << " " << step;
      }
      if (allowance.concurrency == 0) continue;
      inFlight.emplace_back(of, taken.budget);
      ASSERT_LE(++bucket.inFlight, allowance.concurrency) << seed << " " << step;
    }
  }
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
