// Tests that objects are written when a place is free, namespace by namespace, and that they wait when the API server
// refuses them.
#include "proxy/kubernetes/writer/object_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/kubernetes/writer/write_requests.h"
#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

using Outcomes = std::vector<std::pair<std::string, WriteOutcome>>;

WriteKey thingKey(const std::string& name, const std::string& nameSpace = "demo") {
  return {"example.com", "Thing", nameSpace, name};
}

/// Writes Things with at most two writes at one time, and pauses of at most four seconds, or thirty if the server asks
/// for them.
class ObjectWriting : public ::testing::Test, public ObjectWriterUser {
 protected:
  std::optional<ApiRequest> requestFor(const WriteKey& key) override {
    ++looks;
    if (nothing) return std::nullopt;
    ApiRequest request = mergePatchRequest("/" + key.nameSpace + "/" + key.name, text);
    request.listed = listed;
    return request;
  }
  void onItem(const content::Value& /*item*/) override { ++items; }
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& /*answer*/) override {
    outcomes.emplace_back(key.name, outcome);
    if (again) writer->want(key);
  }
  void make(std::size_t most) {
    writer = std::make_unique<ObjectWriter>(
        rig.client, ObjectWriter::WriterRules{most, seconds(4), seconds(30), "a Thing cannot be written"}, *this);
  }
  void SetUp() override { make(2); }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    writer.reset();
  }
  void want(const WriteKey& key) {
    rig.inTurn([&] { writer->want(key); });
  }
  void wantIn(const WriteKey& key, base::Duration after) {
    rig.inTurn([&] { writer->want(key, rig.clock.now() + after); });
  }
  void refuse(std::size_t number, std::uint16_t status, const sluice::test::FieldList& fields = {}) {
    rig.answer(number, status, statusBody(status, "no"), fields);
  }
  void accept(std::size_t number) { rig.answer(number, 200, "{}"); }
  std::size_t logged() const { return rig.logged.count("a Thing cannot be written"); }

  ApiRig rig;
  std::unique_ptr<ObjectWriter> writer;
  std::string text = "{}";
  bool nothing = false;  // there is nothing to be done
  bool again = false;    // an object whose write has ended is wanted again
  bool listed = false;
  std::size_t looks = 0;
  std::size_t items = 0;
  Outcomes outcomes;
};

TEST_F(ObjectWriting, WritesWhatIsWantedWhenThereIsAPlace) {
  for (const char* name : {"a", "b", "c"}) want(thingKey(name));
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(rig.target(0), "/demo/a");
  EXPECT_EQ(rig.target(1), "/demo/b");
  EXPECT_EQ(writer->size(), 3u);
  text = R"({"newest":true})";
  accept(0);
  ASSERT_EQ(rig.requests(), 3u);
  EXPECT_EQ(rig.target(2), "/demo/c");
  EXPECT_EQ(rig.request(2).body, text);
  accept(1);
  accept(2);
  EXPECT_EQ(outcomes, (Outcomes{{"a", WriteOutcome::kDone}, {"b", WriteOutcome::kDone}, {"c", WriteOutcome::kDone}}));
  EXPECT_EQ(writer->size(), 0u);
}

TEST_F(ObjectWriting, AsksOnceForARequestThatIsNotNeeded) {
  nothing = true;
  want(thingKey("a"));
  rig.advance(seconds(60));
  EXPECT_EQ(looks, 1u);
  EXPECT_EQ(rig.requests(), 0u);
  EXPECT_EQ(writer->size(), 0u);
}

TEST_F(ObjectWriting, HasOneWriteOfAnObjectUnderWayAndLooksAtItAgainAfterwards) {
  want(thingKey("a"));
  want(thingKey("a"));
  EXPECT_EQ(rig.requests(), 1u);
  accept(0);
  ASSERT_EQ(rig.requests(), 2u);
  accept(1);
  EXPECT_EQ(rig.requests(), 2u);
}

TEST_F(ObjectWriting, LooksAtAnObjectAtTheEarliestOfItsTimes) {
  wantIn(thingKey("a"), seconds(10));
  wantIn(thingKey("a"), seconds(3));
  wantIn(thingKey("a"), seconds(20));
  rig.advance(milliseconds(2900));
  EXPECT_EQ(rig.requests(), 0u);
  rig.advance(milliseconds(200));
  ASSERT_EQ(rig.requests(), 1u);
  accept(0);
  rig.advance(seconds(30));
  EXPECT_EQ(rig.requests(), 1u) << "the other times are gone";
}

TEST_F(ObjectWriting, LetsNamespacesTakeTurns) {
  rig.inTurn([this] {
    for (int i = 0; i < 500; ++i) writer->want(thingKey("t" + std::to_string(i), "busy"));
  });
  want(thingKey("one", "quiet"));
  want(thingKey("other", "rare"));
  EXPECT_EQ(rig.requests(), 2u);
  accept(0);
  accept(1);
  ASSERT_EQ(rig.requests(), 4u);
  EXPECT_EQ(rig.target(2), "/quiet/one");
  EXPECT_EQ(rig.target(3), "/rare/other");
  accept(2);
  EXPECT_EQ(rig.target(4), "/busy/t2");
}

TEST_F(ObjectWriting, LooksAtFewObjectsInOneTurn) {
  nothing = true;
  {
    const net::Worker::Turn turn(rig.worker);
    for (int i = 0; i < 120; ++i) writer->want(thingKey(std::to_string(i)));
    EXPECT_EQ(looks, 0u) << "more may be wanted in this turn";
  }
  for (const std::size_t expected : {50u, 100u, 120u, 120u}) {
    EXPECT_EQ(looks, expected);
    { const net::Worker::Turn turn(rig.worker); }
  }
}

TEST_F(ObjectWriting, LetsObjectsOfAForbiddenKindAndNamespaceWait) {
  again = true;
  want(thingKey("a"));
  want(thingKey("b"));
  refuse(0, 403);
  refuse(1, 403);
  EXPECT_EQ(rig.requests(), 2u);
  again = false;
  want(thingKey("a", "other"));
  ASSERT_EQ(rig.requests(), 3u) << "others go on";
  accept(2);
  again = true;
  rig.advance(milliseconds(600));
  ASSERT_EQ(rig.requests(), 5u) << "both refusals were one";
  refuse(3, 403);
  refuse(4, 403);
  rig.advance(milliseconds(900));
  EXPECT_EQ(rig.requests(), 5u) << "twice as long";
  rig.advance(milliseconds(200));
  ASSERT_EQ(rig.requests(), 7u);
  again = false;
  accept(5);
  refuse(6, 403);
  want(thingKey("c"));
  rig.advance(milliseconds(600));
  EXPECT_EQ(rig.requests(), 8u) << "it was permitted meanwhile";
}

TEST_F(ObjectWriting, WaitsWithAllWhileTheServerIsInTrouble) {
  again = true;
  want(thingKey("a"));
  std::size_t number = 0;
  for (const base::Duration pause : {milliseconds(500), milliseconds(1000), milliseconds(2000), milliseconds(4000),
                                     milliseconds(4000), milliseconds(4000)}) {
    ASSERT_EQ(rig.requests(), number + 1);
    refuse(number, number % 2 == 0 ? 503 : 401);
    rig.advance(pause - milliseconds(50));
    EXPECT_EQ(rig.requests(), number + 1);
    rig.advance(milliseconds(100));
    ++number;
  }
  again = false;
  accept(number);
  want(thingKey("b", "other"));
  refuse(number + 1, 500);
  want(thingKey("c"));
  EXPECT_EQ(rig.requests(), number + 2);
  rig.advance(milliseconds(600));
  EXPECT_EQ(rig.requests(), number + 3) << "after a success, the pauses begin anew";
}

TEST_F(ObjectWriting, WaitsForAsLongAsTheServerAsks) {
  want(thingKey("a"));
  want(thingKey("b"));
  refuse(0, 429, {{"retry-after", "20"}});
  accept(1);
  want(thingKey("c", "other"));
  rig.advance(seconds(19));
  EXPECT_EQ(rig.requests(), 2u);
  rig.advance(seconds(2));
  EXPECT_EQ(rig.requests(), 3u);
}

TEST_F(ObjectWriting, WaitsNoLongerThanTheServerMayAsk) {
  want(thingKey("a"));
  refuse(0, 429, {{"retry-after", "600"}});
  want(thingKey("b"));
  rig.advance(seconds(29));
  EXPECT_EQ(rig.requests(), 1u);
  rig.advance(seconds(2));
  EXPECT_EQ(rig.requests(), 2u);
}

TEST_F(ObjectWriting, WaitsNoMoreOnceThePauseIsEnded) {
  want(thingKey("a"));
  refuse(0, 429, {{"retry-after", "20"}});
  want(thingKey("b"));
  EXPECT_EQ(rig.requests(), 1u);
  rig.inTurn([&] { writer->endPause(); });
  rig.advance(milliseconds(20));
  EXPECT_EQ(rig.requests(), 2u);
}

TEST_F(ObjectWriting, WaitsWhenThereIsNoAnswer) {
  want(thingKey("a"));
  rig.cut(0);
  EXPECT_THAT(outcomes, ElementsAre(std::pair(std::string("a"), WriteOutcome::kNoAnswer)));
  want(thingKey("b"));
  EXPECT_EQ(rig.requests(), 1u);
  rig.advance(milliseconds(600));
  EXPECT_EQ(rig.requests(), 2u);
  EXPECT_EQ(logged(), 1u);
}

TEST_F(ObjectWriting, DistinguishesAMissingObjectFromAMissingNamespaceOrKind) {
  for (const char* name : {"a", "b", "c"}) want(thingKey(name));
  rig.answer(0, 404, R"({"kind":"Status","details":{"name":"a"},"message":"not found"})");
  rig.answer(1, 404, R"({"kind":"Status","details":{"name":"demo"},"message":"namespaces not found"})");
  refuse(2, 409);
  EXPECT_EQ(outcomes,
            (Outcomes{{"a", WriteOutcome::kMissing}, {"b", WriteOutcome::kRefused}, {"c", WriteOutcome::kConflict}}));
  EXPECT_EQ(logged(), 1u) << "objects may come and go at any time";
  EXPECT_THAT(rig.logged.text(), HasSubstr("namespaces not found"));
}

TEST_F(ObjectWriting, ShowsTheItemsOfAListWhileItArrives) {
  listed = true;
  want(thingKey("a"));
  rig.begin(0);
  rig.send(0, R"({"items":[{"a":1},{"b":2},)");
  EXPECT_EQ(items, 2u);
  EXPECT_TRUE(writer->isWriting());
  rig.send(0, R"({"c":3}]})");
  rig.finish(0);
  EXPECT_EQ(items, 3u);
  EXPECT_EQ(outcomes, (Outcomes{{"a", WriteOutcome::kDone}}));
}

TEST_F(ObjectWriting, LogsTheFirstTroubleOfAKindUntilItIsOver) {
  std::size_t number = 0;
  const auto refuseThing = [&](const char* name, std::uint16_t status) {
    want(thingKey(name));
    refuse(number++, status);
  };
  refuseThing("a", 422);
  refuseThing("b", 422);
  EXPECT_EQ(logged(), 1u);
  EXPECT_THAT(rig.logged.text(), HasSubstr("Thing demo/a"));
  refuseThing("a", 400);
  EXPECT_EQ(logged(), 2u) << "another cause";
  want(thingKey("b"));
  accept(number++);
  refuseThing("a", 422);
  EXPECT_EQ(logged(), 3u) << "the last one that had it was written";
  refuseThing("a", 400);
  EXPECT_EQ(logged(), 3u);
}

TEST_F(ObjectWriting, ForgetsEverythingWhenItIsCleared) {
  again = true;
  for (const char* name : {"a", "b", "c"}) want(thingKey(name));
  wantIn(thingKey("d"), seconds(1));
  rig.inTurn([this] { writer->clear(); });
  EXPECT_TRUE(rig.request(0).reset);
  EXPECT_FALSE(writer->isWriting());
  EXPECT_EQ(writer->size(), 0u);
  rig.advance(seconds(10));
  EXPECT_EQ(rig.requests(), 2u);
  EXPECT_THAT(outcomes, ElementsAre());
  want(thingKey("a"));
  EXPECT_EQ(rig.requests(), 3u);
}

}  // namespace
}  // namespace sluice::kubernetes
