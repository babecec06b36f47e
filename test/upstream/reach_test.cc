// Tests the records of workers about whether a Backend is reachable.
#include <gtest/gtest.h>

#include <memory>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

class Reach : public ::testing::Test {
 protected:
  void begin(const PoolOptions& options = {}) {
    rig_ = std::make_unique<PoolRig>(options);
    auto plan = std::make_shared<routing::BackendPlan>(*rig_->plan);
    plan->reach = health_;
    rig_->plan = plan;
  }
  processing::ServerReach announced() { return health_->announce(rig_->worker.clock().wallNow()).reach; }
  void refuseNext() {
    const std::size_t wire = rig_->dialled();
    const std::size_t request = rig_->want();
    ASSERT_EQ(rig_->dialled(), wire + 1);
    rig_->wire(wire).refuse();
    EXPECT_TRUE(rig_->failed(request));
  }

  std::shared_ptr<const processing::ServerHealth> health_ = std::make_shared<const processing::ServerHealth>();
  std::unique_ptr<PoolRig> rig_;
};

TEST_F(Reach, IsLostByConnectionsThatAreRefusedAndComesBackWithOneThatServes) {
  begin();
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) {
    EXPECT_EQ(announced(), processing::ServerReach::kPending);
    refuseNext();
  }
  EXPECT_EQ(announced(), processing::ServerReach::kDegraded);
  const std::size_t wire = rig_->dialled();
  rig_->want();
  rig_->accept(wire);
  EXPECT_EQ(announced(), processing::ServerReach::kActive);
}

TEST_F(Reach, IsNotLostAsLongAsAnotherConnectionServes) {
  begin();
  rig_->want();
  rig_->accept(0);
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) refuseNext();
  EXPECT_EQ(announced(), processing::ServerReach::kActive);
}

}  // namespace
}  // namespace sluice::upstream
