#include "proxy/kubernetes/provision/provisioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "test/kubernetes/provision/provisioner_fixture.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

TEST_F(ProvisionerTest, AppliesMissingObjectsIfItLeads) {
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

TEST_F(ProvisionerTest, DoesNothingBeforeItHasAPlan) {
  lead();
  rig.advance(seconds(120));
  EXPECT_EQ(rig.requests(), 0U) << "or it would delete all that there is";
}

TEST_F(ProvisionerTest, AppliesAChangedPlanWithoutReadingLists) {
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

TEST_F(ProvisionerTest, RestoresObjectsThatOthersHaveChangedOrDeleted) {
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

TEST_F(ProvisionerTest, DeletesObjectsThatAreNotNeededAnyMore) {
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

TEST_F(ProvisionerTest, ForcesOnlyItsOwnObjects) {
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

TEST_F(ProvisionerTest, GivesBackAnObjectThatAnotherClientHasCreatedAtTheSameTime) {
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

TEST_F(ProvisionerTest, GivesNoRightsToTheAccountOfOthers) {
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

TEST_F(ProvisionerTest, ReplacesObjectsOfAnEarlierGatewayOfThatName) {
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

TEST_F(ProvisionerTest, GivesNothingToAnAccountThatIsNotKnownToBeItsOwn) {
  want({.objects = {account("u-gateway"), objectOfA(provisioned::kRole), deployment("a"), deployment("b")}});
  lead();
  answer(statusBody(429, "too many requests"), 429);  // the list of ServiceAccounts
  answerListsFrom(provisioned::kRole);
  answerCreation("b");
  EXPECT_FALSE(asksMore()) << "somebody else may have made the account";
  EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("too many requests"));
}

TEST_F(ProvisionerTest, MakesNoPodsBeforeTheirRightsAndKeys) {
  const ProvisionedObject role = objectOfA(provisioned::kRole);
  const ProvisionedObject keys = objectOfA(provisioned::kSecret);
  const ProvisionedObject elsewhere = objectOfA(provisioned::kRole, "vault");
  want({.objects = {role, elsewhere, keys, deployment("a")}});
  lead();
  answerLists();
  answerCreationOf(role, 422);
  answerCreationOf(elsewhere);
  answerCreationOf(keys);
  EXPECT_FALSE(asksMore()) << "they would run without their rights";
  rig.advance(seconds(11));
  answerLists();
  answerCreationOf(role);
  answerCreationOf(elsewhere, 422);
  answerCreationOf(keys, 422);
  EXPECT_FALSE(asksMore()) << "they would run without their keys";
  rig.advance(seconds(11));
  answerLists();
  answerCreationOf(role);
  answerCreationOf(elsewhere, 422);
  answerCreationOf(keys);
  answerCreation("a");
  EXPECT_FALSE(asksMore()) << "another namespace holds nothing back";
}

TEST_F(ProvisionerTest, NamesNoObjectOfAnotherNamespaceInTheCondition) {
  const ProvisionedObject elsewhere = objectOfA(provisioned::kRole, "vault");
  want({.objects = {elsewhere, deployment("a")}});
  lead();
  answerLists();
  answerCreationOf(elsewhere, 422);
  answerCreationOf(deployment("a"));
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/a")->message, "a Role of another namespace: HTTP status 422");
  EXPECT_THAT(rig.logged.text(), HasSubstr("namespaces/vault/roles/a: HTTP status 422: no "));
  rig.advance(seconds(11));
  answerLists();
  answerCreationOf(elsewhere, 422);
  answerCreationOf(deployment("a"), 409);
  EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("/deployments/a: HTTP status 409"))
      << "what is wrong in its own namespace comes first";
}

TEST_F(ProvisionerTest, ReadsListsPageByPage) {
  want({.objects = {deployment("a"), deployment("b")}});
  lead();
  answerListsBefore(provisioned::kDeployment);
  answer(R"({"metadata":{"continue":"next/1"},"items":[)" + itemOf("a", 1) + "," + itemOf("old", 1, "gone") + "]}");
  EXPECT_THAT(rig.target(answered), HasSubstr("/deployments?labelSelector="));
  EXPECT_THAT(rig.target(answered), HasSubstr("&limit=250&continue=next%2F1"));
  answer(R"({"metadata":{"continue":""},"items":[)" + itemOf("b", 1) + "]}");
  answer(R"({"items":[]})");
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(rig.target(answered), std::string(kPath) + name + "?fieldManager=sluice-controller&force=true");
    answer(itemOf(name, 1));
  }
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "old");
}

TEST_F(ProvisionerTest, ReadsListsThatOthersHaveMadeLong) {
  want({.objects = {deployment("a")}});
  lead();
  answerListsBefore(provisioned::kDeployment);
  const std::string large = R"({"metadata":{"namespace":"theirs","name":"large","annotations":{"a":")" +
                            std::string(std::size_t{5} << 20, 'x') + R"("}}})";
  answer(R"({"items":[)" + large + "," + itemOf("a", 1) + "]}");
  answer(R"({"items":[]})");
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a?fieldManager=sluice-controller&force=true");
}

TEST_F(ProvisionerTest, JudgesNoKindWhoseListCannotBeRead) {
  want({.objects = {deployment("a")}});
  lead();
  answerLists();
  answerCreation("a");
  for (const char* body : {"no JSON", "{}", R"({"items":[1]})"}) {
    rig.advance(seconds(61));
    answerListsBefore(provisioned::kDeployment);
    answer(body);
    answer(R"({"items":[]})");
    EXPECT_FALSE(asksMore()) << "it is not known whether it is there: " << body;
    EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("the list cannot be read")) << body;
  }
  rig.advance(seconds(11));
  answerLists(itemOf("a", 1));
  EXPECT_FALSE(asksMore()) << "it is as it was applied";
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/a")->status, config::ConditionStatus::kTrue);
}

TEST_F(ProvisionerTest, MakesNothingWhereItCannotReadWhetherTheNameIsTaken) {
  want({.objects = {deployment("a")}});
  lead();
  answerLists();
  answer("no JSON");
  EXPECT_FALSE(asksMore());
  EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("the list cannot be read"));
}

TEST_F(ProvisionerTest, RemovesFewObjectsOfANamespaceAtOnce) {
  std::string items;
  for (int i = 0; i < 150; ++i) items += itemOf("old-" + std::to_string(i), 1, "gone") + ",";
  std::string deleted = itemOf("deleted", 1, "gone");
  deleted.insert(deleted.find("\"uid\""), R"("deletionTimestamp":"2026-01-01T00:00:00Z",)");
  want({.objects = {deployment("a")}});
  lead();
  answerLists(deleted + "," + items + itemOf("a", 1));
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a?fieldManager=sluice-controller&force=true");
  answer(itemOf("a", 1));
  std::size_t removed = 0;
  for (; asksMore(); ++removed) {
    EXPECT_THAT(rig.target(answered), HasSubstr("/old-"));
    answer("{}");
  }
  EXPECT_EQ(removed, 100U);
  EXPECT_EQ(provisioner->conditionOf("Gateway demo/a")->status, config::ConditionStatus::kTrue);
  rig.advance(seconds(11));
  EXPECT_TRUE(asksMore()) << "the others follow soon";
}

TEST_F(ProvisionerTest, SaysThatItCannotGiveBackWhatSomebodyElseHasMade) {
  want({.objects = {deployment("a", R"({"metadata":{"labels":{}}})")}});
  lead();
  answerLists();
  answerFind("a");
  answer(itemOf("a", 5));  // 200: it was there
  answer(statusBody(409, "not now"), 409);
  EXPECT_FALSE(asksMore());
  EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("was not made for this Gateway"));
  EXPECT_THAT(rig.logged.text(), HasSubstr("/deployments/a: HTTP status 409: not now"));
}

TEST_F(ProvisionerTest, ReportsForEachGatewayWhetherItsObjectsAreAsPlanned) {
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
  want({.objects = {}, .leftAlone = {{{"demo", "egress"}, LeftAlone::kAll}}});
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
  want({.objects = {role, missing}, .leftAlone = {{{"demo", "egress"}, LeftAlone::kPods}}});
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

TEST_F(ProvisionerTest, TakesRightsElsewhereFromAGatewayOfWhichNothingIsKnown) {
  want({.objects = {}, .leftAlone = {{{"demo", "egress"}, LeftAlone::kNotElsewhere}}});
  lead();
  std::string elsewhere = itemOf("elsewhere", 1);
  elsewhere.replace(elsewhere.find(R"("namespace":"demo")"), 18, R"("namespace":"vault")");
  std::string cluster = itemOf("cluster", 1);
  cluster.erase(cluster.find(R"("namespace":"demo",)"), 19);
  for (std::size_t i = 0; i < provisionedKinds().size(); ++i) {
    const std::string target = rig.target(answered);
    std::string items = itemOf("own", 1);
    if (target.find("/roles?") != std::string::npos || target.find("/rolebindings?") != std::string::npos)
      items += "," + elsewhere;
    answer(R"({"items":[)" + (target.find("/clusterrolebindings?") != std::string::npos ? cluster : items) + "]}");
  }
  for (const char* removed : {"/namespaces/vault/roles/elsewhere", "/namespaces/vault/rolebindings/elsewhere"}) {
    EXPECT_EQ(rig.request(answered).message.head.method, http::Method::kDelete);
    EXPECT_THAT(rig.target(answered), testing::EndsWith(removed));
    answer("{}");
  }
  EXPECT_FALSE(asksMore());
}

TEST_F(ProvisionerTest, LooksOnceForWhatItLeavesAlone) {
  want({.objects = {deployment("a")}});
  lead();
  answerLists();
  answerCreation("a");
  want({.objects = {}, .leftAlone = {{{"demo", "egress"}, LeftAlone::kPods}}});
  answerLists(itemOf("a", 1));
  EXPECT_FALSE(asksMore());
  want({.objects = {deployment("b")}, .leftAlone = {{{"demo", "egress"}, LeftAlone::kPods}}});
  answerFind("b");
}

TEST_F(ProvisionerTest, LeavesWhatAllGatewaysHadWhileItLeavesSomeAlone) {
  const std::string ofAll = R"({"metadata":{"namespace":"demo","name":"shared","uid":"u-shared"}})";
  want({.objects = {}, .leftAlone = {{{"demo", "egress"}, LeftAlone::kAll}}});
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
}  // namespace sluice::kubernetes
