#include "proxy/processing/worker_states.h"

#include <gtest/gtest.h>

#include <memory>

namespace sluice::processing {
namespace {

struct Counted {
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  ~Counted() { --alive_; }
  int value = 0;

 private:
  int& alive_;
};

class WorkerStatesTest : public ::testing::Test {
 protected:
  Counted& state(const std::shared_ptr<const void>& owner) { return states_.get<Counted>(owner, alive_); }

  int alive_ = 0;
  WorkerStates states_;
  std::shared_ptr<const int> owner_ = std::make_shared<const int>();
};

TEST_F(WorkerStatesTest, AnOwnerGetsTheSameStateEachTime) {
  state(owner_).value = 7;
  EXPECT_EQ(state(owner_).value, 7);
  EXPECT_EQ(alive_, 1);
}

TEST_F(WorkerStatesTest, TwoOwnersGetDifferentStates) {
  const auto other = std::make_shared<const int>();
  state(owner_).value = 7;
  EXPECT_EQ(state(other).value, 0);
}

TEST_F(WorkerStatesTest, AnOwnerGetsOneStateForEachType) {
  state(owner_).value = 7;
  EXPECT_EQ(states_.get<int>(owner_, 3), 3);
  EXPECT_EQ(state(owner_).value, 7);
}

TEST_F(WorkerStatesTest, ASweepDestroysStatesWhoseOwnersHaveGone) {
  const auto stays = std::make_shared<const int>();
  state(owner_);
  state(stays);
  owner_.reset();
  EXPECT_EQ(alive_, 2) << "nobody has looked yet";
  states_.sweep();
  EXPECT_EQ(alive_, 1);
}

TEST_F(WorkerStatesTest, AnOwnerGetsANewStateAtAReusedAddress) {
  alignas(int) static int place = 0;
  const auto at = [] { return std::shared_ptr<const int>(&place, [](const int*) {}); };
  owner_ = at();
  state(owner_).value = 7;
  owner_ = at();
  EXPECT_EQ(state(owner_).value, 0);
  EXPECT_EQ(alive_, 1);
}

TEST_F(WorkerStatesTest, ClearDestroysAllStates) {
  state(owner_);
  states_.clear();
  EXPECT_EQ(alive_, 0);
}

}  // namespace
}  // namespace sluice::processing
