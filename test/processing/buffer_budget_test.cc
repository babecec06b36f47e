#include "proxy/processing/buffer_budget.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "test/support/manual_clock.h"

namespace sluice::processing {
namespace {

constexpr std::uint64_t kUnit = BufferShare::kUnit;

/// Records the numbers of the bodies that had to give way.
class Sink final : public ResumeSink {
 public:
  void onResumed(std::uint64_t, Ticket ticket, bool) override { told.push_back(ticket); }
  Waker waker(Ticket number) { return {*this, 1, number}; }

  std::vector<Ticket> told;
};

class BufferBudgetTest : public testing::Test {
 protected:
  test::ManualClock clock_;
};
using BufferBudgetThreads = BufferBudgetTest;

TEST_F(BufferBudgetTest, AShareGrowsInUnitsAndGivesAllBack) {
  BufferBudget budget(2 * kUnit);
  BufferRoom room(budget, clock_);
  {
    BufferShare share(room);
    EXPECT_TRUE(share.reach(0));
    EXPECT_EQ(room.used(), 0U);
    EXPECT_TRUE(share.reach(1));
    EXPECT_TRUE(share.reach(kUnit));
    EXPECT_EQ(room.used(), kUnit);
    EXPECT_TRUE(share.reach(kUnit + 1));
    EXPECT_EQ(room.used(), 2 * kUnit);
    EXPECT_FALSE(share.reach(2 * kUnit + 1));
    EXPECT_EQ(room.used(), 2 * kUnit) << "what it has it keeps";
    BufferShare moved(std::move(share));
    EXPECT_EQ(room.used(), 2 * kUnit);
    moved.release();
    EXPECT_EQ(room.used(), 0U);
    EXPECT_TRUE(moved.reach(1)) << "again";
  }
  EXPECT_EQ(room.used(), 0U);
}

TEST_F(BufferBudgetTest, FollowsItsLimit) {
  BufferBudget budget(kUnit);
  BufferRoom room(budget, clock_);
  BufferShare share(room);
  ASSERT_TRUE(share.reach(kUnit));
  budget.setMost(0);
  EXPECT_FALSE(share.reach(kUnit + 1));
  budget.setMost(2 * kUnit);
  EXPECT_TRUE(share.reach(kUnit + 1));
}

TEST_F(BufferBudgetTest, OneWorkerLeavesTheOthersTheirReserve) {
  BufferBudget budget(8 * kUnit);
  BufferRoom one(budget, clock_);
  BufferRoom other(budget, clock_);
  BufferShare greedy(one);
  EXPECT_TRUE(greedy.reach(6 * kUnit)) << "its own two, and the four that are for all";
  EXPECT_FALSE(greedy.reach(6 * kUnit + 1));
  BufferShare modest(other);
  EXPECT_TRUE(modest.reach(2 * kUnit));
  EXPECT_FALSE(modest.reach(2 * kUnit + 1));
  greedy.release();
  EXPECT_TRUE(modest.reach(6 * kUnit));
}

TEST_F(BufferBudgetTest, TheBodyThatHasGoneLongestWithoutAnotherUnitGivesWay) {
  BufferBudget budget(4 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  std::vector<BufferShare> shares;
  for (Ticket number = 0; number < 5; ++number) shares.emplace_back(room).arrive(sink.waker(number));
  ASSERT_TRUE(shares[1].reach(1));
  ASSERT_TRUE(shares[2].reach(1));
  ASSERT_TRUE(shares[3].reach(1));
  ASSERT_TRUE(shares[1].reach(kUnit + 1)) << "it goes on";
  ASSERT_TRUE(shares[2].reach(2)) << "it drips";
  EXPECT_TRUE(shares[4].reach(kUnit));
  EXPECT_EQ(sink.told, std::vector<Ticket>{2}) << "not the first, which has nothing to give";
  EXPECT_TRUE(shares[2].hasGivenWay());
  EXPECT_FALSE(shares[2].reach(1));
  EXPECT_TRUE(shares[4].reach(3 * kUnit)) << "which takes what two of them have";
  EXPECT_EQ(sink.told, (std::vector<Ticket>{2, 3, 1}));
  EXPECT_EQ(room.used(), 3 * kUnit);
}

TEST_F(BufferBudgetTest, ABodyThatComesAtOnceIsServedBesideThousandsThatDrip) {
  BufferBudget budget(4000 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  std::vector<BufferShare> shares;
  shares.reserve(4600);
  for (Ticket number = 0; number < 4600; ++number) {
    shares.emplace_back(room).arrive(sink.waker(number));
    EXPECT_TRUE(shares.back().reach(1));
  }
  EXPECT_EQ(sink.told.size(), 600U);
  BufferShare victim(room);
  victim.arrive(sink.waker(5000));
  for (std::uint64_t come = 1; come <= 128; ++come) {
    ASSERT_TRUE(victim.reach(come * kUnit));
    for (BufferShare& share : shares) share.bring(1);
  }
  EXPECT_FALSE(victim.hasGivenWay());
  EXPECT_EQ(sink.told.size(), 728U);
}

TEST_F(BufferBudgetTest, NoBodyGivesWayToOneThatTakesOnlyFreeRoom) {
  BufferBudget budget(2 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  BufferShare drips(room);
  drips.arrive(sink.waker(1));
  ASSERT_TRUE(drips.reach(kUnit));
  BufferShare copy(room);
  EXPECT_FALSE(copy.reachFree(2 * kUnit));
  EXPECT_TRUE(copy.reachFree(kUnit));
  EXPECT_TRUE(copy.reachFree(1));
  EXPECT_EQ(room.used(), 2 * kUnit);
  EXPECT_TRUE(sink.told.empty());
}

TEST_F(BufferBudgetTest, SpareCopiesLeaveRoomAndGiveWayFirst) {
  BufferBudget budget(8 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  BufferShare first(room);
  BufferShare second(room);
  BufferShare body(room);
  EXPECT_TRUE(first.reachSpare(kUnit, sink.waker(1)));
  EXPECT_TRUE(second.reachSpare(5 * kUnit, sink.waker(2)));
  EXPECT_FALSE(first.reachSpare(2 * kUnit, sink.waker(1))) << "half of the common half is for bodies";
  body.arrive(sink.waker(3));
  EXPECT_TRUE(body.reach(3 * kUnit));
  EXPECT_EQ(sink.told, std::vector<Ticket>{2}) << "a copy of one unit goes last";
  EXPECT_FALSE(second.reachSpare(1, sink.waker(2))) << "it does not come back";
  BufferShare callout(room);
  EXPECT_TRUE(callout.reachFree(5 * kUnit));
  EXPECT_EQ(sink.told, (std::vector<Ticket>{2, 1}));
  EXPECT_EQ(room.used(), 8 * kUnit);
}

TEST_F(BufferBudgetTest, SmallSpareCopiesAreNotKeptOutByLargeOnes) {
  BufferBudget budget(8 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  BufferShare large(room);
  BufferShare small(room);
  BufferShare late(room);
  EXPECT_TRUE(large.reachSpare(6 * kUnit, sink.waker(1)));
  EXPECT_FALSE(late.reachSpare(2 * kUnit, sink.waker(3)));
  EXPECT_TRUE(sink.told.empty());
  EXPECT_TRUE(small.reachSpare(200, sink.waker(2)));
  EXPECT_EQ(sink.told, std::vector<Ticket>{1});
  EXPECT_EQ(room.used(), kUnit);
  EXPECT_TRUE(small.reachSpare(3 * kUnit, sink.waker(2)));
  EXPECT_TRUE(late.reachSpare(3 * kUnit, sink.waker(3)));
  EXPECT_EQ(sink.told, std::vector<Ticket>{1});
  BufferShare another(room);
  EXPECT_TRUE(another.reachSpare(1, sink.waker(4)));
  EXPECT_EQ(sink.told, (std::vector<Ticket>{1, 2})) << "it has become a large one, and has not grown for longest";
}

TEST_F(BufferBudgetTest, ABodyThatStepsWorkOnNeverGivesWay) {
  BufferBudget budget(2 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  BufferShare whole(room);
  whole.arrive(sink.waker(1));
  ASSERT_TRUE(whole.reach(2 * kUnit));
  whole.settle();
  BufferShare late(room, "192.0.2.1");
  late.arrive(sink.waker(2));
  clock_.advance(std::chrono::hours(1));
  EXPECT_FALSE(late.reach(1));
  EXPECT_TRUE(sink.told.empty());
  EXPECT_FALSE(late.hasGivenWay()) << "but it is refused";
  whole.release();
  EXPECT_TRUE(late.reach(1));
}

TEST_F(BufferBudgetTest, ABodyThatNobodyTakesGivesWayFirst) {
  BufferBudget budget(6 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  std::vector<BufferShare> leaving;
  for (Ticket number = 0; number < 2; ++number) {
    leaving.emplace_back(room).arrive(sink.waker(number));
    ASSERT_TRUE(leaving.back().reach(2 * kUnit));
    leaving.back().leave();
  }
  BufferShare drips(room);
  drips.arrive(sink.waker(2));
  ASSERT_TRUE(drips.reach(2 * kUnit));
  clock_.advance(BufferRoom::kStuck - base::Duration(1));
  leaving[0].keep(2 * kUnit - 1);
  BufferShare late(room);
  late.arrive(sink.waker(3));
  EXPECT_TRUE(late.reach(1));
  EXPECT_EQ(sink.told, std::vector<Ticket>{2}) << "neither is stuck yet, so the one that drips gives way";
  clock_.advance(base::Duration(1));
  EXPECT_TRUE(late.reach(4 * kUnit));
  EXPECT_EQ(sink.told, (std::vector<Ticket>{2, 0})) << "less than a unit of it was taken";
  leaving[1].keep(kUnit);
  EXPECT_TRUE(late.reach(5 * kUnit));
  clock_.advance(BufferRoom::kStuck - base::Duration(1));
  EXPECT_FALSE(late.reach(6 * kUnit)) << "a unit was taken";
  clock_.advance(base::Duration(1));
  EXPECT_TRUE(late.reach(6 * kUnit));
  EXPECT_EQ(sink.told, (std::vector<Ticket>{2, 0, 1}));
}

TEST_F(BufferBudgetTest, ABodyOfWhichAllIsTakenHasLeft) {
  BufferBudget budget(2 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  BufferShare taken(room);
  taken.arrive(sink.waker(1));
  ASSERT_TRUE(taken.reach(kUnit));
  taken.leave();
  taken.keep(0);
  BufferShare held(room);
  ASSERT_TRUE(held.reach(2 * kUnit));
  clock_.advance(std::chrono::hours(1));
  BufferShare late(room);
  EXPECT_FALSE(late.reach(1));
  EXPECT_FALSE(taken.hasGivenWay());
}

TEST_F(BufferBudgetTest, AClientThatTakesMostOfTheRoomLeavesSomeToOthers) {
  BufferBudget budget(8 * kUnit);
  BufferRoom room(budget, clock_);
  Sink sink;
  std::vector<BufferShare> greedy;
  Ticket number = 0;
  const auto addBody = [&](const char* client) {
    greedy.emplace_back(room, client).arrive(sink.waker(++number));
    const bool admitted = greedy.back().reach(2 * kUnit);
    greedy.back().leave();
    return admitted;
  };
  greedy.reserve(8);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(addBody("192.0.2.1"));
  EXPECT_FALSE(addBody("192.0.2.1")) << "its own bodies keep what they have";
  EXPECT_TRUE(sink.told.empty());
  greedy[0].keep(kUnit);
  greedy[0].keep(kUnit);
  ASSERT_TRUE(addBody("192.0.2.2")) << "one unit was free, and another one is made free";
  EXPECT_EQ(sink.told, std::vector<Ticket>{2}) << "of the body that has gone longest without moving";
  ASSERT_TRUE(addBody("192.0.2.2"));
  EXPECT_EQ(sink.told, (std::vector<Ticket>{2, 3}));
  ASSERT_TRUE(addBody("192.0.2.3")) << "the second client has more than half of the room now";
  EXPECT_EQ(sink.told, (std::vector<Ticket>{2, 3, 6}));
  EXPECT_FALSE(addBody("192.0.2.4")) << "nobody has more than half of it";
}

TEST_F(BufferBudgetThreads, NeverTakeMoreThanTheBudgetTogetherAndGiveItBack) {
  constexpr std::uint64_t kShares = 8;
  BufferBudget budget(kShares * kUnit);
  std::vector<std::optional<BufferRoom>> rooms(4);
  for (auto& room : rooms) room.emplace(budget, clock_);
  std::atomic<std::uint64_t> held{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (auto& room : rooms) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        std::vector<BufferShare> shares;
        for (int i = 0; i < 6; ++i) {
          if (!shares.emplace_back(*room).reach(kUnit)) continue;
          if (held.fetch_add(1) + 1 > kShares) exceeded = true;
        }
        held.fetch_sub(room->used() / kUnit);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  BufferShare all(*rooms[0]);
  EXPECT_TRUE(all.reach(5 * kUnit));
}

}  // namespace
}  // namespace sluice::processing
