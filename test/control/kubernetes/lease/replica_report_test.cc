#include "proxy/control/kubernetes/lease/replica_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/content/json.h"
#include "proxy/control/kubernetes/client/api_forms.h"
#include "test/base/some_time.h"

namespace sluice::control {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

base::MonotonicTime seenAt(base::Duration time) { return base::MonotonicTime(1h + time); }

ReplicaReport reportOf(std::string replica, ConfigState state = ConfigState::kInSync) {
  ReplicaReport report;
  report.replica = std::move(replica);
  report.nameSpace = "demo";
  report.replicaOf = "egress";
  report.gateway = "demo/egress";
  report.desired = "new";
  report.served = state == ConfigState::kInSync ? "new" : "old";
  report.state = state;
  return report;
}

FailedObject failure(std::string name, std::string message = "no") {
  return {"HTTPRoute", "demo", std::move(name), "r1", "BackendNotFound", std::move(message)};
}

content::Value leaseOf(const ReplicaReport& report, std::string_view resourceVersion = "1") {
  std::string text = replicaLease(report, base::someTime());
  const std::string before = R"("metadata":{)";
  text.insert(text.find(before) + before.size(), R"("resourceVersion":")" + std::string(resourceVersion) + "\",");
  base::Result<content::Value> lease = content::parseJson(text);
  EXPECT_TRUE(lease.ok()) << text;
  return lease.ok() ? *lease : content::Value();
}

std::string annotationOf(const ReplicaReport& report) {
  const content::Value lease = leaseOf(report);
  return std::string(textIn(valueIn(valueIn(&lease, "metadata"), "annotations"), kReportAnnotation));
}

/// What a controller has seen at 0 of replicas a, b and so on.
class ReplicaFleet {
 public:
  explicit ReplicaFleet(const std::vector<ConfigState>& states = {}) {
    for (std::size_t i = 0; i < states.size(); ++i)
      see(reportOf(std::string(1, static_cast<char>('a' + i)), states[i]));
  }
  void see(const ReplicaReport& report, base::Duration time = 0s, std::string_view version = "1") {
    EXPECT_TRUE(reports_.see(leaseOf(report, version), seenAt(time)).ok());
  }
  FleetVerdict verdict(const FleetQuestion& question = {}, base::Duration time = 0s) const {
    return reports_.verdict(question, seenAt(time));
  }
  ReplicaReports& reports() { return reports_; }

 private:
  ReplicaReports reports_;
};

constexpr ConfigState kWell = ConfigState::kInSync;
constexpr ConfigState kRolledBack = ConfigState::kRollback;

TEST(ReplicaReport, IsALeaseThatItsPodOwns) {
  ReplicaReport report = reportOf("pod-1");
  report.podUid = "u-1";
  EXPECT_EQ(
      replicaLease(report, base::someTime()),
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"sluice-replica-pod-1",)"
      R"("namespace":"demo","labels":{"sluice.dev/replica-of":"egress"},"annotations":{"sluice.dev/report":)"
      R"("{\"replica\":\"pod-1\",\"replicaOf\":\"egress\",\"gateway\":\"demo/egress\",\"desired\":\"new\",)"
      R"(\"served\":\"new\",\"state\":\"InSync\",\"failedInAll\":0,\"seen\":{},\"failed\":[]}"},"ownerReferences":[{"apiVersion":)"
      R"("v1","kind":"Pod","name":"pod-1","uid":"u-1"}]},"spec":{"holderIdentity":"pod-1","leaseDurationSeconds":30,)"
      R"("renewTime":"2026-01-31T23:59:58.000000Z","leaseTransitions":0}})");
  EXPECT_THAT(replicaLease(reportOf("pod-1"), base::someTime()), testing::Not(HasSubstr("ownerReferences")));
}

TEST(ReplicaReport, IsReadAsItWasWritten) {
  for (const ConfigState state : kConfigStates) {
    ReplicaReport report = reportOf("pod-1", state);
    report.failed = {failure("a"), failure("b", "says \"\xc3\xa4\"\n")};
    report.failedInAll = 7;
    report.problem = "a file is missing";
    report.desiredObjects = "aa";
    report.servedObjects = "bb";
    report.servedObjectsSince = "2026-01-31T23:59:58.000000Z";
    report.refusesObjects = state != ConfigState::kInSync;
    const base::Result<ReplicaReport> read = readReplicaReport(leaseOf(report));
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(*read, report);
  }
}

TEST(ReplicaReport, NamesFiftyFailedObjectsAndCountsAll) {
  ReplicaReport report = reportOf("pod-1");
  for (int i = 0; i < 50; ++i) report.failed.push_back(failure(std::to_string(i)));
  EXPECT_EQ(readReplicaReport(leaseOf(report))->failed, report.failed);
  report.failed.push_back(failure("50"));
  const base::Result<ReplicaReport> read = readReplicaReport(leaseOf(report));
  EXPECT_THAT(read->failed, SizeIs(50));
  EXPECT_EQ(read->failedInAll, 51u);
}

TEST(ReplicaReport, IsNeverLargerThanItsBound) {
  std::size_t largest = 0;
  for (std::size_t size = 550; size < 1100; size += 7) {
    ReplicaReport report = reportOf("pod-1");
    for (int i = 0; i < 50; ++i) report.failed.push_back(failure(std::to_string(i), std::string(size, '"')));
    const std::string text = annotationOf(report);
    EXPECT_LE(text.size(), ReplicaReport::kMostBytes);
    largest = std::max(largest, text.size());
    const base::Result<ReplicaReport> read = readReplicaReport(leaseOf(report));
    ASSERT_TRUE(read.ok());
    EXPECT_GT(read->failed.size(), 10u);
    EXPECT_EQ(read->failedInAll, 50u);
  }
  EXPECT_GT(largest, ReplicaReport::kMostBytes - 100);
}

TEST(ReplicaReport, CutsLongMessages) {
  ReplicaReport report = reportOf("pod-1");
  report.failed.push_back(failure("a", std::string(2000, 'x')));
  EXPECT_THAT(readReplicaReport(leaseOf(report))->failed[0].message, SizeIs(ReplicaReport::kMostMessageBytes));
}

TEST(ReplicaReport, IsRefusedIfItHasTheWrongForm) {
  const auto errorOf = [](const std::string& annotation) {
    const base::Result<content::Value> lease = content::parseJson(
        R"({"metadata":{"annotations":{"sluice.dev/report":)" + content::jsonString(annotation) + "}}}");
    const base::Result<ReplicaReport> read = readReplicaReport(*lease);
    return read.ok() ? "" : read.error().message();
  };
  EXPECT_EQ(errorOf(R"({"replica":"a","state":"InSync"})"), "");
  EXPECT_THAT(errorOf(""), HasSubstr("is missing"));
  EXPECT_THAT(errorOf("{"), HasSubstr("line 1"));
  EXPECT_THAT(errorOf(R"({"replica":"a","state":"Other"})"), HasSubstr("InSync, Rollback or RollbackFailed"));
  EXPECT_THAT(errorOf(R"({"state":"InSync"})"), HasSubstr("replica is missing"));
  EXPECT_THAT(errorOf(std::string(32769, ' ')), HasSubstr("32 KiB"));
  EXPECT_FALSE(readReplicaReport(*content::parseJson("{}")).ok());
}

TEST(ReplicaReport, ShortensNamesThatDoNotFit) {
  EXPECT_EQ(labelValue(std::string(63, 'a')), std::string(63, 'a'));
  const std::string one = labelValue(std::string(64, 'a'));
  EXPECT_THAT(one, SizeIs(63));
  EXPECT_NE(one, labelValue(std::string(65, 'a')));
  EXPECT_EQ(labelValue(std::string(45, 'a') + "." + std::string(40, 'b')).substr(44, 3).find('.'), std::string::npos);
  EXPECT_EQ(replicaLeaseName("pod-1"), "sluice-replica-pod-1");
  EXPECT_THAT(replicaLeaseName(std::string(253, 'p')), SizeIs(253));
}

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
  const FleetVerdict some = ReplicaFleet({kWell, kRolledBack, kWell, ConfigState::kRollbackFailed}).verdict();
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

TEST(ReplicaReports, NameTenFailingReplicas) {
  std::vector<ConfigState> states(11, kRolledBack);
  states.push_back(kWell);
  EXPECT_THAT(ReplicaFleet(states).verdict().message,
              testing::StartsWith("11 of 12 replicas fail: demo/a, demo/b, demo/c, demo/d, demo/e, demo/f, demo/g, "
                                  "demo/h, demo/i, demo/j and 1 more. demo/a says: "));
}

TEST(ReplicaReports, JudgeARevisionOnlyByReplicasThatWereGivenIt) {
  ReplicaFleet fleet({kRolledBack, kRolledBack});
  ReplicaReport old = reportOf("c", kRolledBack);
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
  ReplicaReport report = reportOf("c");
  report.failed = {failure("other"), failure("web", "no such backend")};
  fleet.see(report);
  const FleetVerdict web = fleet.verdict({.object = {"HTTPRoute", "demo", "web"}});
  EXPECT_THAT(web.failing, ElementsAre("demo/c"));
  EXPECT_THAT(web.message, EndsWith("demo/c says: HTTPRoute demo/web: BackendNotFound: no such backend"));
  EXPECT_THAT(fleet.verdict({.object = {"GRPCRoute", "demo", "web"}}).failing, IsEmpty());
  EXPECT_THAT(fleet.verdict({.object = {"HTTPRoute", "x", "web"}}).failing, IsEmpty());
  EXPECT_THAT(fleet.verdict().failing, ElementsAre("demo/b")) << "a rollback is about states alone";
  EXPECT_THAT(fleet.verdict({.anyObject = true}).failing, ElementsAre("demo/b", "demo/c"));
}

TEST(ReplicaReports, AreOfOneGatewayOrOfAllOfTheClass) {
  ReplicaFleet fleet({kRolledBack});
  ReplicaReport all = reportOf("b", kRolledBack);
  all.gateway = "";
  fleet.see(all);
  ReplicaReport other = reportOf("c");
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
  fleet.see(reportOf("b"));
  EXPECT_EQ(fleet.reports().nextEnd(), seenAt(kReportDuration));
  // The same version, listed again, is no renewal. A renewal that changes only the time is one.
  fleet.see(reportOf("a", kRolledBack), 20s, "1");
  fleet.see(reportOf("b"), 20s, "2");
  EXPECT_EQ(fleet.verdict({}, 30s - 1ns).state, FleetState::kDegraded);
  EXPECT_EQ(fleet.verdict({}, 30s).state, FleetState::kActive);
  EXPECT_THAT(fleet.reports().forget(seenAt(30s)), ElementsAre("demo/a"));
  EXPECT_THAT(fleet.reports().forget(seenAt(30s)), IsEmpty());
  EXPECT_EQ(fleet.reports().nextEnd(), seenAt(50s));
  fleet.see(reportOf("a", kRolledBack), 31s, "9");
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
  content::Value broken = leaseOf(reportOf("a"), "2");
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
  for (std::size_t i = 0; i < ReplicaReports::kMost; ++i) fleet.see(reportOf("r" + std::to_string(i)));
  EXPECT_EQ(fleet.reports().dropped(), 0u);
  fleet.see(reportOf("more"));
  EXPECT_EQ(fleet.reports().dropped(), 1u);
  fleet.see(reportOf("r7", kRolledBack), 1s, "2");
  EXPECT_EQ(fleet.reports().dropped(), 1u);
  EXPECT_EQ(fleet.verdict().replicas, ReplicaReports::kMost);
  EXPECT_EQ(fleet.verdict().failingPercent(), 1);
}

}  // namespace
}  // namespace sluice::control
