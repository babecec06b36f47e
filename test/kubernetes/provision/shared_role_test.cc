// Tests that the ClusterRole of all Gateways is followed.
#include "proxy/kubernetes/provision/shared_role.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;

constexpr const char* kRolePath = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

class SharedRoleTests : public ::testing::Test, private SharedRoleUser {
 protected:
  void start() {
    role = std::make_unique<SharedRole>(rig.client, static_cast<SharedRoleUser&>(*this));
    rig.inTurn([this] { role->start(); });
    api.serve();
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    role.reset();
  }
  void put(const std::string& uid) {
    api.put(kRolePath, "", "sluice-gateway", "", R"("uid":")" + uid + "\"");
    api.pass(seconds(1));
  }

  ApiRig rig;
  FakeApi api{rig};
  int changes = 0;
  std::unique_ptr<SharedRole> role;

 private:
  void onSharedRole() override { ++changes; }
};

TEST_F(SharedRoleTests, IsAnotherOneAfterItWasDeleted) {
  put("u-1");
  start();
  EXPECT_TRUE(role->answered());
  EXPECT_EQ(role->uid(), "u-1");
  EXPECT_EQ(changes, 1);
  put("u-1");
  EXPECT_EQ(changes, 1) << "its rules alone do not matter here";
  api.remove(kRolePath, "", "sluice-gateway");
  api.pass(seconds(1));
  EXPECT_EQ(role->uid(), "");
  put("u-2");
  EXPECT_EQ(role->uid(), "u-2");
  EXPECT_EQ(changes, 3);
}

TEST_F(SharedRoleTests, IsKnownNotToExist) {
  start();
  EXPECT_TRUE(role->answered());
  EXPECT_EQ(role->uid(), "");
  EXPECT_EQ(changes, 1);
}

TEST_F(SharedRoleTests, IsNotWaitedForIfItMayNotBeRead) {
  api.forbidden = {kRolePath};
  start();
  EXPECT_TRUE(role->answered());
  EXPECT_EQ(changes, 1);
  api.pass(seconds(120));
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(rig.logged.count("the ClusterRole of Gateways cannot be read"), 1U);
}

}  // namespace
}  // namespace sluice::kubernetes
