// Tests that connections with more work than one round allows take turns.
#include "proxy/server/connection/turn_queue.h"

#include <gtest/gtest.h>
#include <uv.h>

#include <vector>

#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

struct TurnTaker {
  TurnTaker(base::Handle<TurnTaker> self, net::ClientNetwork network) : self_(self), network_(network) {}
  base::Handle<TurnTaker> handle() const { return self_; }
  void flush() {}
  bool dead() const { return left; }
  void takeTurn() { ++turns; }
  net::ClientNetwork network() const { return network_; }

  bool dirty = false;
  bool waitsForTurn = false;
  bool left = false;
  int turns = 0;

 private:
  base::Handle<TurnTaker> self_;
  net::ClientNetwork network_;
};

class TurnQueueTest : public ::testing::Test {
 protected:
  void addAll(std::size_t count, net::ClientNetwork network = 1) {
    for (std::size_t i = 0; i < count; ++i) queue.add(*all.emplace_back(&table.create(network)));
  }
  void round() { uv_run(worker.loop(), UV_RUN_NOWAIT); }
  int turns() const {
    int sum = 0;
    for (const TurnTaker* each : all) sum += each->turns;
    return sum;
  }

  test::ManualClock clock;
  net::Worker worker{clock};
  base::BeatTable<TurnTaker> table;
  TurnQueue<TurnTaker> queue{worker, table};
  std::vector<TurnTaker*> all;
};

constexpr int kPerRound = TurnQueue<TurnTaker>::kPerRound;

TEST_F(TurnQueueTest, LetsAFewGoOnInEachRoundInOrder) {
  addAll(2 * kPerRound + 1);
  queue.add(*all[0]);
  EXPECT_EQ(turns(), 0) << "not in the round in which they came";
  round();
  EXPECT_EQ(turns(), kPerRound);
  EXPECT_EQ(all[kPerRound - 1]->turns, 1);
  queue.add(*all[0]);
  round();
  EXPECT_EQ(turns(), 2 * kPerRound);
  round();
  EXPECT_EQ(all[2 * kPerRound]->turns, 1);
  EXPECT_EQ(all[0]->turns, 2) << "behind those that waited";
  round();
  EXPECT_EQ(turns(), 2 * kPerRound + 2);
}

TEST_F(TurnQueueTest, LetsNetworksTakeTurns) {
  addAll(20 * kPerRound);
  addAll(2, 2);
  addAll(1, 3);
  round();
  EXPECT_EQ(turns(), kPerRound);
  for (std::size_t i = all.size() - 3; i < all.size(); ++i) EXPECT_EQ(all[i]->turns, 1) << "of a network with few";
  for (int i = 0; i < 20; ++i) round();
  EXPECT_EQ(turns(), 20 * kPerRound + 3);
  addAll(1);
  round();
  EXPECT_EQ(turns(), 20 * kPerRound + 4) << "an empty queue is woken again";
}

TEST_F(TurnQueueTest, SpendsNoTurnOnThoseThatHaveLeft) {
  addAll(kPerRound + 2);
  all[0]->left = true;
  table.destroy(*all[1]);
  all.erase(all.begin() + 1);
  round();
  EXPECT_EQ(turns(), kPerRound);
  EXPECT_EQ(all[0]->turns, 0);
}

}  // namespace
}  // namespace sluice::server
