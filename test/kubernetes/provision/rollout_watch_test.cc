// Tests that the Deployments of Gateways are followed, and that the Pods of those that do not get on are looked at.
#include "proxy/kubernetes/provision/rollout_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "test/kubernetes/provision/following_fixture.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kDeployments = "/apis/apps/v1/deployments";
constexpr const char* kPodsOfCluster = "/api/v1/pods";
constexpr const char* kEgressGateway = "Gateway demo/egress";

/// Follows the Deployment egress-sluice of Gateway demo/egress, which has the uid u-1.
class RolloutWatching : public FollowingFixture<RolloutWatch, RolloutWatchUser> {
 protected:
  static GatewayObjects egress(const std::string& owner = "u-1") {
    return {{kEgressGateway, {{"demo", "egress-sluice"}, owner}}};
  }
  void want(GatewayObjects wanted) {
    act([&](RolloutWatch& watch) { watch.want(std::move(wanted)); });
  }
  void lead(bool leads = true) {
    act([&](RolloutWatch& watch) { watch.lead(leads); });
  }
  void start() {
    lead();
    want(egress());
  }
  /// Writes a Deployment of two Pods, of which so many serve, with these conditions.
  void write(int available, const std::string& conditions = "", const std::string& name = "egress-sluice",
             const std::string& owner = "u-1") {
    const std::string count = std::to_string(available);
    api.put(kDeployments, "demo", name,
            R"("spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":)" + count +
                R"(,"availableReplicas":)" + count + R"(,"conditions":[)" + conditions + "]}",
            R"("uid":"d-1","generation":1,)" + labelledFor(owner));
  }
  void writePod(const std::string& name, const std::string& reason, const std::string& instance = "egress-sluice") {
    api.put(kPodsOfCluster, "demo", name,
            R"("status":{"containerStatuses":[{"image":"sluice:2","ready":false,"state":{"waiting":{"reason":")" +
                reason + R"("}}}]})",
            R"("labels":{"app.kubernetes.io/instance":")" + instance + "\"}");
  }
  std::optional<RolloutState> state() const { return follower->stateOf(kEgressGateway); }
  std::string fault() const { return state() ? state()->fault : "unknown"; }

 private:
  void onRollouts() override { ++changes; }
};

TEST_F(RolloutWatching, TellsHowManyPodsServe) {
  write(1);
  EXPECT_FALSE(state()) << "it has not begun";
  start();
  EXPECT_EQ(state()->available, 1);
  EXPECT_EQ(state()->wanted, 2);
  EXPECT_FALSE(follower->stateOf("Gateway demo/other"));
  EXPECT_FALSE(follower->follows("Gateway demo/other"));
  const int before = changes;
  write(1);
  EXPECT_EQ(changes, before) << "nothing has changed that matters";
  write(2);
  EXPECT_EQ(changes, before + 1);
  EXPECT_TRUE(state()->complete);
  api.remove(kDeployments, "demo", "egress-sluice");
  EXPECT_EQ(*state(), RolloutState()) << "no Pod is wanted, and none serves";
  EXPECT_EQ(changes, before + 2);
}

TEST_F(RolloutWatching, KnowsNothingBeforeTheFirstListHasCome) {
  api.holds = "deployments";
  start();
  EXPECT_TRUE(follower->follows(kEgressGateway));
  EXPECT_FALSE(state());
  api.release();
  EXPECT_EQ(*state(), RolloutState());
  EXPECT_EQ(changes, 1) << "that there is none is known now";
}

TEST_F(RolloutWatching, TakesNoDeploymentThatTheGatewayDoesNotOwn) {
  write(2, "", "egress-sluice", "u-9");
  write(2, "", "other-sluice", "u-1");
  start();
  EXPECT_EQ(*state(), RolloutState());
  write(1);
  EXPECT_EQ(state()->available, 1);
  write(2, "", "egress-sluice", "u-9");
  EXPECT_EQ(*state(), RolloutState()) << "another one has its name now";
}

TEST_F(RolloutWatching, ReadsDeploymentsAgainThatItHasIgnored) {
  write(2);
  lead();
  want({});
  const std::size_t lists = api.asked("/deployments?");
  want({{"Gateway demo/new", {{"demo", "new-sluice"}, "u-2"}}});
  EXPECT_EQ(api.asked("/deployments?"), lists) << "the Deployment of a new Gateway is yet to come";
  want(egress());
  EXPECT_EQ(state()->available, 2);
  want(egress("u-2"));
  EXPECT_EQ(*state(), RolloutState()) << "another Gateway of this name";
  want(egress());
  EXPECT_EQ(state()->available, 2) << "it was there all the time";
}

TEST_F(RolloutWatching, LooksAtThePodsOfADeploymentThatDoesNotGetOn) {
  write(2);
  writePod("of-another", "ImagePullBackOff", "other-sluice");
  start();
  api.pass(seconds(20));
  EXPECT_EQ(api.asked("/pods?"), 0U) << "it is complete";

  write(1);
  writePod("b", "ContainerCreating");
  api.pass(seconds(2));
  EXPECT_EQ(api.asked("/api/v1/namespaces/demo/pods?labelSelector=app.kubernetes.io/instance%3Degress-sluice&limit="),
            1U);
  EXPECT_EQ(fault(), "");
  writePod("b", "ImagePullBackOff");
  writePod("c", "ErrImagePull");
  const int before = changes;
  api.pass(seconds(20));
  EXPECT_EQ(fault(), "Deployment egress-sluice: ImagePullBackOff: image sluice:2");
  EXPECT_EQ(changes, before + 1) << "it is told once";
  write(1, R"({"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"late"})");
  EXPECT_EQ(fault(), "Deployment egress-sluice: ProgressDeadlineExceeded: late; ImagePullBackOff: image sluice:2");

  write(2);
  EXPECT_EQ(fault(), "");
  const std::size_t looks = api.asked("/pods?");
  api.pass(seconds(20));
  EXPECT_EQ(api.asked("/pods?"), looks);
}

TEST_F(RolloutWatching, LooksAtNoPodsUnlessItLeads) {
  write(1);
  writePod("b", "ImagePullBackOff");
  want(egress());
  api.pass(seconds(20));
  EXPECT_EQ(api.asked("/pods?"), 0U);
  EXPECT_EQ(state()->available, 1) << "the next leader knows it at once";
  lead();
  api.pass(seconds(2));
  EXPECT_THAT(fault(), HasSubstr("ImagePullBackOff"));
  lead(false);
  const std::size_t looks = api.asked("/pods?");
  api.pass(seconds(20));
  EXPECT_EQ(api.asked("/pods?"), looks);
}

TEST_F(RolloutWatching, LooksAtNoPodsOfAGatewayThatIsGone) {
  write(1);
  start();
  api.pass(seconds(2));
  want({});
  const std::size_t looks = api.asked("/pods?");
  api.pass(seconds(20));
  EXPECT_EQ(api.asked("/pods?"), looks);
}

TEST_F(RolloutWatching, SaysOnceWhatTheApiServerDoesNotPermit) {
  api.forbidden = {kDeployments};
  start();
  EXPECT_FALSE(follower->follows(kEgressGateway)) << "there is no condition without a reason";
  EXPECT_FALSE(state());
  api.pass(seconds(90));
  EXPECT_EQ(rig.logged.count("the Deployments of Gateways cannot be read"), 1U) << rig.logged.text();
  api.forbidden = {kPodsOfCluster};
  write(1);
  api.pass(seconds(60));
  EXPECT_EQ(state()->available, 1) << "it is permitted now";
  EXPECT_EQ(rig.logged.count("the Pods of a Gateway cannot be looked at"), 1U) << rig.logged.text();
  api.forbidden.clear();
  writePod("b", "ImagePullBackOff");
  api.pass(seconds(300));
  EXPECT_THAT(fault(), HasSubstr("ImagePullBackOff"));
}

}  // namespace
}  // namespace sluice::kubernetes
