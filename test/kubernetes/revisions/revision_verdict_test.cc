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

}  // namespace
}  // namespace sluice::kubernetes
