#include "proxy/kubernetes/lease/replica_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/kubernetes/client/api_forms.h"
#include "test/kubernetes/lease/reported_replicas.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string annotationOf(const ReplicaReport& report) {
  const content::Value lease = leaseOfReplica(report);
  return std::string(textIn(valueIn(valueIn(&lease, "metadata"), "annotations"), kReportAnnotation));
}

TEST(ReplicaReport, IsALeaseThatItsPodOwns) {
  ReplicaReport report = reportOfReplica("pod-1");
  report.podUid = "u-1";
  EXPECT_EQ(
      replicaLease(report, base::someTime()),
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"sluice-replica-pod-1",)"
      R"("namespace":"demo","labels":{"sluice.dev/replica-of":"egress"},"annotations":{"sluice.dev/report":)"
      R"("{\"replica\":\"pod-1\",\"replicaOf\":\"egress\",\"gateway\":\"demo/egress\",\"desired\":\"new\",)"
      R"(\"served\":\"new\",\"state\":\"InSync\",\"failedInAll\":0,\"listedInAll\":0,\"seen\":{},\"failed\":[]}"},"ownerReferences":[{"apiVersion":)"
      R"("v1","kind":"Pod","name":"pod-1","uid":"u-1"}]},"spec":{"holderIdentity":"pod-1","leaseDurationSeconds":30,)"
      R"("renewTime":"2026-01-31T23:59:58.000000Z","leaseTransitions":0}})");
  EXPECT_THAT(replicaLease(reportOfReplica("pod-1"), base::someTime()), testing::Not(HasSubstr("ownerReferences")));
}

TEST(ReplicaReport, IsReadAsItWasWritten) {
  for (const control::ConfigState state : control::kConfigStates) {
    ReplicaReport report = reportOfReplica("pod-1", state);
    report.failed = {failedRoute("a"), failedRoute("b", "says \"\xc3\xa4\"\n")};
    report.failed[1].type = "ResolvedRefs";
    report.failed[1].part = "parent egress";
    report.failed[1].generation = 4;
    report.failed[1].served = true;
    report.failedInAll = 7;
    report.listedInAll = 9;
    report.problem = "a file is missing";
    report.problemNamespace = "demo";
    report.problemOfClass = true;
    report.desiredObjects = "aa";
    report.servedObjects = "bb";
    report.servedObjectsSince = "2026-01-31T23:59:58.000000Z";
    report.refusesObjects = state != control::ConfigState::kInSync;
    report.refusals = report.refusesObjects ? 5 : 0;
    report.podUid = "u-1";
    const base::Result<ReplicaReport> read = readReplicaReport(leaseOfReplica(report));
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(*read, report);
  }
}

TEST(ReplicaReport, HasTheUidOfItsPodOnlyIfThatOwnsTheLeaseOfThatReplica) {
  ReplicaReport report = reportOfReplica("pod-1");
  report.podUid = "u-1";
  const std::string lease = replicaLease(report, base::someTime());
  const auto uidWith = [&](const std::string& text, const std::string& other) {
    std::string changed = lease;
    changed.replace(changed.find(text), text.size(), other);
    const base::Result<ReplicaReport> read = readReplicaReport(*content::parseJson(changed));
    return read.ok() ? read->podUid : read.error().detail;
  };
  EXPECT_EQ(uidWith("u-1", "u-2"), "u-2");
  EXPECT_EQ(uidWith(R"("kind":"Pod")", R"("kind":"Node")"), "");
  EXPECT_EQ(uidWith(R"("name":"pod-1","uid")", R"("name":"pod-2","uid")"), "") << "another Pod owns it";
  EXPECT_EQ(uidWith("sluice-replica-pod-1", "sluice-replica-pod-2"), "") << "it is the Lease of another replica";
}

TEST(ReplicaReport, IsRefusedIfANameInItIsTooLong) {
  ReplicaReport report = reportOfReplica(std::string(253, 'p'));
  EXPECT_TRUE(readReplicaReport(leaseOfReplica(report)).ok());
  report.desired = std::string(254, 'd');
  EXPECT_FALSE(readReplicaReport(leaseOfReplica(report)).ok());
  EXPECT_FALSE(readReplicaReport(leaseOfReplica(reportOfReplica(std::string(254, 'p')))).ok());
}

TEST(ReplicaReport, IsRefusedIfItSaysTooMuchOfWhatItHasSeen) {
  ReplicaReport report = reportOfReplica("pod-1");
  report.seen[std::string(63, 'k')] = 1;
  for (int i = 1; i < 16; ++i) report.seen["kind-" + std::to_string(i)] = 1;
  const base::Result<ReplicaReport> read = readReplicaReport(leaseOfReplica(report));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->seen, report.seen);
  report.seen["more"] = 1;
  EXPECT_THAT(readReplicaReport(leaseOfReplica(report)).error().detail, HasSubstr("more than 16"));
  report.seen = {{std::string(64, 'k'), 1}};
  EXPECT_THAT(readReplicaReport(leaseOfReplica(report)).error().detail, HasSubstr("longer than 63 bytes"));
}

TEST(ReplicaReport, IsRefusedIfItsGatewaysOrTheHolderOfItsLeaseAreTooLong) {
  ReplicaReport report = reportOfReplica("pod-1");
  report.gateway = std::string(8192, 'g');
  EXPECT_TRUE(readReplicaReport(leaseOfReplica(report)).ok());
  report.gateway += 'g';
  EXPECT_THAT(readReplicaReport(leaseOfReplica(report)).error().detail, HasSubstr("8 KiB"));
  report = reportOfReplica("pod-1");
  report.replicaOf = std::string(254, 'd');
  EXPECT_THAT(readReplicaReport(leaseOfReplica(report)).error().detail, HasSubstr("253 bytes"));
  std::string lease = replicaLease(reportOfReplica("pod-1"), base::someTime());
  const std::string holder = R"("holderIdentity":"pod-1")";
  lease.replace(lease.find(holder), holder.size(), R"("holderIdentity":")" + std::string(254, 'h') + "\"");
  EXPECT_THAT(readReplicaReport(*content::parseJson(lease)).error().detail, HasSubstr("holderIdentity"));
}

TEST(ReplicaReport, NamesFiftyFailedObjectsAndCountsAll) {
  ReplicaReport report = reportOfReplica("pod-1");
  for (int i = 0; i < 50; ++i) report.failed.push_back(failedRoute(std::to_string(i)));
  EXPECT_EQ(readReplicaReport(leaseOfReplica(report))->failed, report.failed);
  report.failed.push_back(failedRoute("50"));
  const base::Result<ReplicaReport> read = readReplicaReport(leaseOfReplica(report));
  EXPECT_THAT(read->failed, SizeIs(50));
  EXPECT_EQ(read->failedInAll, 51u);
}

TEST(ReplicaReport, IsNeverLargerThanItsBound) {
  std::size_t largest = 0;
  for (std::size_t size = 550; size < 1100; size += 7) {
    ReplicaReport report = reportOfReplica("pod-1");
    for (int i = 0; i < 50; ++i) report.failed.push_back(failedRoute(std::to_string(i), std::string(size, '"')));
    const std::string text = annotationOf(report);
    EXPECT_LE(text.size(), ReplicaReport::kMostBytes);
    largest = std::max(largest, text.size());
    const base::Result<ReplicaReport> read = readReplicaReport(leaseOfReplica(report));
    ASSERT_TRUE(read.ok());
    EXPECT_GT(read->failed.size(), 10u);
    EXPECT_EQ(read->failedInAll, 50u);
  }
  EXPECT_GT(largest, ReplicaReport::kMostBytes - 100);
}

TEST(ReplicaReport, CutsLongMessages) {
  ReplicaReport report = reportOfReplica("pod-1");
  report.failed.push_back(failedRoute("a", std::string(2000, 'x')));
  report.problem = std::string(2000, 'y');
  EXPECT_THAT(annotationOf(report), SizeIs(testing::Lt(3 * ReplicaReport::kMostMessageBytes)));
  const base::Result<ReplicaReport> read = readReplicaReport(leaseOfReplica(report));
  EXPECT_THAT(read->failed[0].message, SizeIs(ReplicaReport::kMostToldBytes)) << "nobody is told more";
  EXPECT_THAT(read->problem, SizeIs(ReplicaReport::kMostToldBytes));
}

TEST(ReplicaReport, KnowsHowLargeItIs) {
  ReplicaReport report = reportOfReplica("pod-1");
  const std::size_t before = report.bytes();
  report.failed.push_back(failedRoute("a", std::string(100, 'x')));
  report.gateway += std::string(50, 'g');
  EXPECT_GE(report.bytes(), before + 150 + sizeof(FailedObject));
  EXPECT_LE(report.bytes(), before + 250 + sizeof(FailedObject));
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

}  // namespace
}  // namespace sluice::kubernetes
