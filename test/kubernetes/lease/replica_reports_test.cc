#include "proxy/kubernetes/lease/replica_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/kubernetes/lease/reported_replicas.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

base::MonotonicTime seenAt(base::Duration time) { return base::MonotonicTime(1h + time); }

/// The reports of replicas a, b and so on that a controller has seen at time 0.
class ReplicaFleet {
 public:
  explicit ReplicaFleet(const std::vector<control::ConfigState>& states = {}) {
    reports_.trust({"sluice-system", {{"demo/egress", {}}, {"demo/other", {}}}});
    for (std::size_t i = 0; i < states.size(); ++i)
      see(reportOfReplica(std::string(1, static_cast<char>('a' + i)), states[i]));
  }
  void see(const ReplicaReport& report, base::Duration time = 0s, std::string_view version = "1") {
    EXPECT_TRUE(reports_.see(leaseOfReplica(report, version), seenAt(time)).ok());
  }
  FleetVerdict verdict(const FleetQuestion& question = {}, base::Duration time = 0s) const {
    return reports_.verdict(question, seenAt(time));
  }
  ReplicaReports& reports() { return reports_; }

 private:
  ReplicaReports reports_;
};

constexpr control::ConfigState kWell = control::ConfigState::kInSync;
constexpr control::ConfigState kRolledBack = control::ConfigState::kRollback;

TEST(ReplicaReports, WithoutReplicasNothingFails) {
  const FleetVerdict verdict = ReplicaFleet().verdict();
  EXPECT_EQ(verdict.failingPercent(), 0);
  EXPECT_EQ(verdict.state, FleetState::kActive);
  EXPECT_EQ(verdict.reason, "NoReplicas");
}

TEST(ReplicaReports, AreDegradedIfSomeReplicasFailAndInErrorIfAllDo) {
  const FleetVerdict good = ReplicaFleet({kWell, kWell}).verdict();
  EXPECT_EQ(fleetStateName(good.state), "Active");
  EXPECT_EQ(good.reason, "ReplicasInSync");
  EXPECT_EQ(good.message, "");
  EXPECT_EQ(good.failingPercent(), 0);
  const FleetVerdict some = ReplicaFleet({kWell, kRolledBack, kWell, control::ConfigState::kRollbackFailed}).verdict();
  EXPECT_EQ(fleetStateName(some.state), "Degraded");
  EXPECT_EQ(some.reason, "SomeReplicasFailing");
  EXPECT_EQ(
      some.message,
      "2 of 4 replicas fail: demo/b, demo/d. demo/b says: it refuses revision new and serves the last good one, old");
  EXPECT_EQ(some.failingPercent(), 50);
  EXPECT_THAT(some.failing, ElementsAre("demo/b", "demo/d"));
  const FleetVerdict all = ReplicaFleet({kRolledBack, kRolledBack}).verdict();
  EXPECT_EQ(fleetStateName(all.state), "Error");
  EXPECT_EQ(all.reason, "AllReplicasFailing");
  EXPECT_EQ(all.failingPercent(), 100);
  EXPECT_THAT(ReplicaFleet({kRolledBack}).verdict().message, testing::StartsWith("1 of 1 replica fails: demo/a."));
  EXPECT_EQ(ReplicaFleet({kRolledBack}).verdict().failingPercent(), 100);
}

TEST(ReplicaReports, RoundNeitherToNoneNorToAll) {
  FleetVerdict verdict;
  verdict.replicas = 1000;
  verdict.failing = {"a"};
  EXPECT_EQ(verdict.failingPercent(), 1);
  verdict.failing.resize(999);
  EXPECT_EQ(verdict.failingPercent(), 99);
}

TEST(ReplicaReports, NameFiveFailingReplicas) {
  std::vector<control::ConfigState> states(11, kRolledBack);
  states.push_back(kWell);
  EXPECT_THAT(ReplicaFleet(states).verdict().message,
              testing::StartsWith("11 of 12 replicas fail: demo/a, demo/b, demo/c, demo/d, demo/e and 6 more. demo/a "
                                  "says: "));
}

TEST(ReplicaReports, JudgeARevisionOnlyByReplicasThatWereGivenIt) {
  ReplicaFleet fleet({kRolledBack, kRolledBack});
  ReplicaReport old = reportOfReplica("c", kRolledBack);
  old.desired = "older";
  fleet.see(old);
  EXPECT_EQ(fleet.verdict({.revision = "new"}).failingPercent(), 66);
  EXPECT_EQ(fleet.verdict({.revision = "older"}).failingPercent(), 33);
  EXPECT_EQ(fleet.verdict({.revision = "old"}).serving, 3u);
  EXPECT_EQ(fleet.verdict({.revision = "new"}).serving, 0u);
  EXPECT_EQ(ReplicaFleet({kWell, kRolledBack}).verdict().serving, 1u);
}

TEST(ReplicaReports, JudgeAnObjectByReplicasThatReportIt) {
  ReplicaFleet fleet({kWell, kRolledBack});
  ReplicaReport report = reportOfReplica("c");
  report.failed = {failedRoute("other"), failedRoute("web", "no such backend")};
  fleet.see(report);
  const FleetVerdict web = fleet.verdict({.object = {"HTTPRoute", "demo", "web"}});
  EXPECT_THAT(web.failing, ElementsAre("demo/c"));
  EXPECT_THAT(web.message, EndsWith("demo/c says: HTTPRoute demo/web: BackendNotFound: no such backend"));
  EXPECT_THAT(fleet.verdict({.object = {"GRPCRoute", "demo", "web"}}).failing, IsEmpty());
  EXPECT_THAT(fleet.verdict({.object = {"HTTPRoute", "x", "web"}}).failing, IsEmpty());
  EXPECT_THAT(fleet.verdict().failing, ElementsAre("demo/b")) << "a rollback is about states alone";
  EXPECT_THAT(fleet.verdict({.anyObject = true}).failing, ElementsAre("demo/b", "demo/c"));
}

TEST(ReplicaReports, NameObjectsOfOtherNamespacesToAGatewayByTheirKindAlone) {
  ReplicaFleet fleet({kWell});
  ReplicaReport report = reportOfReplica("c");
  report.failed = {failedRoute("web", "its Backend vault/key is missing")};
  report.failed[0].nameSpace = "team";
  fleet.see(report);
  const FleetVerdict verdict = fleet.verdict({.gateway = report.gateway, .anyObject = true});
  EXPECT_THAT(verdict.message, EndsWith("demo/c says: an HTTPRoute of another namespace: BackendNotFound"));
  EXPECT_THAT(fleet.verdict({.gateway = report.gateway, .object = {"HTTPRoute", "team", "web"}}).message,
              EndsWith("HTTPRoute team/web: BackendNotFound: its Backend vault/key is missing"))
      << "the route itself is told";
}

TEST(ReplicaReports, NameToAGatewayNoReplicaOfAnotherNamespace) {
  const FleetQuestion aboutGateway{.gateway = "demo/egress"};
  ReplicaReport home = reportOfReplica("sluice-7f9", kRolledBack);
  home.nameSpace = "sluice-system";
  home.gateway = "";
  ReplicaFleet fleet({kWell});
  fleet.see(home);
  EXPECT_EQ(fleet.verdict(aboutGateway).message,
            "1 of 2 replicas fail: 1 of another namespace. One says: it refuses revision new and serves the last good "
            "one, old");
  fleet.see(reportOfReplica("z", kRolledBack));
  EXPECT_THAT(fleet.verdict(aboutGateway).message,
              testing::StartsWith("2 of 3 replicas fail: demo/z and 1 of another namespace. demo/z says: "));
  EXPECT_THAT(fleet.verdict().message, testing::StartsWith("2 of 3 replicas fail: demo/z, sluice-system/sluice-7f9."))
      << "who may read all is told all";
  EXPECT_THAT(fleet.verdict({.gateway = "demo/egress", .namesAll = true}).message,
              testing::StartsWith("2 of 3 replicas fail: demo/z, sluice-system/sluice-7f9."));
  ReplicaReport lost = reportOfReplica("y");
  lost.failed = {failedRoute("web")};
  lost.failed[0].nameSpace = "team";
  fleet.see(lost);
  EXPECT_THAT(fleet.verdict({.gateway = "demo/egress", .object = {"HTTPRoute", "team", "web"}}).message,
              testing::StartsWith("1 of 4 replicas fail: 1 of another namespace. One says: HTTPRoute team/web: "));
}

TEST(ReplicaReports, AreOfOneGatewayOrOfAllOfTheClass) {
  ReplicaFleet fleet({kRolledBack});
  ReplicaReport all = reportOfReplica("b", kRolledBack);
  all.gateway = "";
  fleet.see(all);
  ReplicaReport other = reportOfReplica("c");
  other.gateway = "demo/other";
  other.replicaOf = "other";
  fleet.see(other);
  EXPECT_EQ(fleet.verdict({.gateway = "demo/egress"}).replicas, 2u);
  EXPECT_EQ(fleet.verdict({.gateway = "demo/other"}).failingPercent(), 50);
  EXPECT_EQ(fleet.verdict({.replicaOf = "other"}).replicas, 1u);
  EXPECT_EQ(fleet.verdict().replicas, 3u);
}

TEST(ReplicaReports, ForgetReplicasAfterThreeRenewalsByTheObserversClock) {
  ReplicaFleet fleet({kRolledBack});
  fleet.see(reportOfReplica("b"));
  EXPECT_EQ(fleet.reports().nextEnd(), seenAt(kReportDuration));
  // The same version, listed again, is no renewal. A renewal that changes only the time is one.
  fleet.see(reportOfReplica("a", kRolledBack), 20s, "1");
  fleet.see(reportOfReplica("b"), 20s, "2");
  EXPECT_EQ(fleet.verdict({}, 30s - 1ns).state, FleetState::kDegraded);
  EXPECT_EQ(fleet.verdict({}, 30s).state, FleetState::kActive);
  EXPECT_THAT(fleet.reports().forget(seenAt(30s)), ElementsAre("demo/a"));
  EXPECT_THAT(fleet.reports().forget(seenAt(30s)), IsEmpty());
  EXPECT_EQ(fleet.reports().nextEnd(), seenAt(50s));
  fleet.see(reportOfReplica("a", kRolledBack), 31s, "9");
  EXPECT_EQ(fleet.verdict({}, 31s).state, FleetState::kDegraded) << "it has come back";
  EXPECT_THAT(fleet.reports().forget(seenAt(100s)), SizeIs(2));
  EXPECT_EQ(fleet.reports().nextEnd(), base::MonotonicTime::max());
}

TEST(ReplicaReports, ForgetReplicasWhoseLeaseIsDeleted) {
  ReplicaFleet fleet({kRolledBack, kWell});
  fleet.reports().remove("demo", "sluice-replica-a");
  fleet.reports().remove("demo", "unknown");
  EXPECT_EQ(fleet.verdict().state, FleetState::kActive);
  EXPECT_EQ(fleet.verdict().replicas, 1u);
}

TEST(ReplicaReports, KeepTheLastGoodReportOfAReplica) {
  ReplicaFleet fleet({kRolledBack});
  content::Value broken = leaseOfReplica(reportOfReplica("a"), "2");
  for (content::Member& each : broken.members) {
    if (each.key == "metadata")
      std::erase_if(each.value.members, [](const auto& one) { return one.key == "annotations"; });
  }
  EXPECT_FALSE(fleet.reports().see(broken, seenAt(20s)).ok());
  EXPECT_EQ(fleet.verdict({}, 29s).state, FleetState::kError);
  EXPECT_EQ(fleet.verdict({}, 30s).replicas, 0u);
}

TEST(ReplicaReports, HaveABound) {
  ReplicaFleet fleet;
  for (std::size_t i = 0; i < ReplicaReports::kMost; ++i) fleet.see(reportOfReplica("r" + std::to_string(i)));
  EXPECT_EQ(fleet.reports().dropped(), 0u);
  fleet.see(reportOfReplica("more"));
  EXPECT_EQ(fleet.reports().dropped(), 1u);
  fleet.see(reportOfReplica("r7", kRolledBack), 1s, "2");
  EXPECT_EQ(fleet.reports().dropped(), 1u);
  EXPECT_EQ(fleet.verdict().replicas, ReplicaReports::kMost);
  EXPECT_EQ(fleet.verdict().failingPercent(), 1);
}

/// A report about demo/egress from another namespace, by a replica that refuses its revision.
ReplicaReport forgedReport(const std::string& replica) {
  ReplicaReport forged = reportOfReplica(replica, kRolledBack);
  forged.nameSpace = "tenant";
  return forged;
}

TEST(ReplicaReports, AreTrustedForAGatewayOnlyFromItsNamespaceAndThatOfTheController) {
  ReplicaFleet fleet({kWell});
  fleet.see(forgedReport("b"));
  ReplicaReport all = forgedReport("c");
  all.gateway = "";
  fleet.see(all);
  const FleetQuestion question{.gateway = "demo/egress"};
  EXPECT_EQ(fleet.verdict(question).replicas, 1u);
  EXPECT_EQ(fleet.verdict(question).message, "");
  EXPECT_FALSE(fleet.reports().counts("tenant", "sluice-replica-b"));
  ReplicaReport home = reportOfReplica("d");
  home.nameSpace = "sluice-system";
  home.gateway = "";
  fleet.see(home);
  EXPECT_EQ(fleet.verdict(question).replicas, 2u);
  EXPECT_EQ(fleet.verdict({.gateway = "tenant/own"}).replicas, 1u) << "it is the one beside the controller";
  // The namespace gets a Gateway of its own: reports from now on are valid for that one only.
  fleet.reports().trust({"sluice-system", {{"demo/egress", {}}, {"tenant/own", {}}}});
  EXPECT_EQ(fleet.verdict({.gateway = "tenant/own"}).replicas, 1u);
  fleet.see(forgedReport("b"), 10s, "2");
  fleet.see(all, 10s, "2");
  EXPECT_EQ(fleet.verdict(question).replicas, 2u);
  EXPECT_EQ(fleet.verdict({.gateway = "tenant/own"}).replicas, 2u);
  fleet.reports().trust({"sluice-system", {{"demo/egress", {}}}});
  EXPECT_EQ(fleet.verdict({.gateway = "tenant/own"}).replicas, 1u);
  EXPECT_FALSE(fleet.reports().counts("tenant", "sluice-replica-c"));
}

TEST(ReplicaReports, OfOneNamespaceLeaveRoomForThoseOfAllOthers) {
  constexpr int kForged = 5050;
  ReplicaFleet fleet;
  fleet.reports().trust({"sluice-system", {{"demo/egress", {}}, {"tenant/own", {}}}});
  for (int i = 0; i < kForged; ++i) {
    const std::string number = std::to_string(i);
    fleet.see(forgedReport("about-egress-" + number));
    ReplicaReport own = forgedReport("own-" + number);
    own.gateway = "tenant/own";
    fleet.see(own);
  }
  EXPECT_EQ(fleet.reports().leases().size(), std::size_t{kForged}) << "nothing is kept of those about demo/egress";
  for (int i = 0; i < kForged; ++i) fleet.see(reportOfReplica("r" + std::to_string(i)));
  EXPECT_EQ(fleet.verdict({.gateway = "demo/egress"}).replicas, std::size_t{kForged});
  EXPECT_EQ(fleet.verdict({.gateway = "demo/egress"}).state, FleetState::kActive);
}

/// Reports of replicas of demo/egress and of Gateways t0/g, t1/g and so on.
class CrowdedFleet : public ReplicaFleet {
 public:
  static constexpr std::size_t kCrowds = 4;

  CrowdedFleet() {
    reports().trust({"home", {{"demo/egress", {}}, {"t0/g", {}}, {"t1/g", {}}, {"t2/g", {}}, {"t3/g", {}}}});
  }
  void seeOf(std::size_t crowd, std::size_t number, std::size_t messageBytes = 0, base::Duration time = 0s) {
    ReplicaReport report = reportOfReplica("r" + std::to_string(number));
    report.nameSpace = "t" + std::to_string(crowd);
    report.gateway = report.nameSpace + "/g";
    if (messageBytes > 0) report.failed.assign(50, failedRoute(std::string(messageBytes, 'n')));
    see(report, time);
  }
  std::size_t countOf(std::size_t crowd) {
    std::size_t count = 0;
    for (const auto& [nameSpace, lease] : reports().leases()) count += nameSpace == "t" + std::to_string(crowd) ? 1 : 0;
    return count;
  }
};

TEST(ReplicaReports, OfTheNamespaceThatHasMostGiveWayWhereThereAreTooMany) {
  constexpr std::size_t kOfEach = ReplicaReports::kMostInAll / CrowdedFleet::kCrowds;
  CrowdedFleet fleet;
  for (std::size_t i = 0; i < kOfEach - 10; ++i) {
    for (std::size_t crowd = 0; crowd < CrowdedFleet::kCrowds; ++crowd) fleet.seeOf(crowd, i);
  }
  for (std::size_t i = 0; i < 40; ++i) fleet.seeOf(2, kOfEach + i);
  EXPECT_EQ(fleet.reports().dropped(), 0u);
  EXPECT_EQ(fleet.reports().leases().size(), ReplicaReports::kMostInAll);
  for (int i = 0; i < 10; ++i) fleet.see(reportOfReplica("r" + std::to_string(i)));
  EXPECT_EQ(fleet.verdict({.gateway = "demo/egress"}).replicas, 10u);
  EXPECT_EQ(fleet.reports().dropped(), 10u);
  EXPECT_EQ(fleet.countOf(2), kOfEach + 20) << "it is the one that had most";
  for (const std::size_t crowd : {0, 1, 3}) EXPECT_EQ(fleet.countOf(crowd), kOfEach - 10);
  fleet.seeOf(2, 2 * kOfEach);
  EXPECT_EQ(fleet.verdict({.gateway = "demo/egress"}).replicas, 10u);
  EXPECT_EQ(fleet.countOf(2), kOfEach + 20) << "nobody else has more";
  EXPECT_EQ(fleet.reports().dropped(), 11u);
}

TEST(ReplicaReports, OfReplicasThatAreForgottenGiveWayFirst) {
  constexpr std::size_t kOfEach = ReplicaReports::kMostInAll / CrowdedFleet::kCrowds;
  CrowdedFleet fleet;
  fleet.seeOf(0, 500);
  EXPECT_THAT(fleet.reports().forget(seenAt(1min)), ElementsAre("t0/r500"));
  for (std::size_t i = 1000; i < 1000 + kOfEach; ++i) {
    for (std::size_t crowd = 0; crowd < CrowdedFleet::kCrowds; ++crowd) fleet.seeOf(crowd, i, 0, 1min);
  }
  EXPECT_EQ(fleet.reports().dropped(), 1u);
  EXPECT_FALSE(fleet.reports().counts("t0", "sluice-replica-r500")) << "its replica is gone";
  for (std::size_t crowd = 0; crowd < CrowdedFleet::kCrowds; ++crowd) EXPECT_EQ(fleet.countOf(crowd), kOfEach);
}

TEST(ReplicaReports, OfANamespaceThatAreForgottenMakeRoomForItsOwn) {
  ReplicaFleet fleet;
  fleet.see(reportOfReplica("gone"));
  EXPECT_THAT(fleet.reports().forget(seenAt(1min)), SizeIs(1));
  for (std::size_t i = 0; i < ReplicaReports::kMost; ++i) fleet.see(reportOfReplica("r" + std::to_string(i)), 1min);
  EXPECT_EQ(fleet.verdict({}, 1min).replicas, ReplicaReports::kMost);
  EXPECT_EQ(fleet.reports().dropped(), 0u);
}

TEST(ReplicaReports, OfTheNamespaceWithMostBytesGiveWayWhereTheyAreTooLarge) {
  constexpr std::size_t kName = 500;
  CrowdedFleet fleet;
  std::size_t large = 0;
  for (; fleet.reports().dropped() == 0 && large < ReplicaReports::kMost; ++large) fleet.seeOf(0, large, kName);
  ASSERT_EQ(fleet.reports().dropped(), 1u) << "they have less room than there may be reports";
  EXPECT_GT(large * 50 * kName, ReplicaReports::kMostBytesInAll / 2);
  EXPECT_LT(large * 50 * kName, ReplicaReports::kMostBytesInAll);
  for (int i = 0; i < 10; ++i) fleet.see(reportOfReplica("r" + std::to_string(i)));
  EXPECT_EQ(fleet.verdict({.gateway = "demo/egress"}).replicas, 10u);
  EXPECT_LT(fleet.countOf(0), large) << "the large ones give way";
  for (std::size_t i = 0; i < 10; ++i) fleet.seeOf(1, i, kName);
  EXPECT_EQ(fleet.countOf(1), 10u);
  const std::size_t left = fleet.countOf(0);
  fleet.seeOf(0, 2 * large, kName);
  EXPECT_EQ(fleet.countOf(0), left) << "no other namespace has more";
}

TEST(ReplicaReports, KeepNothingOfThoseThatAreNotTrusted) {
  ReplicaFleet fleet({kWell});
  fleet.see(forgedReport("b"));
  EXPECT_EQ(fleet.reports().leases().size(), 1u);
  fleet.reports().trust({"sluice-system", {{"demo/egress", {}}, {"tenant/own", {}}}});
  fleet.see(forgedReport("b"));
  EXPECT_EQ(fleet.reports().leases().size(), 1u) << "it is about the Gateway of another namespace";
  EXPECT_FALSE(fleet.reports().remove("tenant", "sluice-replica-b"));
  EXPECT_TRUE(fleet.reports().see(content::Value(), seenAt(0s)).ok()) << "a namespace that nobody hears is not read";
  EXPECT_EQ(fleet.reports().dropped(), 0u);
}

}  // namespace
}  // namespace sluice::kubernetes
