#include "proxy/kubernetes/status/reported_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proxy/content/json.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using config::ConditionStatus;
using testing::HasSubstr;
using testing::Not;

/// A Backend that is good as far as a controller knows.
config::ObjectStatus goodBackend(const std::string& nameSpace = "team") {
  config::ControllerStatus controller;
  controller.conditions = {{"Accepted", ConditionStatus::kTrue, "Accepted", "", 4},
                           {"Available", ConditionStatus::kTrue, "Available", "", 4},
                           {"extension.sluice.dev/key", ConditionStatus::kTrue, "ExtensionPending", "not asked", 4}};
  config::ObjectStatus status;
  status.kind = "Backend";
  status.nameSpace = nameSpace;
  status.name = "api";
  status.shape = config::StatusShape::kControllers;
  status.controllers.push_back(std::move(controller));
  return status;
}

FailedObject unreachableApi(const std::string& nameSpace = "team") {
  FailedObject failed{"Backend", nameSpace, "api", "", "Unreachable", "api.test:443 takes no connections"};
  failed.type = "Available";
  failed.generation = 4;
  failed.served = true;
  return failed;
}

FailedObject pendingKey() {
  FailedObject failed = unreachableApi();
  failed.type = "extension.sluice.dev/key";
  failed.reason = "ExtensionPending";
  return failed;
}

/// Replicas of Gateway demo/egress, which reaches namespace team, and of tenant/own, which reaches nothing else.
class ReportedBy : public ::testing::Test {
 protected:
  ReportedBy() { replicas.trust({"sluice-system", {{"demo/egress", {}}, {"tenant/own", {}}}}); }
  void see(const std::string& name, const std::vector<FailedObject>& failed, const std::string& gateway = "demo/egress",
           std::size_t listedInAll = 0) {
    ReplicaReport report;
    report.replica = name;
    report.nameSpace = gateway.substr(0, gateway.find('/'));
    report.gateway = gateway;
    report.failed = failed;
    report.listedInAll = listedInAll;
    const auto lease = content::parseJson(replicaLease(report, base::someTime(++renewals_ * std::chrono::seconds(1))));
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE(replicas.see(*lease, now).ok());
  }
  config::ObjectStatus merged(config::ObjectStatus compiled = goodBackend()) const {
    const auto shared = std::make_shared<const config::ObjectStatus>(std::move(compiled));
    return *ReportedConditions(replicas, reach, now).merged(shared);
  }
  /// Returns a condition of a Backend as "True Reason: message"; empty if it has none.
  std::string conditionOf(std::string_view type, const config::ObjectStatus& backend) const {
    const config::Condition* found = config::findCondition(backend.controllers.at(0).conditions, type);
    if (found == nullptr) return "";
    EXPECT_EQ(found->observedGeneration, 4);
    return std::string(config::conditionStatusName(found->status)) + " " + found->reason + ": " + found->message;
  }
  std::string conditionOf(std::string_view type) const { return conditionOf(type, merged()); }

  const base::MonotonicTime now{std::chrono::hours(1)};
  ReplicaReports replicas;
  ReachOfGateways reach{{{"demo/egress", {"demo", "team"}}, {"tenant/own", {"tenant"}}}};

 private:
  int renewals_ = 0;
};

TEST_F(ReportedBy, AllReplicasMakesAConditionBad) {
  see("a", {unreachableApi()});
  see("b", {unreachableApi()});
  EXPECT_EQ(
      conditionOf("Available"),
      "False Unreachable: 2 of 2 replicas fail: 2 of another namespace. One says: api.test:443 takes no connections");
  EXPECT_EQ(conditionOf("Degraded"), "");
  EXPECT_EQ(conditionOf("Accepted"), "True Accepted: ");
}

TEST_F(ReportedBy, SomeReplicasMakesTheObjectDegraded) {
  see("a", {unreachableApi()});
  see("b", {});
  EXPECT_EQ(conditionOf("Available"), "True Available: ");
  EXPECT_THAT(conditionOf("Degraded"), HasSubstr("True Unreachable: 1 of 2 replicas fail: "));
  EXPECT_EQ(merged().controllers[0].conditions.back().type, "extension.sluice.dev/key")
      << "conditions of single uses are the first to be left out";
  see("a", {});
  EXPECT_EQ(conditionOf("Degraded"), "") << "it has recovered";
}

TEST_F(ReportedBy, AReplicaThatIsGoneDoesNotCount) {
  see("a", {unreachableApi()});
  ASSERT_THAT(conditionOf("Available"), HasSubstr("False"));
  replicas.forget(now + kReportDuration);
  EXPECT_EQ(conditionOf("Available"), "True Available: ");
}

TEST_F(ReportedBy, AtMostFiveReplicasAreNamed) {
  reach.nameSpaces["demo/egress"] = {"demo"};
  for (int i = 0; i < 7; ++i) see("r" + std::to_string(i), {unreachableApi("demo")});
  EXPECT_THAT(
      conditionOf("Available", merged(goodBackend("demo"))),
      HasSubstr("7 of 7 replicas fail: demo/r0, demo/r1, demo/r2, demo/r3, demo/r4 and 2 more. demo/r0 says: "));
}

TEST_F(ReportedBy, TheReplicasOfAGatewayIsBelievedOnlyWhereItReaches) {
  see("forger", {unreachableApi()}, "tenant/own");
  EXPECT_EQ(conditionOf("Available"), "True Available: ");
  see("a", {unreachableApi()});
  EXPECT_THAT(conditionOf("Available"), HasSubstr("1 of 1 replica fails")) << "other Gateways do not use it";
  FailedObject other{"Gateway", "demo", "other", "", "AddressNotUsable", "forged"};
  other.type = "Programmed";
  see("a", {other});
  config::ObjectStatus gateway;
  gateway.kind = "Gateway";
  gateway.nameSpace = "demo";
  gateway.name = "other";
  gateway.shape = config::StatusShape::kGateway;
  gateway.conditions = {{"Programmed", ConditionStatus::kTrue, "Programmed", "", 4}};
  EXPECT_EQ(merged(gateway).conditions.at(0).status, ConditionStatus::kTrue);
  gateway.name = "egress";
  other.name = "egress";
  see("a", {other});
  EXPECT_EQ(merged(gateway).conditions.at(0).status, ConditionStatus::kFalse);
}

TEST_F(ReportedBy, ThePlatformIsBelievedEverywhereIfTheControllerRunsNoPods) {
  ReplicaReport home;
  home.replica = "r";
  home.nameSpace = "sluice-system";
  home.failed = {unreachableApi("elsewhere")};
  const auto lease = content::parseJson(replicaLease(home, base::someTime()));
  ASSERT_TRUE(replicas.see(*lease, now).ok());
  EXPECT_THAT(conditionOf("Available", merged(goodBackend("elsewhere"))), HasSubstr("True"));
  reach.home = "sluice-system";
  EXPECT_THAT(conditionOf("Available", merged(goodBackend("elsewhere"))), HasSubstr("False Unreachable"));
  see("forger", {unreachableApi()}, "tenant/own");
  EXPECT_EQ(conditionOf("Available"), "True Available: ");
}

TEST_F(ReportedBy, WhatTheControllerFindsByItselfStays) {
  see("a", {unreachableApi()});
  config::ObjectStatus refused = goodBackend();
  refused.controllers[0].conditions[1] = {"Available", ConditionStatus::kFalse, "Invalid", "its own words", 4};
  EXPECT_EQ(conditionOf("Available", merged(refused)), "False Invalid: its own words");
}

TEST_F(ReportedBy, OtherReasonsAreLeftToTheController) {
  FailedObject stale = unreachableApi();
  stale.reason = "BackendNotFound";
  see("a", {stale});
  EXPECT_EQ(conditionOf("Available"), "True Available: ");
  stale.reason = "Unreachable";
  stale.generation = 3;
  see("a", {stale});
  EXPECT_EQ(conditionOf("Available"), "True Available: ") << "it is about an earlier version of the object";
}

TEST_F(ReportedBy, AUseIsActiveOnceNoReplicaWaitsForItsServer) {
  EXPECT_THAT(conditionOf("extension.sluice.dev/key"), HasSubstr("True ExtensionPending")) << "there are no replicas";
  see("a", {pendingKey()});
  see("b", {});
  EXPECT_EQ(conditionOf("extension.sluice.dev/key"), "True ExtensionPending: not asked");
  see("a", {});
  EXPECT_EQ(conditionOf("extension.sluice.dev/key"), "True ExtensionActive: its server answers");
  see("c", {}, "demo/egress", 3);
  EXPECT_EQ(conditionOf("extension.sluice.dev/key"), "True ExtensionPending: not asked")
      << "the report of c has no room for all";
}

TEST_F(ReportedBy, AListenerThatSomeReplicasCannotServeDegradesItsGateway) {
  FailedObject unread{"Gateway", "demo", "egress", "", "InvalidCertificateRef", "Secret demo/tls is forbidden"};
  unread.type = "ResolvedRefs";
  unread.part = "listener https";
  see("a", {unread});
  see("b", {});
  config::ObjectStatus gateway;
  gateway.kind = "Gateway";
  gateway.nameSpace = "demo";
  gateway.name = "egress";
  gateway.shape = config::StatusShape::kGateway;
  gateway.listeners.resize(1);
  gateway.listeners[0].name = "https";
  gateway.listeners[0].conditions = {{"ResolvedRefs", ConditionStatus::kTrue, "ResolvedRefs", "", 4}};
  const config::ObjectStatus some = merged(gateway);
  ASSERT_EQ(some.conditions.size(), 1u);
  EXPECT_EQ(some.conditions[0].type, "Degraded");
  EXPECT_EQ(some.conditions[0].message,
            "listener https: 1 of 2 replicas fail: demo/a. demo/a says: Secret demo/tls is forbidden");
  EXPECT_EQ(some.listeners[0].conditions[0].status, ConditionStatus::kTrue);
  see("b", {unread});
  EXPECT_EQ(merged(gateway).listeners[0].conditions[0].status, ConditionStatus::kFalse);
  EXPECT_TRUE(merged(gateway).conditions.empty());
}

TEST_F(ReportedBy, AReplicaNoTypeIsAddedThatTheObjectDoesNotHave) {
  FailedObject invented = unreachableApi();
  invented.type = "Invented";
  see("a", {invented});
  EXPECT_EQ(conditionOf("Invented"), "");
  EXPECT_THAT(conditionOf("Degraded"), HasSubstr("True Unreachable"));
}

TEST_F(ReportedBy, NobodyLeavesTheStatusItself) {
  const auto compiled = std::make_shared<const config::ObjectStatus>(goodBackend());
  EXPECT_EQ(ReportedConditions(replicas, reach, now).merged(compiled), compiled);
  EXPECT_FALSE(ReportedConditions(replicas, reach, now).concern(*compiled));
}

}  // namespace
}  // namespace sluice::kubernetes
