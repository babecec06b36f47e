// Tests that reports of replicas become conditions of routes and Gateways.
#include "proxy/kubernetes/status/fleet_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "proxy/content/json.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using config::ConditionStatus;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFleetApiGroup = "gateway.networking.k8s.io";

config::ObjectStatus fleetRouteStatus(ConditionStatus accepted = ConditionStatus::kTrue) {
  config::ParentStatus parent;
  parent.parentRef.object.group = kFleetApiGroup;
  parent.parentRef.object.kind = "Gateway";
  parent.parentRef.object.name = "egress";
  parent.conditions.push_back({"Accepted", accepted, "Accepted", "", 7});
  config::ObjectStatus status;
  status.group = kFleetApiGroup;
  status.kind = "HTTPRoute";
  status.nameSpace = "demo";
  status.name = "web";
  status.shape = config::StatusShape::kParents;
  status.parents.push_back(std::move(parent));
  return status;
}

config::ObjectStatus fleetGatewayStatus() {
  config::ObjectStatus status;
  status.group = kFleetApiGroup;
  status.kind = "Gateway";
  status.nameSpace = "demo";
  status.name = "egress";
  status.shape = config::StatusShape::kGateway;
  status.conditions.push_back({"Accepted", ConditionStatus::kTrue, "Accepted", "", 3});
  return status;
}

/// A controller that has compiled route demo/web, which changed at version 100, and Gateway demo/egress.
class FleetConditionsOf : public ::testing::Test, private FleetFacts {
 protected:
  FleetConditionsOf() { replicas.trust({"sluice-system", {{"demo/egress", {}}}}); }
  static ReplicaReport reportOf(const std::string& replica, std::uint64_t seen) {
    ReplicaReport report;
    report.replica = replica;
    report.nameSpace = "demo";
    report.gateway = "demo/egress";
    report.seen["HTTPRoute"] = seen;
    return report;
  }
  void see(const ReplicaReport& report) {
    const auto lease = content::parseJson(replicaLease(report, base::someTime(++renewals_ * std::chrono::seconds(1))));
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE(replicas.see(*lease, now).ok());
  }
  config::StatusList apply() {
    config::StatusList all = compiled;
    for (std::size_t i = 0; i < compiled.size(); ++i) {
      const FleetStatus before = last.at(i);
      const bool holds = before.compiled == compiled.shared(i) && stillHolds(i);
      const ReportedConditions reported(replicas, reached, now);
      last.at(i) =
          withFleetConditions(compiled.shared(i), before, {*this, reported, refused ? &*refused : nullptr, now});
      if (holds && i == 0) {
        EXPECT_EQ(last.at(i).status, before.status) << "it was not to change";
      }
      all.replace(i, last.at(i).status);
    }
    return all;
  }
  bool stillHolds(std::size_t index) { return ServedRoutes(replicas, now).stillHold(last.at(index)); }
  bool isRouteAwaited() {
    apply();
    EXPECT_FALSE(last[1].awaited);
    return last[0].awaited;
  }
  /// Returns the conditions of the route's one parent.
  config::Condition programmed() {
    const config::StatusList all = apply();
    const config::Condition* found = config::findCondition(all[0].parents.at(0).conditions, "sluice.dev/Programmed");
    return found == nullptr ? config::Condition() : *found;
  }
  /// Returns the reason of the Gateway's Degraded; empty if it has none.
  std::string degraded() {
    const config::StatusList all = apply();
    const config::Condition* found = config::findCondition(all[1].conditions, "Degraded");
    if (found == nullptr) return "";
    EXPECT_EQ(found->status, ConditionStatus::kTrue);
    EXPECT_EQ(found->observedGeneration, 3);
    return found->reason;
  }

  const base::MonotonicTime now{std::chrono::hours(1)};
  config::StatusList compiled{fleetRouteStatus(), fleetGatewayStatus()};
  ReplicaReports replicas;
  std::vector<config::Condition> ofGateway;      // its further conditions
  std::vector<config::AddressStatus> addresses;  // that replace those of the Gateway
  std::optional<RefusedRevision> refused;
  ReachOfGateways reached{{{"demo/egress", {"demo"}}}};
  std::array<FleetStatus, 2> last;

 private:
  const ReplicaReports& reports() const override { return replicas; }
  const ReachOfGateways& reach() const override { return reached; }
  std::uint64_t changedAt(const config::ObjectStatus& object) const override {
    return object.kind == "HTTPRoute" ? 100 : 0;
  }
  std::vector<config::Condition> conditionsOf(const config::ObjectStatus&) const override { return ofGateway; }
  std::vector<config::AddressStatus> addressesOf(const config::ObjectStatus&) const override { return addresses; }

  int renewals_ = 0;
};

TEST_F(FleetConditionsOf, ARouteAreUnknownWithoutReplicas) {
  EXPECT_EQ(programmed().status, ConditionStatus::kUnknown);
  EXPECT_EQ(programmed().reason, "NoReplicas");
  EXPECT_EQ(degraded(), "");
}

TEST_F(FleetConditionsOf, ARouteArePendingUntilAllReplicasServeItsNewestVersion) {
  see(reportOf("a", 100));
  see(reportOf("b", 99));
  EXPECT_EQ(programmed().status, ConditionStatus::kUnknown);
  EXPECT_EQ(programmed().reason, "Pending");
  EXPECT_TRUE(isRouteAwaited());
  see(reportOf("b", 101));
  EXPECT_FALSE(isRouteAwaited());
  EXPECT_EQ(programmed().status, ConditionStatus::kTrue);
  EXPECT_EQ(programmed().reason, "Programmed");
  EXPECT_EQ(programmed().observedGeneration, 7);
}

TEST_F(FleetConditionsOf, ARouteNameTheReplicaThatCannotServeIt) {
  see(reportOf("a", 100));
  ReplicaReport failing = reportOf("b", 100);
  failing.failed.push_back({"HTTPRoute", "demo", "web", "r", "Invalid", "a bad filter"});
  see(failing);
  EXPECT_EQ(programmed().status, ConditionStatus::kFalse);
  EXPECT_EQ(programmed().reason, "SomeReplicasFailing");
  EXPECT_THAT(programmed().message, HasSubstr("demo/b"));
  EXPECT_THAT(programmed().message, HasSubstr("a bad filter"));
  failing.failed.front().name = "other";
  see(failing);
  EXPECT_EQ(programmed().status, ConditionStatus::kTrue) << "another route fails";
}

TEST_F(FleetConditionsOf, ARouteLeaveOutReplicasOfOtherGateways) {
  see(reportOf("a", 100));
  ReplicaReport other = reportOf("b", 1);
  other.gateway = "demo/ingress";
  other.state = control::ConfigState::kRollback;
  see(other);
  EXPECT_EQ(programmed().status, ConditionStatus::kTrue);
  EXPECT_EQ(degraded(), "");
  other.gateway = "";
  see(other);
  EXPECT_EQ(programmed().reason, "Pending") << "it serves all Gateways";
}

TEST_F(FleetConditionsOf, AnObjectNameNoReplicasOfOtherNamespaces) {
  see(reportOf("a", 100));
  for (const char* gateway : {"demo/egress", ""}) {
    ReplicaReport forged = reportOf("forged", 1);
    forged.nameSpace = "tenant";
    forged.gateway = gateway;
    forged.state = control::ConfigState::kRollback;
    forged.problem = "call 555";
    forged.failed.push_back({"HTTPRoute", "demo", "web", "r", "Invalid", "call 555"});
    see(forged);
    EXPECT_EQ(programmed().status, ConditionStatus::kTrue) << programmed().message;
    EXPECT_EQ(degraded(), "");
  }
}

TEST_F(FleetConditionsOf, AGatewaySayWhetherSomeOrAllReplicasFail) {
  see(reportOf("a", 100));
  ReplicaReport failing = reportOf("b", 100);
  failing.state = control::ConfigState::kRollback;
  see(failing);
  EXPECT_EQ(degraded(), "SomeReplicasFailing");
  failing.replica = "a";
  see(failing);
  EXPECT_EQ(degraded(), "AllReplicasFailing");
  see(reportOf("a", 100));
  see(reportOf("b", 100));
  EXPECT_EQ(degraded(), "");
}

TEST_F(FleetConditionsOf, AGatewayHaveItsFurtherConditionsAsLongAsTheyLast) {
  ofGateway = {{"sluice.dev/Provisioned", ConditionStatus::kFalse, "NotProvisioned", "it is refused", {}},
               {"sluice.dev/RolledBack", ConditionStatus::kTrue, "RevisionActive", "an older one is served", {}}};
  const config::StatusList both = apply();
  const config::Condition* provisioned = config::findCondition(both[1].conditions, "sluice.dev/Provisioned");
  ASSERT_NE(provisioned, nullptr);
  EXPECT_EQ(provisioned->message, "it is refused");
  EXPECT_EQ(provisioned->observedGeneration, 3);
  EXPECT_NE(config::findCondition(both[1].conditions, "sluice.dev/RolledBack"), nullptr);
  EXPECT_EQ(apply().shared(1), both.shared(1));
  ofGateway.pop_back();
  const config::StatusList one = apply();
  EXPECT_NE(config::findCondition(one[1].conditions, "sluice.dev/Provisioned"), nullptr);
  EXPECT_EQ(config::findCondition(one[1].conditions, "sluice.dev/RolledBack"), nullptr);
}

TEST_F(FleetConditionsOf, ObjectsAreSharedWithTheLastCallIfNothingHasChanged) {
  see(reportOf("a", 100));
  const config::StatusList first = apply();
  see(reportOf("a", 105));
  const config::StatusList second = apply();
  EXPECT_EQ(first.shared(0), second.shared(0));
  EXPECT_EQ(second.shared(1), compiled.shared(1)) << "nothing is added";
  see(reportOf("b", 1));
  EXPECT_NE(apply().shared(0), second.shared(0));
  EXPECT_EQ(compiled[0].parents.at(0).conditions.size(), 1u) << "what was compiled stays as it is";
}

TEST_F(FleetConditionsOf, AGatewaySaysWhichRevisionIsRefusedAndWhichReplicasRefuseTheirs) {
  const auto messageOf = [this] { return config::findCondition(apply()[1].conditions, "Degraded")->message; };
  refused = RefusedRevision{"new", "old", "GatewayClass egress: InvalidParameters: workers must be a number", "", true};
  const std::string own =
      "revision new is refused: GatewayClass egress: InvalidParameters: workers must be a number; revision old is "
      "served";
  see(reportOf("a", 100));
  EXPECT_EQ(degraded(), "Rollback") << "it is the controller's own verdict";
  EXPECT_EQ(messageOf(), own);
  ReplicaReport failing = reportOf("b", 100);
  failing.state = control::ConfigState::kRollback;
  failing.served = "older";
  see(failing);
  EXPECT_EQ(degraded(), "SomeReplicasFailing");
  EXPECT_THAT(messageOf(), HasSubstr(own + ". 1 of 2 replicas fail: demo/b. demo/b says: "));
  EXPECT_EQ(programmed().status, ConditionStatus::kTrue) << "the route is served";
  refused->served.clear();
  EXPECT_THAT(messageOf(), HasSubstr("revision older is served"))
      << "this controller has no good one, but a replica has";
  ASSERT_TRUE(replicas.remove("demo", replicaLeaseName("a")));
  ASSERT_TRUE(replicas.remove("demo", replicaLeaseName("b")));
  EXPECT_EQ(degraded(), "RollbackFailed");
}

TEST_F(FleetConditionsOf, AnObjectHasWhatReplicasReportAboutIt) {
  see(reportOf("a", 100));
  ReplicaReport away = reportOf("b", 100);
  away.failed.push_back({"HTTPRoute", "demo", "web", "r", "ExtensionUnavailable", "its server fails"});
  away.failed.back().type = "extension.sluice.dev/key";
  away.failed.back().part = "parent egress";
  see(away);
  const config::StatusList first = apply();
  const config::Condition* degraded = config::findCondition(first[0].parents.at(0).conditions, "Degraded");
  ASSERT_NE(degraded, nullptr);
  EXPECT_EQ(degraded->reason, "ExtensionUnavailable");
  EXPECT_EQ(first[0].parents[0].conditions.back().type, "sluice.dev/Programmed");
  EXPECT_EQ(apply().shared(0), first.shared(0)) << "equal statuses are shared";
  EXPECT_FALSE(stillHolds(0)) << "the next report may be another one";
  see(reportOf("b", 100));
  EXPECT_EQ(config::findCondition(apply()[0].parents.at(0).conditions, "Degraded"), nullptr);
}

TEST_F(FleetConditionsOf, ARouteThatAllReplicasServeHoldsAsLongAsTheyDo) {
  apply();
  EXPECT_FALSE(stillHolds(0)) << "nobody reports";
  see(reportOf("a", 100));
  see(reportOf("b", 99));
  apply();
  EXPECT_FALSE(stillHolds(0)) << "one has not seen it";
  see(reportOf("b", 120));
  EXPECT_FALSE(stillHolds(0)) << "it was not served";
  apply();
  EXPECT_TRUE(stillHolds(0));
  see(reportOf("c", 100));
  EXPECT_TRUE(stillHolds(0));
  see(reportOf("c", 99));
  EXPECT_FALSE(stillHolds(0)) << "a replica that was restored from an older state";
  see(reportOf("c", 121));
  EXPECT_TRUE(stillHolds(0));
  ReplicaReport broken = reportOf("b", 122);
  broken.failed.push_back({"HTTPRoute", "demo", "other", "", "Invalid", "it is wrong"});
  see(broken);
  EXPECT_FALSE(stillHolds(0)) << "the reports have to be read one by one";
}

TEST_F(FleetConditionsOf, ARouteWithoutReplicasDoesNotHoldAnyLonger) {
  see(reportOf("a", 100));
  apply();
  EXPECT_TRUE(stillHolds(0));
  ASSERT_TRUE(replicas.remove("demo", replicaLeaseName("a")));
  EXPECT_FALSE(stillHolds(0));
}

TEST_F(FleetConditionsOf, AGatewayAreBesideTheAddressesOfItsLoadBalancer) {
  config::ObjectStatus gateway = fleetGatewayStatus();
  gateway.addresses = {{"Hostname", "egress.demo.svc"}};
  compiled.replace(1, std::make_shared<const config::ObjectStatus>(gateway));
  EXPECT_EQ(apply()[1].addresses.at(0).value, "egress.demo.svc");
  addresses = {{"IPAddress", "192.0.2.1"}};
  const config::StatusList balanced = apply();
  EXPECT_EQ(balanced[1].addresses, addresses);
  EXPECT_EQ(apply().shared(1), balanced.shared(1)) << "equal statuses are shared";
  ofGateway.push_back({"sluice.dev/Provisioned", ConditionStatus::kTrue, "Provisioned", "", 0});
  EXPECT_EQ(apply()[1].addresses, addresses);
  addresses = {{"Hostname", "lb.example.com"}};
  EXPECT_EQ(apply()[1].addresses, addresses);
  addresses.clear();
  EXPECT_EQ(apply()[1].addresses.at(0).value, "egress.demo.svc");
}

}  // namespace
}  // namespace sluice::kubernetes
