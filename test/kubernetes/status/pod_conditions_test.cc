#include "proxy/kubernetes/status/pod_conditions.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::kubernetes {
namespace {

using config::Condition;
using config::ConditionStatus;

/// Returns the conditions in short: "sluice.dev/Available False PodsMissing: 0 of 2 Pods serve".
std::string shortText(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& each : conditions) {
    text += (text.empty() ? "" : "\n") + each.type + " " + std::string(config::conditionStatusName(each.status)) + " " +
            each.reason + (each.message.empty() ? "" : ": " + each.message);
  }
  return text;
}

/// Returns what is added to a Gateway whose configuration is programmed.
std::string addedFor(const std::optional<RolloutState>& pods,
                     const Condition& compiled = {"Programmed", ConditionStatus::kTrue, "Programmed", "", 7}) {
  return shortText(podConditions({{"Accepted", ConditionStatus::kTrue, "Accepted", "", 7}, compiled}, pods));
}

TEST(PodConditions, SayHowManyPodsServe) {
  EXPECT_EQ(addedFor(RolloutState{2, 2, true, ""}), "sluice.dev/Available True Available: 2 of 2 Pods serve");
  EXPECT_EQ(addedFor(RolloutState{3, 2, false, ""}), "sluice.dev/Available False PodsMissing: 2 of 3 Pods serve");
  EXPECT_EQ(addedFor(RolloutState{2, 2, false, "Deployment a: ImagePullBackOff"}),
            "sluice.dev/Available True Available: 2 of 2 Pods serve")
      << "the earlier ones go on";
  EXPECT_EQ(addedFor(std::nullopt), "sluice.dev/Available Unknown Pending");
}

TEST(PodConditions, MakeAGatewayWithoutPodsUnprogrammed) {
  EXPECT_EQ(addedFor(RolloutState{2, 0, false, ""}),
            "sluice.dev/Available False PodsMissing: 0 of 2 Pods serve\n"
            "Programmed False NoResources: no Pod of the Gateway serves");
  EXPECT_EQ(addedFor(RolloutState{2, 0, false, "Deployment a: ImagePullBackOff"}),
            "sluice.dev/Available False PodsMissing: 0 of 2 Pods serve\n"
            "Programmed False NoResources: no Pod of the Gateway serves: Deployment a: ImagePullBackOff");
  EXPECT_EQ(addedFor(RolloutState{0, 0, true, ""}),
            "sluice.dev/Available False PodsMissing: 0 of 0 Pods serve\n"
            "Programmed False NoResources: no Pod of the Gateway serves");
  EXPECT_EQ(addedFor(RolloutState{2, 0, false, ""},
                     {"Programmed", ConditionStatus::kFalse, "Invalid", "none of its listeners is served", 7}),
            "sluice.dev/Available False PodsMissing: 0 of 2 Pods serve")
      << "its own fault comes first";
  const std::vector<Condition> added =
      podConditions({{"Programmed", ConditionStatus::kTrue, "Programmed", "", 7}}, RolloutState{2, 0, false, ""});
  EXPECT_EQ(added.at(1).observedGeneration, 7);
}

TEST(PodConditions, JoinTheFaultsOfPodsToThoseOfObjects) {
  const RolloutState failing{2, 2, false, "Deployment a: FailedCreate: exceeded quota"};
  const Condition good{"sluice.dev/Provisioned", ConditionStatus::kTrue, "Provisioned", "", {}};
  const Condition refused{"sluice.dev/Provisioned", ConditionStatus::kFalse, "NotProvisioned", "Service s: no", {}};
  const Condition pending{"sluice.dev/Provisioned", ConditionStatus::kUnknown, "Pending", "", {}};
  EXPECT_EQ(shortText({withFaultOf(failing, good)}),
            "sluice.dev/Provisioned False PodsFailing: Deployment a: FailedCreate: exceeded quota");
  EXPECT_EQ(shortText({withFaultOf(failing, refused)}), shortText({refused}));
  EXPECT_EQ(shortText({withFaultOf(failing, pending)}), shortText({pending}));
  EXPECT_EQ(shortText({withFaultOf({2, 0, false, ""}, good)}), shortText({good}));
}

}  // namespace
}  // namespace sluice::kubernetes
