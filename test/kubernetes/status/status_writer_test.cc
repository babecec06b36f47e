// Tests that statuses are written only when they differ, whatever the API server answers.
#include "proxy/kubernetes/status/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "test/kubernetes/status/written_objects.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Shown = WrittenObjects::Shown;

constexpr const char* kForeign =
    R"({"parents":[{"parentRef":{"name":"other"},"controllerName":"example.com/other","conditions":[]}]})";
constexpr const char* kStale =
    R"({"parents":[{"parentRef":{"name":"gone"},"controllerName":"sluice.dev/egress-gateway","conditions":[]}]})";

TEST(StatusWriter, WritesAWantedStatusOnce) {
  WrittenObjects played;
  played.want("all is well");
  EXPECT_EQ(played.writes(), 0u) << "it does not lead";
  played.lead();
  ASSERT_EQ(played.writes(), 1u);
  EXPECT_EQ(played.writeTarget(0), "/apis/gateway.networking.k8s.io/v1/namespaces/demo/httproutes/r0/status");
  EXPECT_THAT(played.patch(0), HasSubstr(R"({"metadata":{"resourceVersion":"1"},"status":{"parents":[)"));
  EXPECT_THAT(played.patch(0), HasSubstr("all is well"));
  played.accept(0);
  played.advance(minutes(20));
  played.want("all is well");
  EXPECT_EQ(played.writes(), 1u);
}

TEST(StatusWriter, DoesNotCareWhetherTheWatchOrTheAnswerComesFirst) {
  for (const Shown shown : {Shown::kBefore, Shown::kAfter}) {
    WrittenObjects played;
    played.want("first");
    played.lead();
    played.accept(0, shown);
    EXPECT_EQ(played.writes(), 1u);
    played.want("second");
    ASSERT_EQ(played.writes(), 2u);
    played.accept(1, shown);
    EXPECT_EQ(played.writes(), 2u);
  }
}

TEST(StatusWriter, WritesOnceWhatChangesAgainWhenTheReplicasHaveReported) {
  WrittenObjects played;
  played.lead();
  played.serveByReplica(0);
  played.want("compiled");
  played.advance(StatusWriter::kLongestAwait - milliseconds(1));
  EXPECT_EQ(played.writes(), 0u);
  played.serveByReplica(1);
  ASSERT_EQ(played.writes(), 1u);
  EXPECT_THAT(played.patch(0), HasSubstr(R"("reason":"Programmed")"));
  played.accept(0);
  played.advance(minutes(1));
  EXPECT_EQ(played.writes(), 1u);
}

TEST(StatusWriter, WaitsForSlowReplicasNotLongerThanItsBound) {
  WrittenObjects played;
  played.lead();
  played.serveByReplica(0);
  played.want("first");
  played.advance(StatusWriter::kLongestAwait / 2);
  played.want("second");
  played.advance(StatusWriter::kLongestAwait / 2);
  ASSERT_EQ(played.writes(), 1u) << "the wait began with the first change";
  EXPECT_THAT(played.patch(0), HasSubstr("second"));
  played.accept(0);
  played.serveByReplica(1);
  EXPECT_EQ(played.writes(), 2u);
}

TEST(StatusWriter, WaitsForTheWatchBeforeItWritesTheSameObjectAgain) {
  WrittenObjects played;
  played.want("first");
  played.lead();
  played.accept(0, Shown::kNotYet);
  played.want("second");
  EXPECT_EQ(played.writes(), 1u) << "the version that it knows is an old one";
  played.show("MODIFIED", "r0");
  ASSERT_EQ(played.writes(), 2u);
  EXPECT_THAT(played.patch(1), HasSubstr(R"("resourceVersion":"2")"));
}

TEST(StatusWriter, WritesAgainAfterAConflictAsOftenAsThereIsOne) {
  WrittenObjects played;
  played.want("mine");
  played.lead();
  for (std::size_t storm = 0; storm < 200; ++storm) {
    ASSERT_EQ(played.writes(), storm + 1);
    played.refuse(storm, 409);
    ASSERT_EQ(played.writes(), storm + 1) << "the newer version is awaited";
    played.change("r0", kForeign);
  }
  ASSERT_EQ(played.writes(), 201u);
  EXPECT_THAT(played.patch(200), HasSubstr("example.com/other"));
  played.accept(200);
  EXPECT_EQ(played.writes(), 201u);
  EXPECT_THAT(played.rig.logged.text(), Not(HasSubstr("cannot be written")));
}

TEST(StatusWriter, WaitsLongerAndLongerIfSomebodyElseUndoesItsWrites) {
  WrittenObjects played;
  played.want("mine");
  played.lead();
  for (int storm = 0; storm < StatusWriter::kMostRepeats; ++storm) {
    ASSERT_EQ(played.writes(), static_cast<std::size_t>(storm) + 1);
    played.accept(played.lastRouteWrite());
    played.change("r0", kForeign);
  }
  const std::size_t atOnce = played.writes();
  EXPECT_EQ(atOnce, static_cast<std::size_t>(StatusWriter::kMostRepeats));
  for (int i = 0; i < 200; ++i) played.change("r0", kForeign);
  EXPECT_EQ(played.writes(), atOnce);
  EXPECT_EQ(played.rig.logged.count("another client keeps changing what is written"), 1u);
  played.advance(seconds(1) + milliseconds(100));
  ASSERT_EQ(played.writes(), atOnce + 1) << "what is wanted comes true in the end";
  played.accept(atOnce);
  played.change("r0", kForeign);
  played.advance(seconds(1) + milliseconds(100));
  EXPECT_EQ(played.writes(), atOnce + 1) << "two seconds this time";
  played.advance(seconds(1));
  ASSERT_EQ(played.writes(), atOnce + 2);
  played.accept(atOnce + 1);
  played.advance(2 * StatusWriter::kLongestHold);
  played.change("r0", kForeign);
  EXPECT_EQ(played.writes(), atOnce + 3) << "the dispute is forgotten";
}

TEST(StatusWriter, DoesNotRepeatAWriteOfWhichTheServerDropsAPart) {
  WrittenObjects played;
  played.want("mine");
  played.lead();
  const std::string pruned =
      R"({"parents":[{"parentRef":{"name":"egress"},"controllerName":"sluice.dev/egress-gateway","conditions":[]}]})";
  played.acceptAs(0, pruned);
  played.advance(minutes(30));
  played.change("r0", pruned);
  EXPECT_EQ(played.writes(), 1u);
  EXPECT_EQ(played.rig.logged.count("does not keep what is written"), 1u);
  played.want("other");
  EXPECT_EQ(played.writes(), 2u) << "something else may be kept";
}

TEST(StatusWriter, WritesWhatIsWantedNextAlthoughTheLastWriteHasChangedNothing) {
  WrittenObjects played;
  played.want("first");
  played.lead();
  played.answer(0, 200, played.textOf("r0"));  // the server drops all of it, and the version stays
  EXPECT_EQ(played.writes(), 1u);
  played.want("second");
  EXPECT_EQ(played.writes(), 2u);
}

TEST(StatusWriter, WritesWhatIsWantedNextAlthoughTheLastWriteWasInvalid) {
  WrittenObjects played;
  played.want("first");
  played.lead();
  played.refuse(0, 422);
  played.advance(minutes(30));
  EXPECT_EQ(played.writes(), 1u) << "the same would be refused again";
  EXPECT_EQ(played.rig.logged.count("a status cannot be written"), 1u);
  played.want("second");
  ASSERT_EQ(played.writes(), 2u);
  played.refuse(1, 422);
  played.change("r0", kForeign);
  EXPECT_EQ(played.writes(), 3u) << "the object has changed";
  EXPECT_EQ(played.rig.logged.count("a status cannot be written"), 1u) << "said once";
}

TEST(StatusWriter, MakesAtMostSixteenWritesAtOneTime) {
  WrittenObjects played(40);
  played.want("mine");
  played.lead();
  EXPECT_EQ(played.writes(), StatusWriter::kMostWrites);
  std::set<std::string> written;
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_LT(i, played.writes());
    EXPECT_LE(played.writes(), i + StatusWriter::kMostWrites);
    written.insert(played.nameOf(i));
    played.accept(i);
  }
  EXPECT_EQ(played.writes(), 40u);
  EXPECT_EQ(written.size(), 40u);
}

TEST(StatusWriter, WritesTheOnlyOneOfANamespaceBeforeTheHundredsOfAnother) {
  WrittenObjects played(500);
  played.want("mine");
  played.lead();
  ASSERT_EQ(played.writes(), StatusWriter::kMostWrites);
  played.routes["only"].nameSpace = "other";
  played.show("ADDED", "only");
  played.want("mine");
  played.accept(0);
  ASSERT_EQ(played.writes(), StatusWriter::kMostWrites + 1);
  EXPECT_THAT(played.writeTarget(StatusWriter::kMostWrites), HasSubstr("/namespaces/other/httproutes/only/status"));
  for (std::size_t i = 1; i < 501; ++i) played.accept(i);
  EXPECT_EQ(played.writes(), 501u);
}

TEST(StatusWriter, FreesThePlaceOfAWriteWhoseObjectHasGone) {
  WrittenObjects played(20);
  played.want("mine");
  played.lead();
  ASSERT_EQ(played.writes(), StatusWriter::kMostWrites);
  std::vector<std::string> others;
  for (std::size_t i = 0; i < StatusWriter::kMostWrites; ++i) played.remove(played.nameOf(i));
  for (const auto& [name, route] : played.routes) others.push_back(name);
  played.want("mine", others);
  for (std::size_t i = 0; i < StatusWriter::kMostWrites; ++i) {
    played.answer(i, 404,
                  R"({"kind":"Status","details":{"name":")" + played.nameOf(i) + R"("},"message":"gone","code":404})");
  }
  EXPECT_EQ(played.writes(), 20u);
  EXPECT_THAT(played.rig.logged.text(), Not(HasSubstr("cannot be written"))) << "objects may go at any time";
}

TEST(StatusWriter, LogsOnceThatAKindHasNoStatus) {
  WrittenObjects played(2);
  played.want("mine");
  played.lead();
  played.refuse(0, 404);
  played.refuse(1, 404);
  played.advance(minutes(5));
  EXPECT_EQ(played.writes(), 2u);
  EXPECT_EQ(played.rig.logged.count("a status cannot be written"), 1u);
}

TEST(StatusWriter, ForbiddenKindsWaitAndAreWrittenWhenTheyArePermitted) {
  WrittenObjects played(3);
  played.want("mine");
  played.lead();
  ASSERT_EQ(played.writes(), 3u);
  for (std::size_t i = 0; i < 3; ++i) played.refuse(i, 403);
  EXPECT_EQ(played.writes(), 3u);
  EXPECT_EQ(played.rig.logged.count("a status cannot be written"), 1u);
  played.advance(milliseconds(600));
  ASSERT_EQ(played.writes(), 6u);
  for (std::size_t i = 3; i < 6; ++i) played.refuse(i, 403);
  EXPECT_EQ(played.rig.logged.count("a status cannot be written"), 1u);
  played.advance(milliseconds(600));
  EXPECT_EQ(played.writes(), 6u) << "the pause grows";
  for (int i = 0; i < 200; ++i) {
    const std::size_t before = played.writes();
    played.advance(seconds(1));
    for (std::size_t at = before; at < played.writes(); ++at) played.refuse(at, 403);
  }
  const std::size_t before = played.writes();
  EXPECT_LT(before, 50u);
  played.advance(StatusWriter::kLongestPause);
  ASSERT_EQ(played.writes(), before + 3) << "it is tried twice a minute";
  for (std::size_t i = before; i < before + 3; ++i) played.accept(i);
  EXPECT_EQ(played.writes(), before + 3);
}

TEST(StatusWriter, PausesForAsLongAsABusyServerAsks) {
  WrittenObjects played(2);
  played.want("mine");
  played.lead();
  played.refuse(0, 429, {{"retry-after", "20"}});
  played.accept(1);
  played.advance(seconds(19));
  EXPECT_EQ(played.writes(), 2u);
  played.advance(seconds(2));
  EXPECT_EQ(played.writes(), 3u);
}

TEST(StatusWriter, WritesAgainWhenTheAnswerWasLost) {
  WrittenObjects played(2);
  played.want("mine");
  played.lead();
  played.refuse(0, 500);
  played.refuse(1, 503);
  played.want("newer");
  EXPECT_EQ(played.writes(), 2u) << "the server has trouble";
  played.advance(milliseconds(600));
  ASSERT_EQ(played.writes(), 4u);
  played.accept(2);
  played.accept(3);
  played.advance(minutes(1));
  EXPECT_EQ(played.writes(), 4u);
}

TEST(StatusWriter, RemovesStaleEntriesOfItsOwnAndKeepsThoseOfOthers) {
  WrittenObjects played;
  played.routes["r0"].status =
      R"({"parents":[{"parentRef":{"name":"other"},"controllerName":"example.com/other","conditions":[]},)"
      R"({"parentRef":{"name":"gone"},"controllerName":"sluice.dev/egress-gateway","conditions":[]}]})";
  played.change("r0", played.routes["r0"].status);
  played.want(config::StatusList{});
  played.lead();
  ASSERT_EQ(played.writes(), 1u) << "although nothing at all is wanted";
  played.accept(0);
  EXPECT_EQ(played.routes["r0"].status, kForeign);
  EXPECT_EQ(played.writes(), 1u);
}

TEST(StatusWriter, LeavesObjectsAloneThatNoConfigurationHasBeenCompiledWith) {
  WrittenObjects played;
  played.want("mine");
  played.lead();
  played.accept(0);
  played.routes["new"] = {1, kStale};
  played.show("ADDED", "new");
  EXPECT_EQ(played.writes(), 1u);
  played.lead(false);
  played.lead();
  EXPECT_EQ(played.writes(), 1u);
  played.want("mine", {"r0", "new"});
  EXPECT_EQ(played.writes(), 2u);
  EXPECT_THAT(played.patch(1), HasSubstr("\"name\":\"egress\""));
}

TEST(StatusWriter, WritesNothingMoreOnceItDoesNotLead) {
  WrittenObjects played(20);
  played.want("mine");
  played.lead();
  played.accept(0);
  const std::size_t before = played.writes();
  played.lead(false);
  played.want("newer");
  played.change("r1", kForeign);
  played.advance(minutes(10));
  EXPECT_EQ(played.writes(), before);
  played.lead();
  EXPECT_EQ(played.writes(), before + StatusWriter::kMostWrites) << "and all that differs when it leads again";
}

TEST(StatusWriter, WritesWhatIsServedWhileTheNewestConfigurationIsRefused) {
  WrittenObjects played(2);
  played.lead();
  played.serveByReplica(1);
  played.compile(control::Standing::kServed, "good", {"r0"});
  EXPECT_THAT(played.takeRoutePatches(), HasSubstr("good"));
  played.accept(played.lastRouteWrite());
  played.compile(control::Standing::kRefused, "refused", {"r0", "r1"});
  const std::string during = played.takeRoutePatches();
  EXPECT_THAT(during, AllOf(HasSubstr("r1{"), HasSubstr("\"reason\":\"Pending\""), Not(HasSubstr("r0{"))));
  // The Secrets and endpoints of the served configuration are the current ones.
  played.rig.inTurn([&] { played.writer->onServing(WrittenObjects::compiledWith("refreshed", {"r0"})); });
  played.advance(milliseconds(1));
  EXPECT_THAT(played.takeRoutePatches(), AllOf(HasSubstr("r0{"), HasSubstr("refreshed")));
  played.accept(played.lastRouteWrite());
  played.compile(control::Standing::kServed, "good again", {"r0"});
  EXPECT_THAT(played.takeRoutePatches(), HasSubstr("good again"));
}

TEST(StatusWriter, LeavesObjectsAsTheyAreIfItHasNoGoodConfiguration) {
  WrittenObjects played(2);
  played.serveByReplica(1);
  // An earlier controller has written this.
  const auto served = content::parseJson(config::statusJson(WrittenObjects::statusOf("r0", "served")));
  ASSERT_TRUE(served.ok());
  played.change("r0", content::writeJson(*served));
  played.lead();
  played.compile(control::Standing::kRefusedAlone, "refused", {"r0", "r1"});
  const std::string patches = played.takeRoutePatches();
  EXPECT_THAT(patches,
              AllOf(HasSubstr("r1{"), HasSubstr("\"Pending\""), HasSubstr("\"served\""), Not(HasSubstr("\"refused\""))))
      << "its replicas serve r0";
}

}  // namespace
}  // namespace sluice::kubernetes
