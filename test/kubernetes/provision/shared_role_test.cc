// Tests that the ClusterRole of all Gateways is followed.
#include "proxy/kubernetes/provision/shared_role.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "test/kubernetes/provision/following_fixture.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;

constexpr const char* kRolePath = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

class SharedRoleTests : public FollowingFixture<SharedRole, SharedRoleUser> {
 protected:
  void start() {
    act([](SharedRole& role) { role.start(); });
  }
  void put(const std::string& uid) {
    api.put(kRolePath, "", "sluice-gateway", "", R"("uid":")" + uid + "\"");
    api.pass(seconds(1));
  }

 private:
  void onSharedRole() override { ++changes; }
};

TEST_F(SharedRoleTests, IsAnotherOneAfterItWasDeleted) {
  put("u-1");
  start();
  EXPECT_TRUE(follower->answered());
  EXPECT_EQ(follower->uid(), "u-1");
  EXPECT_EQ(changes, 1);
  put("u-1");
  EXPECT_EQ(changes, 1) << "its rules alone do not matter here";
  api.remove(kRolePath, "", "sluice-gateway");
  api.pass(seconds(1));
  EXPECT_EQ(follower->uid(), "");
  put("u-2");
  EXPECT_EQ(follower->uid(), "u-2");
  EXPECT_EQ(changes, 3);
}

TEST_F(SharedRoleTests, IsKnownNotToExist) {
  start();
  EXPECT_TRUE(follower->answered());
  EXPECT_EQ(follower->uid(), "");
  EXPECT_EQ(changes, 1);
}

TEST_F(SharedRoleTests, IsNotWaitedForIfItMayNotBeRead) {
  api.forbidden = {kRolePath};
  start();
  EXPECT_TRUE(follower->answered());
  EXPECT_EQ(changes, 1);
  api.pass(seconds(120));
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(rig.logged.count("the ClusterRole of Gateways cannot be read"), 1U);
}

}  // namespace
}  // namespace sluice::kubernetes
