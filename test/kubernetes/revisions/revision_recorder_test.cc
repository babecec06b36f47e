// Tests that a replica stores the configuration that it got as an EgressRevision, and serves the one that users choose.
#include "proxy/kubernetes/revisions/revision_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRecordedRevisions = "/apis/sluice.dev/v1alpha1/egressrevisions";

constexpr const char* kStatusOfServed = R"(,"status":{"state":"Served"})";

/// A replica of Gateway demo/egress.
class RevisionRecording : public testing::Test, private RevisionRecorderUser {
 protected:
  void SetUp() override {
    api.put("/apis/gateway.networking.k8s.io/v1/gatewayclasses", "", "sluice",
            R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
    api.put("/apis/gateway.networking.k8s.io/v1/gateways", "demo", "egress", R"("spec":{"gatewayClassName":"sluice"})",
            R"("uid":"u-1")");
    objects = std::make_unique<ClusterObjects>(rig.client, ClusterScope{});
    recorder = std::make_unique<RevisionRecorder>(rig.client, *objects, RevisionRecorder::Names{"demo/egress", "pod-1"},
                                                  static_cast<RevisionRecorderUser&>(*this));
    rig.inTurn([this] { objects->start(); });
    api.serve();
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    recorder.reset();
    objects.reset();
  }
  void start() {
    rig.inTurn([this] { recorder->start(); });
    api.serve();
  }
  void want(const std::string& revision, bool withCanary = false, bool isRefused = false) {
    rig.inTurn([&] { recorder->want({objectsOf(revision), withCanary, isRefused}); });
    api.serve();
  }
  static std::shared_ptr<const RevisedObjects> objectsOf(const std::string& revision) {
    return std::make_shared<const RevisedObjects>(RevisedObjects{revision, {}});
  }
  void put(const std::string& revision, const std::string& spec = "", const std::string& gateway = "egress",
           const std::string& created = "2026-11-01T00:00:00Z", const std::string& status = "") {
    api.put(kRecordedRevisions, "demo", gateway + "-" + revision,
            R"("spec":{"gatewayRef":{"kind":"Gateway","name":")" + gateway + R"("},"revision":")" + revision + "\"" +
                spec + "}" + status,
            R"("uid":"u","creationTimestamp":")" + created + "\"");
  }
  bool mayServe(const std::string& revision) {
    bool may = false;
    rig.inTurn([&] { may = recorder->mayServe(revision); });
    return may;
  }
  /// Has revision "a", which asks for a canary, refused because an object of its name exists.
  void findNameTaken() {
    EXPECT_FALSE(mayServe("a"));
    api.holds = "/egressrevisions";
    rig.inTurn([&] { recorder->want({objectsOf("a"), true}); });
    api.pass(seconds(2));
    ASSERT_EQ(api.held.size(), 1u);
    rig.answer(api.held[0], 409, statusBody(409, "it is there"));
  }
  /// Returns the bodies that were posted since the last call.
  std::vector<std::string> posted() {
    std::vector<std::string> all;
    for (; seen_ < rig.requests(); ++seen_) {
      if (rig.request(seen_).message.head.method != http::Method::kPost) continue;
      EXPECT_EQ(rig.target(seen_), "/apis/sluice.dev/v1alpha1/namespaces/demo/egressrevisions");
      all.push_back(rig.request(seen_).body);
    }
    return all;
  }

  ApiRig rig;
  FakeApi api{rig};
  /// Lets that many seconds pass. Each object that is posted meanwhile exists from then on. Returns their revisions.
  std::vector<std::string> recordedWithin(int passing) {
    constexpr std::string_view kName = R"("name":"egress-)";
    std::vector<std::string> recorded;
    for (int i = 0; i < passing; ++i) {
      api.pass(seconds(1));
      for (const std::string& body : posted()) {
        const std::size_t at = body.find(kName) + kName.size();
        recorded.push_back(body.substr(at, body.find('"', at) - at));
        put(recorded.back());
      }
    }
    return recorded;
  }
  /// Has objects recorded until further ones wait.
  void useUpWhatIsRecordedAtOnce() {
    start();
    for (int i = 0; i <= RevisionRecorder::kAtOnceAfterRest; ++i) {
      want("earlier-" + std::to_string(i));
      EXPECT_THAT(recordedWithin(3), ElementsAre("earlier-" + std::to_string(i)));
    }
  }

  std::vector<std::string> pins;
  std::vector<std::string> deleted;
  std::vector<std::string> earlier;  // revisions from which it can start
  bool packsLater = false;
  std::vector<std::string> toPack;  // revisions whose objects were given to be packed
  int released = 0;
  bool known = false;
  std::unique_ptr<ClusterObjects> objects;
  std::unique_ptr<RevisionRecorder> recorder;

 private:
  void onPin(std::shared_ptr<const PinnedRevision> pin) override {
    pins.push_back(pin == nullptr ? "none" : pin->revision + pin->data);
  }
  void onPinKnown() override { known = true; }
  void onReleased() override { ++released; }
  void onForgotten(const std::string& revision) override { deleted.push_back(revision); }
  void onEarlier(std::vector<EarlierRevision> newestFirst) override {
    earlier.clear();
    for (const EarlierRevision& each : newestFirst) earlier.push_back(each.revision);
  }
  void onPack(std::shared_ptr<const RevisedObjects> packs) override {
    toPack.push_back(packs->revision);
    if (!packsLater) recorder->packed("data-" + packs->revision);
  }

  std::size_t seen_ = 0;
};

TEST_F(RevisionRecording, TellsFromWhichRevisionsItCanStart) {
  const auto status = [](const std::string& state, const std::string& served) {
    return R"(,"status":{"state":")" + state + R"(","lastServed":")" + served + "\"}";
  };
  put("a", "", "egress", "2026-11-01T00:00:00Z", status("Superseded", "2026-11-05T00:00:00Z"));
  put("b", "", "egress", "2026-11-02T00:00:00Z", status("Superseded", "2026-11-02T00:00:00Z"));
  put("c", "", "egress", "2026-11-03T00:00:00Z", status("Tainted", "2026-11-03T00:00:00Z"));
  put("d", "", "egress", "2026-11-04T00:00:00Z", R"(,"status":{"state":"Refused"})");
  put("e", "", "egress", "2026-11-06T00:00:00Z");
  put("f", "", "another", "2026-11-07T00:00:00Z", kStatusOfServed);
  start();
  EXPECT_THAT(earlier, ElementsAre("a", "b")) << "the one that was served last is the first";
  put("e", "", "egress", "2026-11-06T00:00:00Z", status("Served", "2026-11-06T00:00:00Z"));
  api.serve();
  EXPECT_THAT(earlier, ElementsAre("e", "a", "b"));
  api.remove(kRecordedRevisions, "demo", "egress-a");
  api.serve();
  EXPECT_THAT(earlier, ElementsAre("e", "b"));
}

TEST_F(RevisionRecording, CreatesOneObjectForABurstOfChanges) {
  start();
  want("a");
  want("b");
  EXPECT_THAT(posted(), IsEmpty()) << "another replica may do it, or another change may come";
  api.pass(seconds(2));
  const std::vector<std::string> bodies = posted();
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_THAT(bodies[0], HasSubstr(R"("name":"egress-b")"));
  EXPECT_THAT(bodies[0], HasSubstr(R"("uid":"u-1")"));
  EXPECT_THAT(bodies[0], HasSubstr(R"("data":"data-b")"));
  put("b");
  api.pass(minutes(2));
  EXPECT_THAT(posted(), IsEmpty());
}

TEST_F(RevisionRecording, RecordsWhatChangesAllTheTimeOnceInAMinute) {
  start();
  std::vector<std::string> recorded;
  const auto take = [&](const std::vector<std::string>& more) {
    recorded.insert(recorded.end(), more.begin(), more.end());
  };
  constexpr int kChanges = 300;
  for (int i = 0; i < kChanges; ++i) {
    want(std::to_string(i));
    take(recordedWithin(1));
  }
  const auto periods = static_cast<std::size_t>(seconds(kChanges) / RevisionRecorder::kBetweenObjects);
  const std::size_t most = 1 + RevisionRecorder::kAtOnceAfterRest + periods;
  EXPECT_LE(recorded.size(), most);
  EXPECT_GE(recorded.size() + 1, most) << "some are recorded while they change";
  take(recordedWithin(60));
  EXPECT_EQ(recorded.back(), std::to_string(kChanges - 1)) << "the newest one is recorded within a minute";
  EXPECT_THAT(recordedWithin(120), IsEmpty());
}

TEST_F(RevisionRecording, PacksOnlyWhatItRecords) {
  useUpWhatIsRecordedAtOnce();
  toPack.clear();
  for (int i = 0; i < 10; ++i) want("passing-" + std::to_string(i));
  EXPECT_THAT(recordedWithin(60), ElementsAre("passing-9"));
  EXPECT_THAT(toPack, ElementsAre("passing-9"));
}

TEST_F(RevisionRecording, RecordsARefusedOneAtOnceAndWhatIsServedInItsPlace) {
  useUpWhatIsRecordedAtOnce();
  want("served");
  EXPECT_THAT(recordedWithin(10), IsEmpty());
  want("bad", false, true);
  EXPECT_THAT(recordedWithin(5), ElementsAre("served", "bad"));
}

TEST_F(RevisionRecording, RecordsWhatIsServedAtOnceIfAnEarlierOneIsMadeActive) {
  useUpWhatIsRecordedAtOnce();
  want("newest");
  EXPECT_THAT(recordedWithin(10), IsEmpty());
  put("earlier-0", R"(,"active":true)", "egress", "2026-11-01T00:00:00Z", kStatusOfServed);
  want("earlier-0");
  EXPECT_THAT(recordedWithin(5), ElementsAre("newest"));
}

TEST_F(RevisionRecording, RecordsOneAtOnceIfTheGatewayHasNone) {
  useUpWhatIsRecordedAtOnce();
  for (int i = 0; i <= RevisionRecorder::kAtOnceAfterRest; ++i) {
    api.remove(kRecordedRevisions, "demo", "egress-earlier-" + std::to_string(i));
  }
  want("first");
  EXPECT_THAT(recordedWithin(3), ElementsAre("first"));
}

TEST_F(RevisionRecording, KeepsThePaceOfAllReplicas) {
  put("a");
  start();
  for (int i = 0; i < RevisionRecorder::kAtOnceAfterRest; ++i) put("of-others-" + std::to_string(i));
  want("b");
  EXPECT_THAT(recordedWithin(40), IsEmpty());
  EXPECT_THAT(recordedWithin(20), ElementsAre("b"));
}

TEST_F(RevisionRecording, IsDelayedByOthersOnlyForAWhile) {
  useUpWhatIsRecordedAtOnce();
  want("a");
  std::vector<std::string> recorded;
  for (int i = 0; i < 20 && recorded.empty(); ++i) {
    put("of-others-" + std::to_string(i));
    recorded = recordedWithin(10);
    EXPECT_EQ(recorded.empty(), i < 15) << i;
  }
  EXPECT_THAT(recorded, ElementsAre("a"));
}

TEST_F(RevisionRecording, RecordsWhatWasPackedEvenIfOtherObjectsHaveComeSince) {
  packsLater = true;
  start();
  want("a");
  api.pass(seconds(2));
  EXPECT_THAT(toPack, ElementsAre("a"));
  want("b");
  api.pass(seconds(10));
  EXPECT_THAT(toPack, ElementsAre("a")) << "one at a time";
  rig.inTurn([this] { recorder->packed("of a"); });
  api.serve();
  EXPECT_THAT(posted(), ElementsAre(testing::AllOf(HasSubstr("egress-a"), HasSubstr("of a"))));
  put("a");
  api.pass(seconds(2));
  EXPECT_THAT(toPack, ElementsAre("a", "b"));
}

TEST_F(RevisionRecording, CreatesNothingThatAnotherReplicaHasCreated) {
  put("a");
  start();
  want("a");
  api.pass(seconds(10));
  EXPECT_THAT(posted(), IsEmpty());
  want("b");
  put("b");
  api.pass(seconds(10));
  EXPECT_THAT(posted(), IsEmpty());
}

TEST_F(RevisionRecording, TellsOfADeletedOneAndCreatesItAgain) {
  put("a");
  put("a", "", "other");
  start();
  want("a");
  api.remove(kRecordedRevisions, "demo", "other-a");
  EXPECT_THAT(deleted, IsEmpty()) << "it is another Gateway's";
  api.remove(kRecordedRevisions, "demo", "egress-a");
  EXPECT_THAT(deleted, ElementsAre("a"));
  api.pass(seconds(2));
  EXPECT_EQ(posted().size(), 1u);
}

TEST_F(RevisionRecording, PinsTheNewestActiveOneUntilNoneIsActive) {
  const std::string active = R"(,"active":true,"data":"!")";
  start();
  put("a", active, "egress", "2026-11-01T00:00:00Z", kStatusOfServed);
  put("b", active, "egress", "2026-11-02T00:00:00Z", kStatusOfServed);
  put("c", active, "other", "2026-11-03T00:00:00Z", kStatusOfServed);
  put("d", active, "egress", "2026-11-04T00:00:00Z");
  EXPECT_THAT(pins, ElementsAre("a!", "b!")) << "d has no status of a controller";
  put("b");
  put("a");
  EXPECT_THAT(pins, ElementsAre("a!", "b!", "a!", "none"));
}

TEST_F(RevisionRecording, IsTheCanaryOfWhatItHasCreated) {
  start();
  EXPECT_FALSE(recorder->mayServe("a"));
  want("a", true);
  api.pass(seconds(2));
  const std::vector<std::string> bodies = posted();
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_THAT(bodies[0], HasSubstr(R"("canary":"pod-1")"));
  EXPECT_EQ(released, 0) << "another one may have created it at the same time";
  put("a", R"(,"canary":"pod-1")");
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(recorder->mayServe("a"));
}

TEST_F(RevisionRecording, WaitsForACanary) {
  put("a", R"(,"canary":"pod-2")");
  start();
  EXPECT_FALSE(recorder->mayServe("a"));
  want("a", true);
  const std::string validated = R"(,"status":{"state":"Served","conditions":[{"type":"Validated","status":"True"}]})";
  api.put(kRecordedRevisions, "demo", "egress-a",
          R"("spec":{"gatewayRef":{"kind":"Gateway","name":"egress"},"revision":"a","canary":"pod-2"})" + validated,
          R"("uid":"u")");
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(recorder->mayServe("a"));
  put("b");
  EXPECT_FALSE(recorder->mayServe("b")) << "anybody may have created it";
  put("b", "", "egress", "2026-11-01T00:00:00Z", kStatusOfServed);
  EXPECT_TRUE(recorder->mayServe("b")) << "it was created before anybody asked for a canary";
}

TEST_F(RevisionRecording, TakesNoObjectForItsOwnThatHasAnotherName) {
  api.put(kRecordedRevisions, "demo", "forged",
          R"("spec":{"gatewayRef":{"kind":"Gateway","name":"egress"},"revision":"a","canary":"pod-1"})",
          R"("uid":"u")");
  start();
  EXPECT_FALSE(recorder->mayServe("a"));
  want("a", true);
  api.pass(seconds(2));
  EXPECT_EQ(posted().size(), 1u);
  for (int i = 0; i < 3; ++i) {
    api.put(kRecordedRevisions, "demo", "forged-" + std::to_string(i),
            R"("spec":{"gatewayRef":{"kind":"Gateway","name":"egress"},"revision":"a"})", R"("uid":"u")");
  }
  EXPECT_EQ(rig.logged.count("an EgressRevision cannot be read"), 1u) << rig.logged.text();
}

TEST_F(RevisionRecording, CreatesItsOwnAtOnceWhenOneIsDeletedThatWaitsForAnother) {
  put("a", R"(,"canary":"nobody")");
  start();
  want("a", true);
  api.remove(kRecordedRevisions, "demo", "egress-a");
  api.pass(std::chrono::milliseconds(100));
  EXPECT_THAT(posted(), ElementsAre(HasSubstr(R"("canary":"pod-1")")));
}

TEST_F(RevisionRecording, CreatesWhatIsDeletedAgainAndAgainOnlyAfterAPause) {
  for (const char* canary : {"nobody", "pod-1"}) {
    const std::string revision = std::string("of-") + canary;
    const std::string spec = R"(,"canary":")" + std::string(canary) + "\"";
    put(revision, spec);
    if (canary == std::string("nobody")) start();
    want(revision, true);
    api.remove(kRecordedRevisions, "demo", "egress-" + revision);
    api.pass(seconds(3));
    EXPECT_EQ(posted().size(), 1u) << canary;
    put(revision, spec);
    api.remove(kRecordedRevisions, "demo", "egress-" + revision);
    api.pass(RevisionRecorder::kTryToCreateAgainAfter - seconds(2));
    EXPECT_THAT(posted(), IsEmpty()) << canary;
    api.pass(seconds(3));
    EXPECT_EQ(posted().size(), 1u) << canary;
    put(revision, spec);
  }
}

TEST_F(RevisionRecording, BecomesTheCanaryIfTheFirstOneIsGone) {
  put("a", R"(,"canary":"pod-2")");
  start();
  EXPECT_FALSE(recorder->mayServe("a"));
  want("a", true);
  api.remove(kRecordedRevisions, "demo", "egress-a");
  api.pass(seconds(2));
  EXPECT_THAT(posted(), ElementsAre(HasSubstr(R"("canary":"pod-1")")));
}

TEST_F(RevisionRecording, DoesNotWaitForACanaryIfItMayNotReadRevisions) {
  api.forbidden.insert(kRecordedRevisions);
  EXPECT_FALSE(recorder->mayServe("a"));
  start();
  EXPECT_TRUE(known);
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(recorder->mayServe("a"));
}

TEST_F(RevisionRecording, DoesNotWaitForACanaryIfItsRevisionIsRefused) {
  start();
  EXPECT_TRUE(known);
  EXPECT_FALSE(recorder->mayServe("a"));
  api.holds = "/egressrevisions";
  rig.inTurn([&] { recorder->want({objectsOf("a"), true}); });
  api.pass(seconds(2));
  ASSERT_EQ(api.held.size(), 1u);
  rig.answer(api.held[0], 503, statusBody(503, "busy"));
  EXPECT_EQ(released, 0) << "it may take it later";
  api.pass(RevisionRecorder::kTryToCreateAgainAfter + seconds(1));
  ASSERT_EQ(api.held.size(), 2u);
  rig.answer(api.held[1], 403, statusBody(403, "no quota"));
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(recorder->mayServe("a"));
}

TEST_F(RevisionRecording, WaitsOnlyAWhileIfItsNameIsThatOfAnObjectThatItNeverSees) {
  start();
  findNameTaken();
  api.pass(RevisionRecorder::kTryToCreateAgainAfter - seconds(1));
  EXPECT_EQ(released, 0);
  api.pass(seconds(2));
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(mayServe("a"));
  EXPECT_FALSE(mayServe("b")) << "its name is another one";
  EXPECT_EQ(rig.logged.count("a revision is served without a canary"), 1u);
  EXPECT_THAT(rig.logged.text(), HasSubstr("egress-a"));
}

TEST_F(RevisionRecording, WaitsForTheCanaryOfAnObjectThatWasThereFirst) {
  start();
  findNameTaken();
  put("a", R"(,"canary":"pod-2")");
  api.pass(minutes(2));
  EXPECT_EQ(released, 0);
  EXPECT_EQ(rig.logged.count("a revision is served without a canary"), 0u);
}

TEST_F(RevisionRecording, WaitsOnlyAWhileForAnObjectThatNamesNoCanary) {
  const std::string pending = R"(,"status":{"state":"Pending"})";
  put("a", "", "egress", "2026-11-01T00:00:00Z", pending);
  put("b", "", "egress", "2026-11-01T00:00:00Z", pending);
  start();
  want("a", true);
  EXPECT_FALSE(mayServe("a")) << "this Gateway asks for one";
  api.pass(RevisionRecorder::kTryToCreateAgainAfter - seconds(1));
  EXPECT_EQ(released, 0);
  EXPECT_FALSE(mayServe("a"));
  api.pass(seconds(2));
  EXPECT_EQ(released, 1) << "the wait does not begin anew when it is asked again";
  EXPECT_TRUE(mayServe("a"));
  EXPECT_THAT(rig.logged.text(), HasSubstr("a revision is served without a canary"));
  want("b", false);
  EXPECT_TRUE(mayServe("b"));
}

TEST_F(RevisionRecording, TakesNoObjectForItsOwnThatIsOfAnotherKindOfGateway) {
  api.put(kRecordedRevisions, "demo", "egress-a",
          R"("spec":{"gatewayRef":{"kind":"Other","name":"egress"},"revision":"a","canary":"pod-1","active":true})" +
              std::string(kStatusOfServed),
          R"("uid":"u")");
  start();
  EXPECT_THAT(pins, IsEmpty());
  EXPECT_FALSE(mayServe("a"));
  api.remove(kRecordedRevisions, "demo", "egress-a");
  EXPECT_THAT(deleted, IsEmpty());
}

TEST_F(RevisionRecording, FindsOutThatTheKindHasBeenInstalled) {
  api.absent.insert(kRecordedRevisions);
  start();
  want("a");
  api.pass(seconds(10));
  EXPECT_THAT(posted(), IsEmpty());
  EXPECT_EQ(rig.logged.text().find("EgressRevision"), std::string::npos) << "nobody has asked for them";
  EXPECT_TRUE(recorder->mayServe("a")) << "there is nobody to ask";
  api.absent.clear();
  api.pass(minutes(1) + seconds(2));
  EXPECT_EQ(posted().size(), 1u);
}

}  // namespace
}  // namespace sluice::kubernetes
