#include "proxy/kubernetes/provision/rollout_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/content/json.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;
using testing::Not;

content::Value parsedJson(const std::string& text) {
  auto parsed = content::parseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *std::move(parsed) : content::Value();
}

/// Returns the state of a Deployment of three Pods in its second generation.
RolloutState stateWith(const std::string& status) {
  return rolloutState(parsedJson(R"({"metadata":{"generation":2},"spec":{"replicas":3},"status":{)" + status + "}}"));
}
std::string conditionsOf(const std::string& type, const std::string& status, const std::string& reason,
                         const std::string& message) {
  return R"("observedGeneration":2,"conditions":[{"type":"Available","status":"True","reason":"r"},{"type":")" + type +
         R"(","status":")" + status + R"(","reason":")" + reason + R"(","message":")" + message + R"("}])";
}

/// Returns the fault of a Pod whose container has this status.
std::string faultWith(const std::string& container, const std::string& more = "") {
  return whyNotStarted(parsedJson(R"({"metadata":{"name":"p")" + more +
                                  R"(},"status":{"containerStatuses":[{"image":"example.com/sluice:2",)" + container +
                                  "}]}}"));
}
std::string waitingFor(const std::string& reason) {
  return R"("ready":false,"restartCount":0,"state":{"waiting":{"reason":")" + reason +
         R"(","message":"https://user:secret@example.com"}})";
}

TEST(RolloutState, CountsThePodsThatServe) {
  const RolloutState all =
      stateWith(R"("observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":3,"readyReplicas":3)");
  EXPECT_EQ(all, (RolloutState{3, 3, true, ""}));
  const RolloutState rolling =
      stateWith(R"("observedGeneration":2,"replicas":4,"updatedReplicas":1,"availableReplicas":4)");
  EXPECT_EQ(rolling, (RolloutState{3, 3, false, ""})) << "one more than wanted serves for a moment";
  EXPECT_EQ(stateWith(R"("observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":2)"),
            (RolloutState{3, 2, false, ""}));
  EXPECT_EQ(stateWith(""), (RolloutState{3, 0, false, ""}));
  EXPECT_EQ(rolloutState(parsedJson("{}")), (RolloutState{1, 0, false, ""})) << "an absent number means one";
}

TEST(RolloutState, IsNotCompleteBeforeTheNewestGenerationWasSeen) {
  const RolloutState late =
      stateWith(R"("observedGeneration":1,"replicas":3,"updatedReplicas":3,"availableReplicas":3,"conditions":[)"
                R"({"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"late"}])");
  EXPECT_EQ(late, (RolloutState{3, 3, false, ""})) << "the fault may be one of the earlier template";
}

TEST(RolloutState, HasTheFaultsOfTheDeployment) {
  EXPECT_EQ(stateWith(conditionsOf("ReplicaFailure", "True", "FailedCreate", "exceeded quota: pods")).fault,
            "FailedCreate: exceeded quota: pods");
  EXPECT_EQ(stateWith(conditionsOf("Progressing", "False", "ProgressDeadlineExceeded", "timed out")).fault,
            "ProgressDeadlineExceeded: timed out");
  EXPECT_EQ(stateWith(conditionsOf("Progressing", "True", "ReplicaSetUpdated", "")).fault, "");
  EXPECT_EQ(stateWith(conditionsOf("ReplicaFailure", "False", "FailedCreate", "x")).fault, "");
  EXPECT_LT(stateWith(conditionsOf("ReplicaFailure", "True", "FailedCreate", std::string(100'000, 'x'))).fault.size(),
            2000U);
}

TEST(RolloutState, NamesWhyAPodDoesNotStart) {
  EXPECT_EQ(faultWith(waitingFor("ImagePullBackOff")), "ImagePullBackOff: image example.com/sluice:2");
  EXPECT_EQ(faultWith(waitingFor("ErrImagePull")), "ImagePullBackOff: image example.com/sluice:2")
      << "kubelets change between both";
  EXPECT_EQ(faultWith(waitingFor("CreateContainerConfigError")),
            "CreateContainerConfigError: image example.com/sluice:2");
  EXPECT_THAT(faultWith(waitingFor("ImagePullBackOff")), Not(HasSubstr("secret"))) << "messages may have credentials";
  EXPECT_EQ(faultWith(waitingFor("ContainerCreating")), "");
  EXPECT_EQ(faultWith(waitingFor("PodInitializing")), "");
  EXPECT_EQ(faultWith(waitingFor("ImagePullBackOff"), R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"), "");
  EXPECT_LT(faultWith(waitingFor(std::string(10'000, 'x'))).size(), 1000U);
}

TEST(RolloutState, KnowsAProgramThatEndsAgainAndAgainAlsoWhileItRuns) {
  const std::string expected = "CrashLoopBackOff: image example.com/sluice:2";
  EXPECT_EQ(faultWith(waitingFor("CrashLoopBackOff")), expected);
  EXPECT_EQ(faultWith(R"("ready":false,"restartCount":2,"state":{"running":{}})"), expected);
  EXPECT_EQ(faultWith(R"("ready":false,"restartCount":1,"state":{"running":{}})"), "");
  EXPECT_EQ(faultWith(R"("ready":true,"restartCount":9,"state":{"running":{}})"), "");
}

TEST(RolloutState, KnowsAPodThatNoNodeTakesAndOneWhoseInitContainerFails) {
  EXPECT_EQ(whyNotStarted(parsedJson(
                R"({"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}})")),
            "Unschedulable: no node takes a Pod");
  EXPECT_EQ(whyNotStarted(parsedJson(R"({"status":{"initContainerStatuses":[{"image":"a:1",)" +
                                     waitingFor("ImagePullBackOff") + R"(}],"containerStatuses":[{"image":"b:1",)" +
                                     waitingFor("PodInitializing") + "}]}}")),
            "ImagePullBackOff: image a:1");
  EXPECT_EQ(whyNotStarted(parsedJson("{}")), "");
}

}  // namespace
}  // namespace sluice::kubernetes
