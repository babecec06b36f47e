#include "proxy/kubernetes/status/rollback_statuses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sluice::kubernetes {
namespace {

using config::ConditionStatus;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kRollbackGroup = "gateway.networking.k8s.io";

config::ObjectStatus rollbackGateway(const std::string& name, ConditionStatus programmed, std::int64_t generation) {
  config::ObjectStatus status;
  status.group = kRollbackGroup;
  status.kind = "Gateway";
  status.nameSpace = "demo";
  status.name = name;
  status.shape = config::StatusShape::kGateway;
  status.conditions = {{"Accepted", programmed, "Accepted", "", generation},
                       {"Programmed", programmed, "Programmed", "", generation}};
  status.listeners.push_back({.name = "web", .attachedRoutes = 2, .supportedKinds = {}, .conditions = {}});
  status.addresses.push_back({"IPAddress", "192.0.2.1"});
  return status;
}

config::ObjectStatus rollbackClass(ConditionStatus accepted) {
  config::ObjectStatus status;
  status.group = kRollbackGroup;
  status.kind = "GatewayClass";
  status.name = "egress";
  status.conditions = {{"Accepted", accepted, "InvalidParameters", "workers must be a number", 4}};
  return status;
}

control::Revisions refusedRevisions(const std::string& object = {}) {
  control::Revisions revisions;
  revisions.desired = "new";
  revisions.served = "old";
  revisions.standing = control::Standing::kRefused;
  config::Problem problem;
  problem.object = object;
  problem.message = "it is wrong";
  revisions.problems = std::make_shared<const config::Problems>(1, problem);
  return revisions;
}

TEST(RollbackStatuses, AreThoseOfTheServedConfiguration) {
  const config::StatusList served{rollbackClass(ConditionStatus::kTrue),
                                  rollbackGateway("egress", ConditionStatus::kTrue, 3),
                                  rollbackGateway("deleted", ConditionStatus::kTrue, 1)};
  const config::StatusList newest{rollbackClass(ConditionStatus::kFalse),
                                  rollbackGateway("egress", ConditionStatus::kFalse, 5),
                                  rollbackGateway("new", ConditionStatus::kFalse, 1)};
  const config::StatusList shown = rollbackStatuses(served, newest);
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown.shared(0), newest.shared(0)) << "the class shows its own fault";
  EXPECT_EQ(shown.shared(1), served.shared(1));
  EXPECT_EQ(shown[2].name, "new");
  EXPECT_EQ(shown[2].conditions.at(0).status, ConditionStatus::kUnknown);
  EXPECT_EQ(shown[2].conditions.at(0).reason, "Pending");
  EXPECT_EQ(shown[2].conditions.at(0).observedGeneration, 1);
  EXPECT_EQ(shown[2].conditions.at(1).type, "Programmed");
  EXPECT_THAT(shown[2].addresses, IsEmpty());
}

TEST(RollbackStatuses, AreThoseOfTheNewestConfigurationIfThereWasNoGoodOne) {
  const config::StatusList newest{rollbackClass(ConditionStatus::kFalse),
                                  rollbackGateway("egress", ConditionStatus::kFalse, 1)};
  EXPECT_EQ(rollbackStatuses({}, newest).shared(1), newest.shared(1));
}

TEST(RollbackStatuses, OfPartsAreUnknownOneByOneIfTheyAreNotServed) {
  config::ObjectStatus route;
  route.group = kRollbackGroup;
  route.kind = "HTTPRoute";
  route.name = "web";
  route.shape = config::StatusShape::kParents;
  route.parents.resize(2);
  for (config::ParentStatus& each : route.parents)
    each.conditions = {{"Accepted", ConditionStatus::kFalse, "NoMatchingParent", "", 2}};
  config::ObjectStatus backend;
  backend.kind = "Backend";
  backend.shape = config::StatusShape::kControllers;
  backend.controllers.resize(1);
  const config::StatusList shown =
      rollbackStatuses({rollbackGateway("egress", ConditionStatus::kTrue, 3)}, {route, backend});
  for (const config::ParentStatus& each : shown[0].parents) EXPECT_EQ(each.conditions.at(0).reason, "Pending");
  EXPECT_EQ(shown[1].controllers.at(0).conditions.at(0).reason, "Pending");
}

TEST(RefusedRevision, HasTheReasonOfTheClass) {
  const RefusedRevision revision =
      refusedRevision(refusedRevisions("HTTPRoute tenant/web"), {rollbackClass(ConditionStatus::kFalse)});
  const config::Condition degraded = degradedBy(revision, "demo");
  EXPECT_EQ(degraded.reason, "Rollback");
  EXPECT_EQ(
      degraded.message,
      "revision new is refused: GatewayClass egress: InvalidParameters: workers must be a number; revision old is "
      "served");
}

TEST(RefusedRevision, IsToldToItsOwnNamespaceAlone) {
  const RefusedRevision revision =
      refusedRevision(refusedRevisions("HTTPRoute tenant/web"), {rollbackClass(ConditionStatus::kTrue)});
  EXPECT_THAT(degradedBy(revision, "tenant").message, HasSubstr("HTTPRoute tenant/web: it is wrong"));
  EXPECT_THAT(degradedBy(revision, "demo").message, Not(HasSubstr("tenant")));
  EXPECT_THAT(degradedBy(refusedRevision(refusedRevisions(), {}), "demo").message, HasSubstr("it is wrong"));
}

TEST(RefusedRevision, IsARollbackThatFailedIfThereIsNoGoodOne) {
  control::Revisions revisions = refusedRevisions();
  revisions.served.clear();
  EXPECT_EQ(degradedBy(refusedRevision(revisions, {}), "demo").reason, "RollbackFailed");
}

}  // namespace
}  // namespace sluice::kubernetes
