#include "proxy/kubernetes/provision/pod_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "proxy/content/json.h"
#include "test/kubernetes/provision/provisioner_fixture.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;

/// Returns the kept number of a Deployment of five Pods, whose fields this manager has.
std::optional<std::string> keptOf(const std::string& manager, const std::string& operation, const std::string& fields) {
  const std::string text = R"({"metadata":{"name":"a","namespace":"demo","uid":"u-1","managedFields":[)"
                           R"({"manager":"other","operation":"Apply","fieldsV1":{"f:spec":{"f:paused":{}}}},)"
                           R"({"manager":")" +
                           manager + R"(","operation":")" + operation + R"(","fieldsV1":{"f:spec":)" + fields +
                           R"(}}]},"spec":{"replicas":5}})";
  return keptPodCount(*content::parseJson(text, {.bytes = 1000}), "sluice-controller");
}

TEST(PodCount, IsKeptIfTheControllerHasAppliedIt) {
  EXPECT_EQ(keptOf("sluice-controller", "Apply", R"({"f:replicas":{}})"),
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"demo","uid":"u-1"},)"
            R"("spec":{"replicas":5}})");
}

TEST(PodCount, IsLeftToOthersWhoHaveIt) {
  EXPECT_FALSE(keptOf("kube-controller-manager", "Update", R"({"f:replicas":{}})"));
  EXPECT_FALSE(keptOf("sluice-autoscaling", "Apply", R"({"f:replicas":{}})"));
  EXPECT_FALSE(keptOf("sluice-controller", "Update", R"({"f:replicas":{}})"));
  EXPECT_FALSE(keptOf("sluice-controller", "Apply", R"({"f:template":{}})"));
}

/// The Deployment "a" with five Pods, a number that the controller has applied.
const char* const kCountedDeployment =
    R"({"metadata":{"name":"a","namespace":"demo","uid":"u-a","managedFields":[{"manager":"sluice-controller",)"
    R"("operation":"Apply","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":5}})";

TEST_F(ProvisionerTest, KeepsTheNumberOfPodsThatAnAutoscalerIsToChoose) {
  ProvisionedObject counted = deployment("a", R"({"a":1})");
  counted.isCountedByOthers = true;
  want({.objects = {counted}});
  lead();
  answerLists(itemOf("a", 1));
  EXPECT_EQ(rig.field(answered, "accept"), "application/json");
  answerFind("a", kCountedDeployment);
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a?fieldManager=sluice-autoscaling&force=true");
  EXPECT_THAT(rig.request(answered).body, HasSubstr(R"("uid":"u-a"},"spec":{"replicas":5}})"));
  answer(itemOf("a", 1));
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a?fieldManager=sluice-controller&force=true");
  answer(itemOf("a", 2));
  EXPECT_FALSE(asksMore());
  // The number is the autoscaler's from now on.
  counted.body = R"({"a":2})";
  want({.objects = {counted}});
  answerFind("a", R"({"metadata":{"name":"a","namespace":"demo","uid":"u-a"},"spec":{"replicas":9}})");
  EXPECT_EQ(rig.target(answered), std::string(kPath) + "a?fieldManager=sluice-controller&force=true");
  answer(itemOf("a", 3));
  EXPECT_FALSE(asksMore());
}

TEST_F(ProvisionerTest, LeavesADeploymentAsItIsIfItsNumberCannotBeKept) {
  ProvisionedObject counted = deployment("a", R"({"a":1})");
  counted.isCountedByOthers = true;
  want({.objects = {counted}});
  for (const bool readable : {false, true}) {
    lead();
    answerLists(itemOf("a", 1));
    if (readable) answerFind("a", kCountedDeployment);
    answer(statusBody(403, "no number"), 403);
    EXPECT_FALSE(asksMore()) << "it would get one Pod";
    EXPECT_THAT(provisioner->conditionOf("Gateway demo/a")->message, HasSubstr("no number"));
  }
}

}  // namespace
}  // namespace sluice::kubernetes
