// Tests that a replica's report is written once, renewed, and removed, whatever the API server answers.
#include "proxy/kubernetes/lease/replica_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kLeasesOfDemo = "/apis/coordination.k8s.io/v1/namespaces/demo/leases";
constexpr const char* kLeaseOfOne = "/apis/coordination.k8s.io/v1/namespaces/demo/leases/sluice-replica-one";

/// Reports as replica "one" of namespace "demo".
class ReplicaReporting : public ::testing::Test, private ReplicaReporterUser {
 protected:
  void change(const std::string& served = "r1") {
    served_ = served;
    rig.inTurn([this] { reporter->changed(); });
  }
  void leave() {
    rig.inTurn([this] { reporter->leave([this] { ++left; }); });
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    reporter.reset();
  }
  http::Method method(std::size_t number) { return rig.request(number).message.head.method; }
  void refuse(std::size_t number, std::uint16_t status) { rig.answer(number, status, statusBody(status, "no")); }

  ApiRig rig;
  int left = 0;

 private:
  ReplicaReport makeReport() override {
    ReplicaReport report;
    report.replica = "one";
    report.nameSpace = "demo";
    report.replicaOf = "demo.egress";
    report.served = served_;
    return report;
  }
  std::string served_;

 protected:
  std::unique_ptr<ReplicaReporter> reporter =
      std::make_unique<ReplicaReporter>(rig.client, static_cast<ReplicaReporterUser&>(*this));
};

TEST_F(ReplicaReporting, PostsTheLeaseOnceAndPatchesItEveryTenSeconds) {
  change();
  ASSERT_EQ(rig.requests(), 1u);
  EXPECT_EQ(method(0), http::Method::kPost);
  EXPECT_EQ(rig.target(0), kLeasesOfDemo);
  EXPECT_THAT(rig.request(0).body, HasSubstr(R"("name":"sluice-replica-one")"));
  rig.answer(0, 201, "{}");
  for (std::size_t renewal = 1; renewal < 4; ++renewal) {
    rig.advance(seconds(10) - milliseconds(100));
    EXPECT_EQ(rig.requests(), renewal);
    rig.advance(milliseconds(200));
    ASSERT_EQ(rig.requests(), renewal + 1);
    EXPECT_EQ(method(renewal), http::Method::kPatch);
    EXPECT_EQ(rig.target(renewal), kLeaseOfOne);
    EXPECT_EQ(rig.field(renewal, "content-type"), "application/merge-patch+json");
    rig.answer(renewal, 200, "{}");
  }
}

TEST_F(ReplicaReporting, ReportsChangesOnceASecondAtMostAndTheNewestOfThem) {
  change("r1");
  change("r2");
  EXPECT_EQ(rig.requests(), 1u) << "one is under way";
  rig.answer(0, 201, "{}");
  EXPECT_EQ(rig.requests(), 1u);
  rig.advance(milliseconds(900));
  change("r3");
  EXPECT_EQ(rig.requests(), 1u);
  rig.advance(milliseconds(200));
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_THAT(rig.request(1).body, HasSubstr(R"(\"served\":\"r3\")"));
  rig.answer(1, 200, "{}");
  rig.advance(seconds(5));
  EXPECT_EQ(rig.requests(), 2u);
  change("r4");
  EXPECT_EQ(rig.requests(), 3u) << "the last one is long ago";
}

TEST_F(ReplicaReporting, PatchesTheLeaseOfAnEarlierProcessOfItsName) {
  change();
  refuse(0, 409);
  rig.advance(milliseconds(1100));
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(method(1), http::Method::kPatch);
  EXPECT_EQ(rig.target(1), kLeaseOfOne);
  EXPECT_EQ(rig.logged.count("cannot be reported"), 0u);
}

TEST_F(ReplicaReporting, PostsTheLeaseAgainIfSomebodyHasDeletedIt) {
  change();
  rig.answer(0, 201, "{}");
  rig.advance(milliseconds(10100));
  rig.answer(1, 404, R"({"kind":"Status","details":{"name":"sluice-replica-one","kind":"leases"},"code":404})");
  rig.advance(milliseconds(1100));
  ASSERT_EQ(rig.requests(), 3u);
  EXPECT_EQ(method(2), http::Method::kPost);
  EXPECT_EQ(rig.target(2), kLeasesOfDemo);
}

TEST_F(ReplicaReporting, TellsAFailureOnceAndTriesAgainUntilItSucceeds) {
  change();
  refuse(0, 403);
  for (std::size_t again = 1; again < 4; ++again) {
    rig.advance(milliseconds(10100));
    ASSERT_EQ(rig.requests(), again + 1);
    EXPECT_EQ(method(again), http::Method::kPost);
    refuse(again, 403);
  }
  EXPECT_EQ(rig.logged.count("what this replica serves cannot be reported"), 1u);
  rig.advance(milliseconds(10100));
  rig.answer(4, 201, "{}");
  rig.advance(milliseconds(10100));
  refuse(5, 403);
  EXPECT_EQ(rig.logged.count("what this replica serves cannot be reported"), 2u) << "it had recovered";
}

// A report that is not renewed is valid for half a minute.
TEST_F(ReplicaReporting, IsNotSilentForAsLongAsABusyServerAsks) {
  change();
  rig.answer(0, 429, statusBody(429, "no"), {{"retry-after", "60"}});
  rig.advance(milliseconds(10100));
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(method(1), http::Method::kPost);
}

TEST_F(ReplicaReporting, PostsTheLeaseAgainIfTheAnswerDoesNotSayWhatIsMissing) {
  change();
  rig.answer(0, 201, "{}");
  rig.advance(milliseconds(10100));
  rig.answer(1, 404, "not found");
  rig.advance(milliseconds(1100));
  ASSERT_EQ(rig.requests(), 3u);
  EXPECT_EQ(method(2), http::Method::kPost);
}

TEST_F(ReplicaReporting, LeavesAtOnceDuringAPause) {
  change();
  rig.answer(0, 201, "{}");
  rig.advance(milliseconds(10100));
  refuse(1, 503);
  leave();
  rig.advance(milliseconds(20));
  ASSERT_EQ(rig.requests(), 3u);
  EXPECT_EQ(method(2), http::Method::kDelete);
}

TEST_F(ReplicaReporting, DeletesTheLeaseWhenItLeavesAndReportsNothingAfterwards) {
  change();
  rig.answer(0, 201, "{}");
  leave();
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(method(1), http::Method::kDelete);
  EXPECT_EQ(rig.target(1), kLeaseOfOne);
  EXPECT_EQ(left, 0);
  rig.answer(1, 200, "{}");
  EXPECT_EQ(left, 1);
  change();
  rig.advance(seconds(30));
  EXPECT_EQ(rig.requests(), 2u);
  EXPECT_EQ(left, 1);
}

TEST_F(ReplicaReporting, WaitsTwoSecondsAtMostForTheLeaseToBeDeleted) {
  change();
  rig.answer(0, 201, "{}");
  leave();
  rig.advance(milliseconds(1900));
  EXPECT_EQ(left, 0);
  rig.advance(milliseconds(200));
  EXPECT_EQ(left, 1);
}

TEST_F(ReplicaReporting, DeletesAlsoALeaseWhosePostIsNotAnsweredYet) {
  change();
  leave();
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(method(1), http::Method::kDelete);
}

TEST_F(ReplicaReporting, LeavesAtOnceIfItHasReportedNothing) {
  leave();
  EXPECT_EQ(left, 1);
  EXPECT_EQ(rig.requests(), 0u);
}

}  // namespace
}  // namespace sluice::kubernetes
