#include "proxy/kubernetes/revisions/revision_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/kubernetes/revisions/revision_objects.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;

class RevisionVerdict : public testing::Test {
 protected:
  EgressRevision judged(const std::string& status = "") const {
    return judgeRevision(revisionOf(revisionItem("b", "", status)), fleet(), base::someTime());
  }
  ReportsOfGateway fleet(base::MonotonicTime now = {}) const { return {"demo/egress", reports.all, now}; }
  ReportedObjects reports;
};

constexpr control::ConfigState kRefuses = control::ConfigState::kRollback;

TEST_F(RevisionVerdict, IsPendingUntilAReplicaServesIt) {
  EXPECT_EQ(judged().state, RevisionState::kPending);
  EXPECT_EQ(judged().served, "0/0");
  reports.see("one", "a", "a");
  reports.see("two", "a", "a");
  EXPECT_EQ(judged().state, RevisionState::kPending);
  reports.see("two", "b", "b");
  EXPECT_EQ(judged().state, RevisionState::kPartlyServed);
  EXPECT_EQ(judged().served, "1/2");
  EXPECT_EQ(judged().lastServed, "2026-01-31T23:59:58Z");
  reports.see("one", "b", "b");
  EXPECT_EQ(judged().state, RevisionState::kServed);
  EXPECT_EQ(judged().served, "2/2");
}

TEST_F(RevisionVerdict, IsTaintedOnlyIfAllRefuseItAndStaysSo) {
  reports.see("one", "b", "a", kRefuses);
  reports.see("two", "a", "a");
  EXPECT_EQ(judged().state, RevisionState::kRefused);
  EXPECT_THAT(judged().message, HasSubstr("1 of 2 replicas fail: demo/one"));
  reports.see("two", "b", "a", kRefuses);
  EXPECT_EQ(judged().state, RevisionState::kTainted);
  EXPECT_THAT(judged().message, HasSubstr("it refuses revision b (it is wrong)"));
  const std::string tainted =
      R"({"state":"Tainted","conditions":[{"type":"Served","status":"False","message":"all refuse it"}]})";
  reports.see("one", "b", "b");
  reports.see("two", "c", "c");
  EXPECT_EQ(judged(tainted).state, RevisionState::kTainted) << "a cause that is gone changes nothing";
  EXPECT_EQ(judged(tainted).message, "all refuse it");
}

TEST_F(RevisionVerdict, QuotesNoObjectOfAnotherNamespace) {
  for (const char* nameSpace : {"other", ""}) {
    reports.problemNamespace = nameSpace;
    reports.see("one", "b", "a", kRefuses);
    EXPECT_THAT(judged().message, HasSubstr("it refuses revision b (its log says why)")) << nameSpace;
  }
}

TEST_F(RevisionVerdict, IsNeitherTaintedNorServedNorInUseByReportsFromAnotherNamespace) {
  reports.nameSpace = "tenant";
  reports.see("one", "b", "a", kRefuses);
  reports.see("two", "b", "b");
  EXPECT_EQ(judged().state, RevisionState::kPending);
  EXPECT_EQ(judged().served, "0/0");
  EXPECT_EQ(judged().message, "");
  EXPECT_FALSE(fleet().isGiven("b"));
  EXPECT_FALSE(fleet().isInUse("b"));
  const EgressRevision waiting = revisionOf(revisionItem("b", R"(,"canary":"one")"));
  EXPECT_EQ(canaryOf(waiting, fleet()).state, CanaryState::kWaited) << "no report counts";
  EXPECT_NE(judgeRevision(waiting, fleet(), base::someTime()).state, RevisionState::kTainted);
}

TEST_F(RevisionVerdict, KnowsWhatItsCanaryDoes) {
  const EgressRevision waiting = revisionOf(revisionItem("b", R"(,"canary":"one")"));
  const auto canary = [&](base::Duration time = {}) {
    return canaryOf(waiting, fleet(base::MonotonicTime(time))).state;
  };
  reports.see("two", "b", "b");
  EXPECT_EQ(canary(), CanaryState::kGone);
  reports.see("one", "a", "a");
  EXPECT_EQ(canary(), CanaryState::kWaited) << "another replica is none";
  reports.see("one", "b", "b");
  EXPECT_EQ(canary(), CanaryState::kServing);
  EXPECT_EQ(canary(std::chrono::minutes(1)), CanaryState::kWaited) << "nobody reports any more";
  reports.see("two", "b", "b", control::ConfigState::kInSync, base::MonotonicTime(std::chrono::minutes(1)));
  EXPECT_EQ(canary(std::chrono::minutes(1)), CanaryState::kGone);
  EgressRevision over = waiting;
  over.validated = true;
  EXPECT_EQ(canaryOf(over, fleet()).state, CanaryState::kNone);
  EXPECT_EQ(canaryOf(revisionOf(revisionItem("b")), fleet()).state, CanaryState::kNone);
}

TEST_F(RevisionVerdict, IsTaintedIfItsCanaryRefusesIt) {
  const EgressRevision waiting = revisionOf(revisionItem("b", R"(,"canary":"one")"));
  reports.see("one", "b", "a", kRefuses);
  reports.see("two", "b", "a");
  const EgressRevision judged = judgeRevision(waiting, fleet(), base::someTime());
  EXPECT_EQ(judged.state, RevisionState::kTainted);
  EXPECT_FALSE(judged.validated);
  EXPECT_THAT(judged.message, HasSubstr("1 of 2 replicas fail: demo/one"));
}

TEST_F(RevisionVerdict, IsSupersededOnceNoReplicaServesItAnyMore) {
  reports.see("one", "c", "c");
  const EgressRevision after = judged(R"({"state":"Served","lastServed":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(after.state, RevisionState::kSuperseded);
  EXPECT_EQ(after.lastServed, "2026-01-01T00:00:00Z");
}

TEST_F(RevisionVerdict, IsInUseWhileAReplicaHasItOrShouldHaveIt) {
  reports.see("one", "c", "c");
  EXPECT_FALSE(fleet().isInUse("b"));
  reports.see("one", "c", "b", kRefuses);
  EXPECT_TRUE(fleet().isInUse("b"));
  EXPECT_FALSE(fleet().isGiven("b")) << "it was given something newer";
  reports.see("one", "b", "c", kRefuses);
  EXPECT_TRUE(fleet().isInUse("b"));
  EXPECT_TRUE(fleet().isGiven("b"));
  EXPECT_FALSE(fleet(base::MonotonicTime(std::chrono::minutes(1))).isInUse("b")) << "the replica is gone";
}

/// Returns "one Served ReplicaServes, two ..." for the replicas of a revision.
std::string told(const EgressRevision& revision) {
  std::string all;
  for (const RevisedReplica& each : revision.replicas) {
    all += (all.empty() ? "" : ", ") + each.name + " " + std::string(revisionStateName(each.state)) + " " + each.reason;
  }
  return all;
}

TEST_F(RevisionVerdict, SaysWhatEachReplicaDoesWithItThoseThatRefuseItFirst) {
  reports.see("one", "b", "b");
  reports.see("two", "b", "a");
  reports.see("three", "b", "a", kRefuses);
  reports.see("four", "c", "b");
  reports.see("five", "c", "c");
  EXPECT_EQ(told(judged()),
            "three Refused ReplicaRefuses, four Served ReplicaServes, one Served ReplicaServes, two Pending Pending");
  reports.triesAgain = true;
  reports.see("three", "b", "a", kRefuses);
  EXPECT_EQ(judged().state, RevisionState::kPartlyServed) << "it may serve it later";
  EXPECT_THAT(told(judged()), HasSubstr("three Pending ReplicaTriesAgain"));
  reports.nameSpace = "sluice-system";
  reports.see("six", "b", "b");
  EXPECT_THAT(told(judged()), testing::Not(HasSubstr("six"))) << "it stands in another namespace";
}

TEST_F(RevisionVerdict, SaysWhichReplicasAwaitTheCanary) {
  reports.see("pod-1", "b", "a");
  reports.see("pod-2", "b", "a");
  const EgressRevision asked = revisionOf(revisionItem("b", R"(,"canary":"pod-1")"));
  EXPECT_EQ(told(judgeRevision(asked, fleet(), base::someTime())), "pod-1 Pending Pending, pod-2 Pending AwaitsCanary");
}

TEST_F(RevisionVerdict, KeepsTheTimeOfAReplicaUntilItsStateChanges) {
  reports.see("one", "b", "b");
  EgressRevision before = judged();
  EXPECT_EQ(before.replicas.at(0).since, "2026-01-31T23:59:58Z");
  const auto later = base::someTime(std::chrono::hours(1));
  const std::string seen = statusOf(before);
  EXPECT_EQ(judgeRevision(revisionOf(revisionItem("b", "", seen)), fleet(), later).replicas.at(0).since,
            before.replicas.at(0).since);
  reports.see("one", "b", "a", kRefuses);
  EXPECT_EQ(judgeRevision(revisionOf(revisionItem("b", "", seen)), fleet(), later).replicas.at(0).since,
            "2026-02-01T00:59:58Z");
}

TEST_F(RevisionVerdict, NamesFiftyReplicasAndCountsAll) {
  for (int i = 100; i < 160; ++i) reports.see("pod-" + std::to_string(i), "b", "b");
  reports.see("pod-last", "b", "a", kRefuses);
  const EgressRevision many = judged();
  EXPECT_EQ(many.replicas.size(), EgressRevision::kMostReplicas);
  EXPECT_EQ(many.replicas.front().name, "pod-last");
  EXPECT_EQ(many.served, "60/61");
}

TEST_F(RevisionVerdict, SaysWhetherItIsTheNewestOneAndServed) {
  EXPECT_EQ(judged().sync, "NotDesired");
  reports.see("one", "b", "b");
  EXPECT_EQ(judged().sync, "DesiredVersionPublished");
  reports.see("two", "a", "a");
  EXPECT_EQ(judged().sync, "Pending");
  reports.see("two", "b", "a", kRefuses);
  EXPECT_EQ(judged().sync, "CantPublishDesiredVersion");
  reports.see("one", "c", "b");
  reports.see("two", "c", "b");
  EXPECT_EQ(judged().state, RevisionState::kServed);
  EXPECT_EQ(judged().sync, "NotDesired") << "it is served because the newest one is not";
}

TEST_F(RevisionVerdict, SaysWhetherNothingGoodIsLeft) {
  reports.see("one", "b", "a", kRefuses);
  reports.see("two", "b", "", control::ConfigState::kRollbackFailed);
  EXPECT_EQ(judged().rollback, "NotFailed") << "one has a good one";
  reports.see("one", "b", "", control::ConfigState::kRollbackFailed);
  const EgressRevision failed = judged();
  EXPECT_EQ(failed.rollback, "AllRevisionsTainted");
  const std::string seen = statusOf(failed);
  EXPECT_THAT(seen, HasSubstr(R"({"type":"RollbackFailed","status":"True","reason":"AllRevisionsTainted")"));
  const ReplicaReports none;
  EXPECT_EQ(judgeRevision(revisionOf(revisionItem("b", "", seen)), {"demo/egress", none, {}}, {}).rollback,
            "AllRevisionsTainted")
      << "nobody says anything else";
  reports.see("one", "c", "c");
  const EgressRevision recovered = judged(seen);
  EXPECT_EQ(recovered.state, RevisionState::kTainted);
  EXPECT_EQ(recovered.rollback, "Recovered");
  EXPECT_EQ(judged(statusOf(recovered)).rollback, "Recovered") << "that it has failed is not forgotten";
}

}  // namespace
}  // namespace sluice::kubernetes
