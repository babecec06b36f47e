#include "proxy/kubernetes/lease/failed_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::kubernetes {
namespace {

using config::ConditionStatus;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A route with one parent whose conditions are these.
config::ObjectStatus failingRoute(const std::string& nameSpace, const std::string& name,
                                  std::vector<config::Condition> conditions) {
  config::ParentStatus parent;
  parent.parentRef.object.name = "egress";
  parent.conditions = std::move(conditions);
  config::ObjectStatus status;
  status.kind = "HTTPRoute";
  status.nameSpace = nameSpace;
  status.name = name;
  status.shape = config::StatusShape::kParents;
  status.revision = "r9";
  status.parents.push_back(std::move(parent));
  return status;
}

config::Condition invalid() { return {"Accepted", ConditionStatus::kFalse, "UnsupportedValue", "odd", 7}; }
config::Condition unreachable() { return {"Available", ConditionStatus::kFalse, "Unreachable", "api.test:443", 7}; }
config::Condition awaited() {
  return {"extension.sluice.dev/key", ConditionStatus::kTrue, "ExtensionPending", "not asked yet", 7};
}

std::vector<std::string> namesOfFailed(const FailedObjects& all) {
  std::vector<std::string> names;
  for (const FailedObject& each : all.failed) names.push_back(each.nameSpace + "/" + each.name);
  return names;
}

TEST(FailedObjects, AreThoseThatAreNotServedAsTheyAreWritten) {
  const FailedObjects all =
      failedObjectsOf({failingRoute("demo", "good", {}), failingRoute("demo", "web", {invalid()})});
  ASSERT_THAT(all.failed, SizeIs(1));
  FailedObject expected{"HTTPRoute", "demo", "web", "r9", "UnsupportedValue", "odd", "Accepted", "parent egress", 7};
  EXPECT_EQ(all.failed[0], expected);
  EXPECT_EQ(all.failedInAll, 1u);
}

TEST(FailedObjects, ThatAreServedWithErrorsAreListedIfThatDependsOnTheReplica) {
  const config::Condition gone{"ResolvedRefs", ConditionStatus::kFalse, "BackendNotFound", "gone", 7};
  EXPECT_THAT(failedObjectsOf({failingRoute("demo", "web", {gone})}).failed, IsEmpty()) << "the controller knows";
  const config::Condition unread{"ResolvedRefs", ConditionStatus::kFalse, "InvalidCertificateRef", "forbidden", 7};
  const FailedObjects all = failedObjectsOf({failingRoute("demo", "web", {unread, unreachable(), awaited()})});
  ASSERT_THAT(all.failed, SizeIs(3));
  for (const FailedObject& each : all.failed) EXPECT_TRUE(each.served) << each.reason;
  EXPECT_EQ(all.failedInAll, 0u);
  EXPECT_EQ(all.listedInAll, 3u);
  EXPECT_EQ(all.failed[2].reason, "ExtensionPending") << "it is the least of them";
}

TEST(FailedObjects, TheWorstComeFirstAndNamespacesTakeTurns) {
  const FailedObjects all = failedObjectsOf(
      {failingRoute("a", "0", {awaited()}), failingRoute("a", "1", {unreachable()}),
       failingRoute("a", "2", {invalid()}), failingRoute("a", "3", {invalid()}), failingRoute("a", "4", {invalid()}),
       failingRoute("b", "5", {invalid()}), failingRoute("b", "6", {unreachable()})});
  EXPECT_THAT(namesOfFailed(all), ElementsAre("a/2", "b/5", "a/3", "a/4", "a/1", "b/6", "a/0"));
}

TEST(FailedObjects, OfOneNamespaceLeaveRoomForThoseOfOthers) {
  config::StatusList statuses;
  for (int i = 0; i < 3000; ++i)
    statuses.push_back(failingRoute("flood", std::to_string(i), {invalid(), unreachable()}));
  statuses.push_back(failingRoute("victim", "web", {invalid()}));
  const FailedObjects all = failedObjectsOf(statuses);
  EXPECT_THAT(all.failed, SizeIs(ReplicaReport::kMostFailed));
  EXPECT_THAT(namesOfFailed(all), testing::Contains("victim/web"));
  EXPECT_EQ(all.failedInAll, 3001u);
  EXPECT_EQ(all.listedInAll, 6001u);
}

TEST(FailedObjects, HaveFewConditionsEach) {
  std::vector<config::Condition> many;
  for (int i = 0; i < 8; ++i) many.push_back({"T" + std::to_string(i), ConditionStatus::kFalse, "Invalid", "", 7});
  EXPECT_THAT(failedObjectsOf({failingRoute("demo", "web", many)}).failed, SizeIs(FailedObjects::kMostOfObject));
}

}  // namespace
}  // namespace sluice::kubernetes
