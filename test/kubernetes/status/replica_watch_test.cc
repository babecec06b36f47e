// Tests that the reports of replicas are watched, and that silent replicas are forgotten.
#include "proxy/kubernetes/status/replica_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kWatchedLeases = "/apis/coordination.k8s.io/v1/leases";

/// Watches the Leases of replicas in namespace "demo".
class ReplicaWatching : public ::testing::Test, private ReplicaWatchUser {
 protected:
  void make() { watch = std::make_unique<ReplicaWatch>(rig.client, static_cast<ReplicaWatchUser&>(*this)); }
  void start() {
    make();
    rig.inTurn([this] { watch->trust({"sluice-system", {{"demo/egress", {}}}}); });
    api.serve();
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    watch.reset();
  }
  static std::string leaseName(const std::string& replica) { return "sluice-replica-" + replica; }
  /// Writes a Lease as that replica does.
  void write(const std::string& replica, const std::string& served = "r1") {
    writeText(replica, R"({\"replica\":\")" + replica + R"(\",\"served\":\")" + served + R"(\",\"state\":\"InSync\"})");
  }
  void writeText(const std::string& replica, const std::string& annotation, const std::string& nameSpace = "demo") {
    api.put(kWatchedLeases, nameSpace, leaseName(replica), R"("spec":{"leaseDurationSeconds":30})",
            R"("labels":{"sluice.dev/replica-of":"x"},"annotations":{"sluice.dev/report":")" + annotation + "\"}");
  }
  std::size_t replicas() const { return watch->reports().verdict({}, rig.clock.now()).replicas; }

  ApiRig rig;
  FakeApi api{rig};
  int changes = 0;
  std::unique_ptr<ReplicaWatch> watch;

 private:
  void onReports() override { ++changes; }
};

TEST_F(ReplicaWatching, TellsOfNewReportsAndNotOfRenewals) {
  write("one");
  start();
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(replicas(), 1u);
  write("one");
  EXPECT_EQ(changes, 1) << "a renewal alone is no news";
  write("one", "r2");
  EXPECT_EQ(changes, 2);
  write("two");
  EXPECT_EQ(changes, 3);
  EXPECT_EQ(replicas(), 2u);
}

TEST_F(ReplicaWatching, ForgetsAReplicaWhoseLeaseIsDeleted) {
  write("one");
  write("two");
  start();
  changes = 0;
  api.remove(kWatchedLeases, "demo", leaseName("one"));
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(replicas(), 1u);
}

TEST_F(ReplicaWatching, ForgetsThirtySecondsAfterItsLastRenewalAReplicaThatIsSilent) {
  write("one");
  start();
  api.pass(seconds(20));
  write("one");
  api.pass(seconds(29));
  EXPECT_EQ(replicas(), 1u);
  EXPECT_EQ(changes, 1);
  api.pass(milliseconds(1100));
  EXPECT_EQ(replicas(), 0u);
  EXPECT_EQ(changes, 2) << "nobody else wakes the observer";
}

TEST_F(ReplicaWatching, TellsWhenASilentReplicaComesBackWithTheSameReport) {
  write("one");
  start();
  api.pass(seconds(31));
  ASSERT_EQ(changes, 2);
  write("one");
  EXPECT_EQ(changes, 3);
  EXPECT_EQ(replicas(), 1u);
}

/// Ends the watch and refuses to resume it, so that everything is listed again.
class ReplicaRelisting : public ReplicaWatching {
 protected:
  void relist() {
    const std::size_t before = api.asked("sendInitialEvents");
    api.holds = kWatchedLeases;
    api.endWatches(kWatchedLeases);
    api.pass(seconds(1));
    ASSERT_EQ(api.held.size(), 1u);
    rig.answer(api.held.front(), 410, statusBody(410, "too old"));
    api.held.clear();
    api.holds.reset();
    api.pass(seconds(2));
    ASSERT_GT(api.asked("sendInitialEvents"), before);
  }
};

TEST_F(ReplicaRelisting, ForgetsReplicasThatANewListDoesNotHave) {
  write("one");
  write("two");
  start();
  changes = 0;
  // The watch ends before the deletion, so that only the list shows it.
  api.endWatches(kWatchedLeases);
  api.remove(kWatchedLeases, "demo", leaseName("one"));
  relist();
  EXPECT_EQ(replicas(), 1u);
  EXPECT_EQ(changes, 1);
}

TEST_F(ReplicaRelisting, DoesNotTakeALeaseThatIsListedAgainForARenewal) {
  write("one");
  start();
  api.pass(seconds(31));
  ASSERT_EQ(replicas(), 0u);
  changes = 0;
  relist();
  EXPECT_EQ(replicas(), 0u);
  EXPECT_EQ(changes, 0);
}

TEST_F(ReplicaRelisting, KeepsTheReportOfThisProcessWhichNeedNotBeWrittenYet) {
  start();
  ReplicaReport own;
  own.replica = "own";
  own.nameSpace = "demo";
  rig.inTurn([&] { watch->seeOwn(own); });
  EXPECT_EQ(replicas(), 1u);
  relist();
  EXPECT_EQ(replicas(), 1u);
}

TEST_F(ReplicaWatching, LogsOnceANamespaceWithBrokenReportsAndKeepsTheLastGoodOnes) {
  make();
  rig.inTurn([this] { watch->trust({"sluice-system", {{"demo/egress", {}}, {"tenant/own", {}}}}); });
  api.serve();
  for (int i = 0; i < 1001; ++i) writeText("broken-" + std::to_string(i), "no JSON " + std::to_string(i), "tenant");
  write("one");
  write("two");
  changes = 0;
  for (int renewal = 0; renewal < 3; ++renewal) {
    writeText("one", "no JSON " + std::to_string(renewal));
    writeText("two", R"({\"replica\":\"two\",\"state\":\"Odd\"})");
  }
  EXPECT_EQ(rig.logged.count("the report of a replica cannot be read"), 2u) << "nobody fills the log";
  EXPECT_EQ(rig.logged.count("demo/sluice-replica-one"), 1u) << "and nobody silences others";
  EXPECT_EQ(replicas(), 2u);
  EXPECT_EQ(changes, 0);
}

TEST_F(ReplicaWatching, LogsOnceThatThereAreTooManyReports) {
  start();
  for (std::size_t i = 0; i < ReplicaReports::kMost; ++i) {
    ReplicaReport report;
    report.replica = "r" + std::to_string(i);
    report.nameSpace = "demo";
    rig.inTurn([&] { watch->seeOwn(report); });
  }
  EXPECT_EQ(replicas(), ReplicaReports::kMost);
  changes = 0;
  for (int renewal = 0; renewal < 3; ++renewal) write("more-" + std::to_string(renewal));
  EXPECT_EQ(rig.logged.count("there are too many reports of replicas"), 1u) << rig.logged.text();
  EXPECT_EQ(rig.logged.count("are ignored, because they are not for a Gateway"), 0u) << "that is not why";
  EXPECT_EQ(changes, 3);
}

TEST_F(ReplicaWatching, LogsOnceANamespaceWhoseReportsAreNotTrusted) {
  start();
  for (int renewal = 0; renewal < 3; ++renewal) {
    writeText("one", R"({\"replica\":\"one\",\"state\":\"Rollback\"})", "tenant");
    writeText("two", R"({\"replica\":\"two\",\"state\":\"InSync\"})", "tenant");
    writeText("three", "no JSON " + std::to_string(renewal), "tenant");
  }
  EXPECT_EQ(rig.logged.count("reports of replicas in a namespace are ignored"), 1u) << rig.logged.text();
  EXPECT_EQ(rig.logged.count("the report of a replica cannot be read"), 0u) << "it would not count";
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(replicas(), 0u);
}

TEST_F(ReplicaWatching, TrustsReportsFromTheirNextRenewalOnceTheNamespaceHasAGateway) {
  start();
  const auto renew = [this] { writeText("one", R"({\"replica\":\"one\",\"state\":\"InSync\"})", "tenant"); };
  renew();
  rig.inTurn([this] { watch->trust({"sluice-system", {{"tenant/own", {}}}}); });
  EXPECT_EQ(replicas(), 0u) << "nothing is kept of what did not count";
  renew();
  EXPECT_EQ(replicas(), 1u);
  EXPECT_EQ(changes, 1);
  api.pass(seconds(31));
  EXPECT_EQ(replicas(), 0u);
  EXPECT_EQ(changes, 2) << "it is silent";
}

TEST_F(ReplicaWatching, NotifiesWhenAReportIsNotTrustedAnyMore) {
  make();
  rig.inTurn([this] { watch->trust({"sluice-system", {{"demo/egress", {"egress-test"}}}}); });
  api.serve();
  const std::string pod = "egress-test-abc-xyz12";
  const auto put = [&](const std::string& owners) {
    api.put(kWatchedLeases, "demo", leaseName(pod), R"("spec":{"leaseDurationSeconds":30})",
            owners + R"("labels":{"sluice.dev/replica-of":"x"},"annotations":{"sluice.dev/report":"{\"replica\":\")" +
                pod + R"(\",\"state\":\"InSync\"}"})");
  };
  put(R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":")" + pod + R"(","uid":"u"}],)");
  EXPECT_EQ(replicas(), 1u);
  EXPECT_EQ(changes, 1);
  put("");
  EXPECT_EQ(replicas(), 0u);
  EXPECT_EQ(changes, 2);
}

TEST_F(ReplicaWatching, LogsOnceThatTheReportsAreForbidden) {
  api.forbidden.insert(kWatchedLeases);
  start();
  api.pass(seconds(40));
  EXPECT_GT(api.asked("leases"), 2u);
  EXPECT_EQ(rig.logged.count("the reports of replicas cannot be read"), 1u);
}

}  // namespace
}  // namespace sluice::kubernetes
