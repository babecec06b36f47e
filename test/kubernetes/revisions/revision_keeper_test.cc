// Tests that EgressRevisions get the status that follows from the reports of replicas, and that the oldest ones are
// deleted.
#include "proxy/kubernetes/revisions/revision_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/kubernetes/revisions/revision_verdict.h"
#include "test/kubernetes/events/told_events.h"
#include "test/kubernetes/fake_api.h"
#include "test/kubernetes/revisions/revision_objects.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAllRevisions = "/apis/sluice.dev/v1alpha1/egressrevisions";

class RevisionKeeping : public testing::Test, private RevisionKeeperUser {
 protected:
  void SetUp() override {
    keeper = std::make_unique<RevisionKeeper>(rig.client, std::set<std::string>{}, events.publisher(),
                                              static_cast<RevisionKeeperUser&>(*this));
    keeper->setGateways({{"Gateway", "demo", "egress"}});
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    keeper.reset();
  }
  void start() {
    rig.inTurn([this] {
      keeper->start();
      keeper->lead(true);
    });
    api.serve();
  }
  /// Stores an EgressRevision of Gateway demo/egress that was created on that day.
  void put(const std::string& revision, int day, const std::string& spec = "", const std::string& status = "") {
    const std::string created =
        R"("creationTimestamp":"2026-11-)" + std::to_string(10 + day) + R"(T00:00:00Z","uid":"u-)";
    api.put(kAllRevisions, "demo", "egress-" + revision,
            R"("spec":{"gatewayRef":{"kind":"Gateway","name":"egress"},"revision":")" + revision + "\"" + spec + "}" +
                (status.empty() ? "" : R"(,"status":)" + status),
            created + revision + "\"");
  }
  void judge() {
    rig.inTurn([this] { keeper->judge(reports.all, rig.clock.now()); });
    api.serve();
  }
  /// Returns the writes since the last call: method, target and body.
  std::vector<std::string> writes() {
    std::vector<std::string> all;
    for (; seen_ < rig.requests(); ++seen_) {
      const http::Method method = rig.request(seen_).message.head.method;
      if (method == http::Method::kGet) continue;
      all.push_back((method == http::Method::kDelete ? "DELETE " : "PATCH ") + rig.target(seen_) + " " +
                    rig.request(seen_).body);
    }
    return all;
  }
  /// Returns the status that the reports give a revision with this status.
  std::string judgedStatus(const std::string& revision, const std::string& before = "") const {
    return statusOf(judgeRevision(revisionOf(revisionItem(revision, "", before)),
                                  {"demo/egress", reports.all, rig.clock.now()}, base::someTime()));
  }
  std::optional<config::Condition> condition(const std::string& name) const {
    config::ObjectStatus gateway;
    gateway.nameSpace = "demo";
    gateway.name = name;
    return keeper->conditionOf(gateway);
  }

  ApiRig rig;
  FakeApi api{rig};
  ReportedObjects reports;
  int changes = 0;
  ToldEvents events{rig};
  std::unique_ptr<RevisionKeeper> keeper;

 private:
  void onRevisionsToJudge() override { ++changes; }

  std::size_t seen_ = 0;
};

constexpr const char* kServedBefore = R"({"state":"Served","lastServed":"2026-01-01T00:00:00Z"})";
constexpr const char* kPathOfOne = "/apis/sluice.dev/v1alpha1/namespaces/demo/egressrevisions/egress-";

TEST_F(RevisionKeeping, WritesWhatReplicasServeAndOnlyWhenItHasChanged) {
  put("b", 2);
  reports.see("one", "b", "a", control::ConfigState::kRollback, rig.clock.now());
  put("a", 1, "",
      judgedStatus("a", R"({"state":"Served","lastServed":"2026-01-01T00:00:00Z","conditions":[)"
                        R"({"type":"ResourcesInSync","reason":"NotDesired"}]})"));
  start();
  judge();
  const std::vector<std::string> first = writes();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_THAT(first[0], HasSubstr("PATCH " + std::string(kPathOfOne) + "b/status"));
  EXPECT_THAT(first[0], HasSubstr(R"("state":"Tainted")"));
  judge();
  EXPECT_THAT(writes(), IsEmpty()) << "it is written, although the server has not shown it";
  rig.clock.advance(std::chrono::seconds(5));
  judge();
  EXPECT_THAT(writes(), IsEmpty());
  put("b", 2, "", R"({"state":"Pending","served":"0/1"})");
  judge();
  EXPECT_EQ(writes().size(), 1u) << "somebody has changed it";
  put("b", 2, "", judgedStatus("b"));
  judge();
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(RevisionKeeping, DeletesTheOldestThatNobodyUses) {
  const std::string superseded = R"({"state":"Superseded","served":"0/1","lastServed":"2026-01-01T00:00:00Z"})";
  reports.see("one", "used", "used", control::ConfigState::kInSync, rig.clock.now());
  put("used", 0, "", judgedStatus("used", kServedBefore));
  put("old", 1, "", superseded);
  put("wanted", 2, R"(,"active":true)", superseded);
  put("older", 3, "", superseded);
  put("newer", 4, "", superseded);
  put("newest", 5, "", superseded);
  keeper->setMost(2);
  start();
  judge();
  EXPECT_THAT(writes(),
              ElementsAre(HasSubstr("DELETE " + std::string(kPathOfOne) + "older " +
                                    R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background",)"
                                    R"("preconditions":{"uid":"u-older"}})"),
                          HasSubstr("DELETE " + std::string(kPathOfOne) + "old ")));
}

TEST_F(RevisionKeeping, ValidatesARevisionThatItsCanaryHasServedForAWhile) {
  put("b", 1, R"(,"canary":"one")");
  start();
  reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
  judge();
  EXPECT_THAT(writes(), ElementsAre(HasSubstr(R"("type":"Validated","status":"False")")));
  const int before = changes;
  api.pass(RevisionKeeper::kCanaryTime + std::chrono::milliseconds(100));
  EXPECT_GT(changes, before) << "it asks to judge again";
  judge();
  EXPECT_THAT(writes(), ElementsAre(HasSubstr(R"("type":"Validated","status":"True")")));
  EXPECT_THAT(events.reasons(), ElementsAre("CanaryServes"));
}

TEST_F(RevisionKeeping, CountsTheTimeOfACanaryAnewWhenItBeginsAnew) {
  put("b", 1, R"(,"canary":"one")");
  start();
  reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
  judge();
  api.pass(RevisionKeeper::kCanaryTime - std::chrono::seconds(1));
  reports.since = "after a crash";
  reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
  judge();
  api.pass(std::chrono::seconds(2));
  judge();
  EXPECT_THAT(events.reasons(), IsEmpty());
  api.pass(RevisionKeeper::kCanaryTime);
  judge();
  EXPECT_THAT(events.reasons(), ElementsAre("CanaryServes"));
}

TEST_F(RevisionKeeping, LetsAllReplicasServeARevisionOnceAllHaveItReady) {
  put("b", 1, R"(,"canary":"one")");
  start();
  const auto report = [this](const std::string& two, const std::string& three, control::ConfigState ofThree) {
    reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
    reports.see("two", two, "a", control::ConfigState::kInSync, rig.clock.now());
    if (!three.empty()) reports.see("three", three, "a", ofThree, rig.clock.now());
    judge();
  };
  report("a", "b", control::ConfigState::kInSync);
  api.pass(RevisionKeeper::kCanaryTime + std::chrono::milliseconds(100));
  report("a", "b", control::ConfigState::kInSync);
  EXPECT_THAT(events.reasons(), IsEmpty()) << "one has not got it yet";
  report("b", "b", control::ConfigState::kRollback);
  EXPECT_THAT(events.reasons(), IsEmpty()) << "one refuses it";
  // That one is lost.
  api.pass(kReportDuration - std::chrono::seconds(1));
  report("b", "", {});
  EXPECT_THAT(events.reasons(), IsEmpty());
  api.pass(std::chrono::seconds(2));
  report("b", "", {});
  EXPECT_THAT(events.reasons(), ElementsAre("CanaryServes"));
}

TEST_F(RevisionKeeping, DeletesARevisionWhoseCanaryIsGone) {
  put("b", 1, R"(,"canary":"one")");
  start();
  reports.see("two", "a", "a", control::ConfigState::kInSync, rig.clock.now());
  judge();
  EXPECT_THAT(writes(), IsEmpty()) << "it may only not have reported yet";
  const int before = changes;
  api.pass(kReportDuration + std::chrono::milliseconds(100));
  EXPECT_GT(changes, before);
  reports.see("two", "a", "a", control::ConfigState::kInSync, rig.clock.now());
  judge();
  EXPECT_THAT(writes(), ElementsAre(HasSubstr("DELETE " + std::string(kPathOfOne) + "b ")));
  EXPECT_THAT(events.reasons(), IsEmpty()) << "another replica becomes the canary";
}

TEST_F(RevisionKeeping, KeepsARevisionWhoseCanaryIsGoneWhileNoReplicaCounts) {
  put("b", 1, R"(,"canary":"one")");
  start();
  reports.nameSpace = "third";
  for (int i = 0; i < 3; ++i) {
    reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
    reports.see("two", "a", "a", control::ConfigState::kInSync, rig.clock.now());
    judge();
    api.pass(kReportDuration);
  }
  EXPECT_THAT(writes(), IsEmpty()) << "replicas would create it again at once, for ever";
}

TEST_F(RevisionKeeping, RemembersTheSecretsThatPodsCouldReadWhileTheyWereGivenIt) {
  const std::string superseded = R"({"state":"Superseded","served":"0/1","lastServed":"2026-01-01T00:00:00Z",)";
  put("old", 1, "", superseded + R"("secrets":[{"namespace":"demo","name":"old"}]})");
  put("new", 2);
  reports.see("one", "new", "new", control::ConfigState::kInSync, rig.clock.now());
  keeper->setReadable(
      {{{"Gateway", "demo", "egress"}, {{"demo", "now"}}}, {{"Gateway", "demo", "another"}, {{"demo", "of-another"}}}});
  start();
  judge();
  const std::vector<std::string> written = writes();
  ASSERT_EQ(written.size(), 1u) << "the old one is not given to anybody";
  EXPECT_THAT(written[0], HasSubstr("egress-new/status {"));
  EXPECT_THAT(written[0], HasSubstr(R"("secrets":[{"namespace":"demo","name":"now"}])"));
  EXPECT_TRUE(keeper->readableBesides().empty());
  // A definition of before has dropped the fields: the same is not written once more.
  put("new", 2, "",
      R"({"state":"Served","served":"1/1","lastServed":"2026-01-01T00:00:00Z","conditions":[)"
      R"({"type":"ResourcesInSync","reason":"DesiredVersionPublished"}]})");
  judge();
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(RevisionKeeping, AddsNoSecretsToAnEarlierRevisionThatIsStillGiven) {
  put("old", 1, "", R"({"state":"Served","served":"1/1","lastServed":"2026-01-01T00:00:00Z"})");
  put("new", 2);
  reports.see("one", "old", "old", control::ConfigState::kInSync, rig.clock.now());
  reports.see("two", "new", "new", control::ConfigState::kInSync, rig.clock.now());
  keeper->setReadable({{{"Gateway", "demo", "egress"}, {{"demo", "now"}}}});
  start();
  judge();
  const std::vector<std::string> written = writes();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_THAT(written[0], testing::AllOf(HasSubstr("egress-new/status {"), HasSubstr("\"now\"")));
  EXPECT_THAT(written[1], testing::AllOf(HasSubstr("egress-old/status {"), testing::Not(HasSubstr("\"now\""))));
}

TEST_F(RevisionKeeping, MakesTheSecretsReadableOfWhatIsBroughtBack) {
  put("old", 1, R"(,"active":true)", R"({"state":"Served","secrets":[{"namespace":"demo","name":"old"}]})");
  reports.see("one", "old", "old", control::ConfigState::kInSync, rig.clock.now());
  keeper->setReadable({{{"Gateway", "demo", "egress"}, {{"demo", "now"}}}});
  start();
  judge();
  EXPECT_THAT(writes(), ElementsAre(HasSubstr(R"("secrets":[{"namespace":"demo","name":"old"}])")))
      << "what the newest objects name is nothing of its own";
  EXPECT_EQ(keeper->readableBesides(),
            (compile::SecretsOfGateways{{{"Gateway", "demo", "egress"}, {{"demo", "old"}}}}));
}

TEST_F(RevisionKeeping, MakesTheSecretsReadableOfWhatPodsStartFrom) {
  const std::string good = R"({"state":"Superseded","served":"0/1","lastServed":"2026-01-0)";
  put("older", 0, "", good + R"(1T00:00:00Z","secrets":[{"namespace":"demo","name":"older"}]})");
  put("old", 1, "", good + R"(2T00:00:00Z","secrets":[{"namespace":"demo","name":"old"}]})");
  put("new", 2);
  start();
  EXPECT_TRUE(keeper->readableBesides().empty()) << "nobody has refused the newest one";
  const compile::SecretsOfGateways ofOld{{{"Gateway", "demo", "egress"}, {{"demo", "old"}}}};
  for (const char* state : {"Refused", "Tainted"}) {
    put("new", 2, "", std::string(R"({"state":")") + state + "\"}");
    api.serve();
    EXPECT_EQ(keeper->readableBesides(), ofOld) << state;
  }
  put("new", 2, "", R"({"state":"Served","lastServed":"2026-01-03T00:00:00Z"})");
  api.serve();
  EXPECT_TRUE(keeper->readableBesides().empty());
}

TEST_F(RevisionKeeping, DeletesNoRevisionFromWhichPodsStart) {
  put("good", 0, "", R"({"state":"Superseded","served":"0/0","lastServed":"2026-01-01T00:00:00Z"})");
  for (int i = 1; i <= 3; ++i) put("bad" + std::to_string(i), i, "", R"({"state":"Tainted","served":"0/0"})");
  keeper->setMost(1);
  start();
  judge();
  std::vector<std::string> deleted = writes();
  std::erase_if(deleted, [](const std::string& each) { return each.find("DELETE ") != 0; });
  EXPECT_THAT(deleted, ElementsAre(HasSubstr("egress-bad2 "), HasSubstr("egress-bad1 ")));
}

TEST_F(RevisionKeeping, WritesNothingUnlessItLeads) {
  put("b", 1);
  reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
  start();
  rig.inTurn([this] { keeper->lead(false); });
  judge();
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(RevisionKeeping, TriesAgainWhatCouldNotBeWritten) {
  put("b", 1);
  reports.see("one", "b", "b", control::ConfigState::kInSync, rig.clock.now());
  start();
  api.holds = "/status";
  judge();
  ASSERT_EQ(api.held.size(), 1u);
  rig.answer(api.held[0], 403, statusBody(403, "not allowed"));
  EXPECT_THAT(rig.logged.text(), HasSubstr("not allowed"));
  const int before = changes;
  api.pass(RevisionKeeper::kTryToWriteAgainAfter + std::chrono::seconds(1));
  EXPECT_GT(changes, before) << "it asks to judge again";
  api.holds.reset();
  writes();
  judge();
  EXPECT_EQ(writes().size(), 1u);
}

TEST_F(RevisionKeeping, WritesAllOfARoundAlthoughTheFirstIsForbidden) {
  for (const char* revision : {"a", "b", "c"}) {
    put(revision, 1);
    reports.see(revision, revision, revision, control::ConfigState::kInSync, rig.clock.now());
    api.forbidden.insert("/apis/sluice.dev/v1alpha1/egressrevisions/egress-" + std::string(revision) + "/status");
  }
  start();
  judge();
  EXPECT_EQ(writes().size(), 3u) << "or a namespace would hold back the others until all of its own are refused";
  EXPECT_EQ(rig.logged.count("an EgressRevision cannot be written"), 1u);
}

TEST_F(RevisionKeeping, KeepsFewOfANamespaceWhoseGatewaysDoNotExist) {
  const auto putStray = [this](const std::string& nameSpace, const std::string& gateway, int day) {
    api.put(
        kAllRevisions, nameSpace, gateway + "-a",
        R"("spec":{"gatewayRef":{"kind":"Gateway","name":")" + gateway + R"("},"revision":"a"})",
        R"("uid":"u-)" + gateway + R"(","creationTimestamp":"2026-11-)" + std::to_string(10 + day) + R"(T00:00:00Z")");
  };
  for (int i = 0; i < 4; ++i) putStray("demo", "invented-" + std::to_string(i), i);
  putStray("other", "just-made", 0);
  put("real", 0);
  keeper->setMost(2);
  start();
  judge();
  EXPECT_THAT(writes(), testing::UnorderedElementsAre(HasSubstr("/namespaces/demo/egressrevisions/invented-0-a "),
                                                      HasSubstr("/namespaces/demo/egressrevisions/invented-1-a ")));
}

TEST_F(RevisionKeeping, DeletesOnceARevisionThatHasNoCanaryAndIsOld) {
  put("old", 1, R"(,"canary":"gone")", R"({"state":"Pending"})");
  put("new", 2, "", R"({"state":"Superseded","served":"0/1","lastServed":"2026-11-12T00:00:00Z"})");
  keeper->setMost(1);
  start();
  api.pass(kReportDuration + std::chrono::milliseconds(100));
  reports.see("two", "a", "a", control::ConfigState::kInSync, rig.clock.now());
  judge();
  EXPECT_THAT(writes(), ElementsAre(HasSubstr("DELETE " + std::string(kPathOfOne) + "old ")));
}

TEST_F(RevisionKeeping, WritesNoStatusOfARevisionThatNoReplicaHasReported) {
  put("forged", 9, R"(,"active":true)");
  put("real", 1);
  reports.see("one", "real", "real", control::ConfigState::kInSync, rig.clock.now());
  reports.nameSpace = "tenant";
  reports.see("two", "forged", "forged", control::ConfigState::kInSync, rig.clock.now());
  keeper->setReadable({{{"Gateway", "demo", "egress"}, {{"demo", "now"}}}});
  start();
  judge();
  const std::vector<std::string> written = writes();
  ASSERT_EQ(written.size(), 1u);
  EXPECT_THAT(written[0], HasSubstr("egress-real/status {"));
  EXPECT_THAT(written[0], HasSubstr(R"("secrets":[{"namespace":"demo","name":"now"}])"))
      << "it is the newest one that is known";
  EXPECT_FALSE(condition("egress"));
  EXPECT_TRUE(keeper->readableBesides().empty());
  EXPECT_THAT(events.reasons(), IsEmpty());
}

TEST_F(RevisionKeeping, DeletesNoneThatWasServedForThoseThatNoReplicaHasReported) {
  const std::string superseded = R"({"state":"Superseded","served":"0/1","lastServed":"2026-01-01T00:00:00Z"})";
  put("old", 0, "", superseded);
  reports.see("one", "new", "new", control::ConfigState::kInSync, rig.clock.now());
  put("new", 1, "", judgedStatus("new", kServedBefore));
  for (int i = 2; i < 6; ++i) put("forged-" + std::to_string(i), i);
  keeper->setMost(2);
  start();
  judge();
  EXPECT_THAT(writes(), ElementsAre(HasSubstr("DELETE " + std::string(kPathOfOne) + "forged-3 "),
                                    HasSubstr("DELETE " + std::string(kPathOfOne) + "forged-2 ")));
}

TEST_F(RevisionKeeping, DeletesFewOfANamespaceInOneRound) {
  for (int i = 0; i < 25; ++i) put("forged-" + std::to_string(i), 1);
  keeper->setMost(2);
  start();
  const int before = changes;
  judge();
  EXPECT_THAT(writes(), testing::SizeIs(RevisionKeeper::kMostRemovals));
  EXPECT_GT(changes, before) << "it asks to judge again";
  for (int i = 0; i < 22; ++i) api.remove(kAllRevisions, "demo", "egress-forged-" + std::to_string(i));
  judge();
  EXPECT_THAT(writes(), testing::SizeIs(1)) << "two are kept";
}

TEST_F(RevisionKeeping, DeletesNoneAgainThatAFinalizerKeeps) {
  api.put(kAllRevisions, "demo", "egress-kept",
          R"("spec":{"gatewayRef":{"kind":"Gateway","name":"egress"},"revision":"kept"})",
          R"("uid":"u","creationTimestamp":"2026-11-01T00:00:00Z","deletionTimestamp":"2026-11-02T00:00:00Z")");
  put("new", 5);
  keeper->setMost(1);
  start();
  judge();
  EXPECT_THAT(writes(), IsEmpty()) << "it would ask again for ever";
}

TEST_F(RevisionKeeping, SaysOfAGatewayThatAnEarlierRevisionIsWanted) {
  put("a", 1, R"(,"active":true)", R"({"state":"Superseded"})");
  start();
  const auto rolledBack = condition("egress");
  ASSERT_TRUE(rolledBack);
  EXPECT_EQ(rolledBack->type, "sluice.dev/RolledBack");
  EXPECT_EQ(rolledBack->status, config::ConditionStatus::kTrue);
  EXPECT_THAT(rolledBack->message, HasSubstr("egress-a"));
  judge();
  judge();
  EXPECT_THAT(events.reasons(), ElementsAre("RevisionActive")) << "it is told once";
  EXPECT_FALSE(condition("other"));
  put("a", 1);
  EXPECT_FALSE(condition("egress"));
}

}  // namespace
}  // namespace sluice::kubernetes
