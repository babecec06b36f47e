#include "proxy/processing/buffer_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice::processing {
namespace {

constexpr std::uint64_t kUnit = 64 * 1024;

TEST(BufferBudget, GivesWhatThereIsAndNoMore) {
  BufferBudget budget(100);
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(41));
  EXPECT_EQ(budget.used(), 60U);
  EXPECT_TRUE(budget.take(40));
  budget.giveBack(100);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(BufferBudget, AShareGrowsInUnitsAndGivesAllBack) {
  BufferBudget budget(2 * kUnit);
  {
    BufferShare share(budget);
    EXPECT_TRUE(share.reach(0));
    EXPECT_EQ(budget.used(), 0U);
    EXPECT_TRUE(share.reach(1));
    EXPECT_TRUE(share.reach(kUnit));
    EXPECT_EQ(budget.used(), kUnit);
    EXPECT_TRUE(share.reach(kUnit + 1));
    EXPECT_EQ(budget.used(), 2 * kUnit);
    EXPECT_FALSE(share.reach(2 * kUnit + 1));
    EXPECT_EQ(budget.used(), 2 * kUnit) << "what it has it keeps";
    BufferShare moved(std::move(share));
    EXPECT_EQ(budget.used(), 2 * kUnit);
    moved.release();
    EXPECT_EQ(budget.used(), 0U);
    EXPECT_TRUE(moved.reach(1)) << "again";
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(BufferBudget, FollowsItsLimit) {
  BufferBudget budget(kUnit);
  BufferShare share(budget);
  ASSERT_TRUE(share.reach(kUnit));
  budget.setMost(0);
  EXPECT_FALSE(share.reach(kUnit + 1));
  budget.setMost(2 * kUnit);
  EXPECT_TRUE(share.reach(kUnit + 1));
}

TEST(BufferBudgetThreads, TogetherNeverHaveMoreThanThereIsAndGiveAllBack) {
  constexpr std::uint64_t kShares = 3;
  BufferBudget budget(kShares * kUnit);
  std::atomic<std::uint64_t> held{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        BufferShare share(budget);
        if (!share.reach(kUnit)) continue;
        if (held.fetch_add(1) + 1 > kShares) exceeded = true;
        held.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace sluice::processing
