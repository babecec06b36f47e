#include "proxy/control/kubernetes/provision/provisioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "test/control/kubernetes/client/api_rig.h"

namespace sluice::control {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

ProvisionedObject deployment(const std::string& name, const std::string& body = "{}") {
  return {&provisioned::kDeployment, "demo", name, body, "Gateway demo/" + name};
}
ProvisionedObject account(const std::string& owner) {
  return {&provisioned::kServiceAccount, "demo", "a", "{}", "Gateway demo/a", owner};
}
std::string itemOf(const std::string& name, int generation, const std::string& gateway = "egress") {
  return R"({"metadata":{"namespace":"demo","name":")" + name + R"(","uid":"u-)" + name + R"(","generation":)" +
         std::to_string(generation) + R"(,"labels":{"sluice.dev/gateway-namespace":"demo",)" +
         R"("gateway.networking.k8s.io/gateway-name":")" + gateway + R"("}}})";
}

class ProvisionerTest : public testing::Test {
 protected:
  void want(ProvisionPlan plan) {
    rig.inTurn([&] { provisioner->want(std::move(plan)); });
  }
  void lead(bool leads = true) {
    rig.inTurn([&] { provisioner->lead(leads); });
  }
  /// Answers the lists of all kinds; that of Deployments has these items.
  void answerLists(const std::string& deployments = "") {
    for (std::size_t i = 0; i < provisionedKinds().size(); ++i) {
      const std::string target = rig.target(answered);
      EXPECT_THAT(target, HasSubstr("?labelSelector=app.kubernetes.io/managed-by%3Dsluice-controller"));
      const bool ofDeployments = target.starts_with("/apis/apps/v1/deployments");
      answer(R"({"items":[)" + (ofDeployments ? deployments : "") + "]}");
    }
  }
  void answer(const std::string& body, std::uint16_t status = 200) { rig.answer(answered++, status, body); }
  /// Answers whether something has the name of an object that is to be made.
  void answerFind(const std::string& name, const std::string& items = "") {
    EXPECT_EQ(rig.target(answered), "/apis/apps/v1/namespaces/demo/deployments?fieldSelector=metadata.name%3D" + name);
    answer(R"({"items":[)" + items + "]}");
  }
  /// Answers what makes a Deployment that nothing has the name of.
  void answerCreation(const std::string& name) {
    answerFind(name);
    EXPECT_EQ(rig.target(answered), std::string(kPath) + name + "?fieldManager=sluice-controller");
    answer(itemOf(name, 1), 201);
  }
  bool asksMore() const { return rig.requests() > answered; }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    provisioner.reset();
  }

  static constexpr const char* kPath = "/apis/apps/v1/namespaces/demo/deployments/";
  std::size_t answered = 0;
  int changes = 0;
  ApiRig rig;
  std::unique_ptr<Provisioner> provisioner = std::make_unique<Provisioner>(rig.client, [this] { ++changes; });
};

TEST_F(ProvisionerTest, AppliesWhatIsMissingIfItLeads) {
  want({.objects = {deployment("a", R"({"a":1})")}});
  EXPECT_EQ(rig.requests(), 0U) << "it does not lead";
  lead();
  answerLists();
  ASSERT_TRUE(asksMore());
  answerFind("a");
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a?fieldManager=sluice-controller");
  EXPECT_EQ(rig.field(answered, "content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(rig.request(answered).body, R"({"a":1})");
  answer(itemOf("a", 1), 201);
  want({.objects = {deployment("a", R"({"a":1})")}});
  EXPECT_FALSE(asksMore()) << "it is as it should be";
}

TEST_F(ProvisionerTest, DoesNothingBeforeItKnowsWhatThereShouldBe) {
  lead();
  rig.advance(seconds(120));
  EXPECT_EQ(rig.requests(), 0U) << "or it would delete all that there is";
}

TEST_F(ProvisionerTest, AppliesWhatIsToBeOtherwiseWithoutLooking) {
  want({.objects = {deployment("a"), deployment("b")}});
  lead();
  answerLists();
  answerCreation("a");
  answerCreation("b");
  want({.objects = {deployment("a"), deployment("b", R"({"metadata":{"name":"b"}})")}});
  ASSERT_TRUE(asksMore());
  EXPECT_THAT(rig.target(answered), HasSubstr("/deployments/b?"));
  EXPECT_EQ(rig.request(answered).body, R"({"metadata":{"uid":"u-b","name":"b"}})") << "and no other one of that name";
  answer(itemOf("b", 2));
  EXPECT_FALSE(asksMore());
}

TEST_F(ProvisionerTest, PutsRightWhatSomebodyHasChangedOrDeleted) {
  want({.objects = {deployment("a"), deployment("b"), deployment("c")}});
  lead();
  answerLists();
  for (const char* name : {"a", "b", "c"}) answerCreation(name);
  rig.advance(seconds(61));
  answerLists(itemOf("a", 1) + "," + itemOf("b", 2));
  ASSERT_TRUE(asksMore());
  EXPECT_THAT(rig.target(answered), HasSubstr("/deployments/b?"));
  answer(itemOf("b", 3));
  answerCreation("c");
  EXPECT_FALSE(asksMore());
}

TEST_F(ProvisionerTest, DeletesWhatItKeepsNoMore) {
  want({.objects = {deployment("a")}});
  lead();
  answerLists(itemOf("a", 1) + "," + itemOf("old", 1, "gone"));
  ASSERT_TRUE(asksMore());
  EXPECT_THAT(rig.target(answered), HasSubstr("/deployments/a?")) << "it is not known what another leader has applied";
  answer(itemOf("a", 1));
  EXPECT_EQ(rig.request(answered).message.head.method, http::Method::kDelete);
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "old");
  EXPECT_THAT(rig.request(answered).body, HasSubstr(R"("uid":"u-old")")) << "and no other one of that name";
  answer(statusBody(404, "not found"), 404);
  want({});
  answerLists(itemOf("a", 1));
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a");
  answer("{}");
  EXPECT_FALSE(asksMore());
  EXPECT_THAT(rig.logged.text(), Not(HasSubstr("cannot be provisioned")));
}

TEST_F(ProvisionerTest, WritesByForceOnlyWhatItKeeps) {
  want({.objects = {deployment("ours"), deployment("foreign")}});
  lead();
  answerLists(itemOf("ours", 1));
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "ours?fieldManager=sluice-controller&force=true");
  answer(itemOf("ours", 2));
  answerFind("foreign", itemOf("foreign", 7));
  EXPECT_FALSE(asksMore()) << "somebody else has it";
  EXPECT_THAT(provisioner->conditionOf("Gateway demo/foreign")->message,
              HasSubstr("/deployments/foreign: it is there and was not made for this Gateway"));
}

TEST_F(ProvisionerTest, GivesBackWhatSomebodyElseHasMadeAtTheSameMoment) {
  want({.objects = {deployment("a", R"({"metadata":{"labels":{}}})")}});
  lead();
  answerLists();
  answerFind("a");
  answer(itemOf("a", 5));  // 200: it was there
  EXPECT_EQ(rig.request(answered).body,
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"demo"}})");
  answer(itemOf("a", 6));
  EXPECT_FALSE(asksMore());
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/a")->status, config::ConditionStatus::kFalse);
}

TEST_F(ProvisionerTest, GivesNothingToTheAccountOfSomebodyElse) {
  want({.objects = {account("u-gateway"), deployment("a"), deployment("b")}});
  lead();
  answerLists();
  EXPECT_THAT(rig.target(answered), HasSubstr("/serviceaccounts?fieldSelector=metadata.name%3Da"));
  answer(R"({"items":[{"metadata":{"namespace":"demo","name":"a","uid":"u-theirs"}}]})");
  answerCreation("b");
  EXPECT_FALSE(asksMore()) << "what else there is of that Gateway would run with that account";
  EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("ServiceAccount "));
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/b")->status, config::ConditionStatus::kTrue);
}

TEST_F(ProvisionerTest, MakesAnewWhatAnotherGatewayOfThatNameHad) {
  ProvisionedObject object = deployment("a");
  object.owner = "u-new";
  want({.objects = {object}});
  lead();
  answerLists(itemOf("a", 1));
  EXPECT_EQ(rig.request(answered).message.head.method, http::Method::kDelete);
  EXPECT_THAT(rig.request(answered).body, HasSubstr(R"("uid":"u-a")"));
  answer("{}");
  answerCreation("a");
  EXPECT_FALSE(asksMore());
}

TEST_F(ProvisionerTest, SaysOfEachGatewayWhetherItsObjectsAreAsTheyShouldBe) {
  want({.objects = {deployment("good"), deployment("bad")}});
  lead();
  EXPECT_FALSE(provisioner->conditionOf("Gateway demo/good")) << "it is not known yet";
  answerLists();
  answerCreation("good");
  answerFind("bad");
  answer(statusBody(409, "conflict with kubectl"), 409);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/good")->status, config::ConditionStatus::kTrue);
  const auto bad = provisioner->conditionOf("Gateway demo/bad");
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->type, "sluice.dev/Provisioned");
  EXPECT_EQ(bad->status, config::ConditionStatus::kFalse);
  EXPECT_EQ(bad->reason, "NotProvisioned");
  EXPECT_THAT(bad->message, HasSubstr("/deployments/bad: HTTP status 409: conflict with kubectl"));
  EXPECT_FALSE(provisioner->conditionOf("Gateway demo/other")) << "nothing is kept for it";
  rig.advance(seconds(11));
  answerLists(itemOf("good", 1));
  answerCreation("bad");
  EXPECT_EQ(changes, 2);
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/bad")->status, config::ConditionStatus::kTrue);
  want({.objects = {deployment("good"), deployment("bad", R"({"b":2})")}});
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/good")->status, config::ConditionStatus::kTrue);
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/bad")->reason, "Pending") << "it is not changed yet";
  answer(itemOf("bad", 2));
  EXPECT_EQ(changes, 3);
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/bad")->status, config::ConditionStatus::kTrue);
}

TEST_F(ProvisionerTest, LeavesTheObjectsOfSomeGatewaysAlone) {
  want({.objects = {}, .leftAlone = {{"demo", "egress"}}});
  lead();
  answerLists(itemOf("kept", 1) + "," + itemOf("old", 1, "other"));
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "old");
  answer("{}");
  EXPECT_FALSE(asksMore());
}

TEST_F(ProvisionerTest, KeepsWhatPodsMayReadAlthoughItLeavesThemAlone) {
  ProvisionedObject role{&provisioned::kRole, "demo", "kept", "{}", "Gateway demo/egress"};
  role.onlyIfThere = true;
  ProvisionedObject missing = role;
  missing.name = "missing";
  want({.objects = {role, missing}, .podsLeftAlone = {{"demo", "egress"}}});
  lead();
  const std::string role2 = itemOf("old", 1);
  for (std::size_t i = 0; i < provisionedKinds().size(); ++i) {
    const std::string target = rig.target(answered);
    const bool ofRoles = target.find("/roles?") != std::string::npos;
    const bool ofDeployments = target.find("/deployments?") != std::string::npos;
    answer(R"({"items":[)" +
           (ofRoles         ? itemOf("kept", 1) + "," + role2
            : ofDeployments ? itemOf("pods", 1)
                            : "") +
           "]}");
  }
  EXPECT_THAT(rig.target(answered), HasSubstr("/roles/kept?fieldManager=sluice-controller&force=true"));
  answer(itemOf("kept", 2));
  EXPECT_EQ(rig.request(answered).message.head.method, http::Method::kDelete);
  EXPECT_THAT(rig.target(answered), HasSubstr("/roles/old")) << "of another namespace, which permits it no more";
  answer("{}");
  EXPECT_FALSE(asksMore()) << "nothing is made, and the Deployment stays";
  EXPECT_FALSE(provisioner->conditionOf("Gateway demo/egress"));
}

TEST_F(ProvisionerTest, LeavesWhatAllGatewaysHadWhileItLeavesSomeAlone) {
  const std::string ofAll = R"({"metadata":{"namespace":"demo","name":"shared","uid":"u-shared"}})";
  want({.objects = {}, .leftAlone = {{"demo", "egress"}}});
  lead();
  answerLists(ofAll);
  EXPECT_FALSE(asksMore());
  want({});
  rig.advance(seconds(61));
  answerLists(ofAll);
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "shared");
}

TEST_F(ProvisionerTest, GoesOnWithTheOthersWhenOneIsRefusedAndTriesItAgain) {
  want({.objects = {deployment("bad"), deployment("good")}});
  lead();
  answerLists();
  for (int round = 0; round < 3; ++round) {
    answerFind("bad");
    EXPECT_THAT(rig.target(answered), HasSubstr("/deployments/bad?"));
    answer(statusBody(422, "no such resource"), 422);
    if (round == 0) answerCreation("good");
    EXPECT_FALSE(asksMore());
    rig.advance(seconds(11));
    answerLists(itemOf("good", 1));
  }
  const std::string log = rig.logged.text();
  EXPECT_THAT(log, HasSubstr("no such resource"));
  EXPECT_EQ(log.find("no such resource"), log.rfind("no such resource")) << "it is said once";
}

TEST_F(ProvisionerTest, BeginsAnewWhenItLeadsAgain) {
  want({.objects = {deployment("a")}});
  lead();
  answerLists();
  answerCreation("a");
  lead(false);
  rig.advance(seconds(120));
  EXPECT_FALSE(asksMore());
  lead();
  answerLists(itemOf("a", 1));
  EXPECT_THAT(rig.target(answered), HasSubstr("/deployments/a?"));
}

}  // namespace
}  // namespace sluice::control
