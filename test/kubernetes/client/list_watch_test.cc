// A collection of an API server is followed through everything that servers and networks do.
#include "proxy/kubernetes/client/list_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPath = "/api/v1/things";

std::string thing(const std::string& name, const std::string& version) {
  return R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" + version + "\"}}";
}
std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string bookmark(const std::string& version, bool endsInitialEvents = false) {
  const std::string annotations = endsInitialEvents ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return event("BOOKMARK", R"({"metadata":{"resourceVersion":")" + version + "\"" + annotations + "}}");
}
std::string listOf(const std::string& items, const std::string& version, const std::string& next = "") {
  const std::string token = next.empty() ? "" : R"("continue":")" + next + "\",";
  return R"({"kind":"ThingList","metadata":{)" + token + R"("resourceVersion":")" + version + R"("},"items":[)" +
         items + "]}";
}

/// Follows a collection and records its notifications.
class ListWatches : public ::testing::Test, protected ListWatchUser {
 protected:
  void follow(ApiCollection collection = {.path = kPath}) {
    rig.inTurn([&] {
      watch = std::make_unique<ListWatch>(rig.client, static_cast<ListWatchUser&>(*this), std::move(collection));
      watch->list();
    });
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    watch.reset();
  }
  std::size_t last() const { return rig.requests() - 1; }
  std::string lastTarget() { return rig.target(last()); }
  bool lastIs(const std::string& kind) {
    const std::string target = lastTarget();
    const bool watches = target.find("watch=true") != std::string::npos;
    const bool streams = target.find("sendInitialEvents=true") != std::string::npos;
    return kind == (streams ? "stream" : watches ? "watch" : "list");
  }
  /// Lets the server refuse to stream, list `items`, and be watched.
  void listThenWatch(const std::string& items = "", const std::string& version = "5") {
    follow();
    rig.answer(0, 400, statusBody(400, "sendInitialEvents is forbidden"));
    rig.answer(1, 200, listOf(items, version));
    ASSERT_TRUE(lastIs("watch"));
    rig.begin(last());
    told.clear();
  }
  /// Moves the clock until the next request; returns the time that took.
  milliseconds untilNext(milliseconds most = seconds(100)) {
    const std::size_t before = rig.requests();
    milliseconds passed{};
    while (rig.requests() == before && passed < most) {
      rig.advance(milliseconds(16));
      passed += milliseconds(16);
    }
    return passed;
  }

  void onListing(ListWatch&) override { told.emplace_back("listing"); }
  void onListed(ListWatch&) override { told.emplace_back("listed"); }
  void onObject(ListWatch&, content::Value&& object) override {
    told.emplace_back("object " + std::string(metadataText(object, "name")));
  }
  void onDeleted(ListWatch&, const content::Value& object) override {
    told.emplace_back("deleted " + std::string(metadataText(object, "name")));
  }
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override {
    constexpr const char* kNames[] = {"absent: ", "forbidden: ", "unavailable: "};
    told.emplace_back(kNames[static_cast<int>(trouble)] + message);
  }
  void onRecovered(ListWatch&) override { told.emplace_back("recovered"); }

  ApiRig rig;
  std::unique_ptr<ListWatch> watch;
  std::vector<std::string> told;
};

TEST_F(ListWatches, StreamTheListAndWatchOnInOneRequest) {
  follow({.path = kPath, .selector = "fieldSelector=metadata.name%3Da"});
  ASSERT_EQ(rig.requests(), 1U);
  EXPECT_THAT(rig.target(0), AllOf(StartsWith("/api/v1/things?watch=true&"), HasSubstr("sendInitialEvents=true"),
                                   HasSubstr("resourceVersionMatch=NotOlderThan"),
                                   HasSubstr("allowWatchBookmarks=true"), HasSubstr("timeoutSeconds="),
                                   HasSubstr("&fieldSelector=metadata.name%3Da"), Not(HasSubstr("resourceVersion="))));
  rig.begin(0);
  rig.send(0, event("ADDED", thing("a", "3")));
  EXPECT_THAT(told, ElementsAre("listing", "object a"));
  rig.send(0, bookmark("4"));
  EXPECT_THAT(told, ElementsAre("listing", "object a"));
  rig.send(0, bookmark("5", true) + event("MODIFIED", thing("a", "6")) + event("DELETED", thing("a", "7")));
  EXPECT_THAT(told, ElementsAre("listing", "object a", "listed", "object a", "deleted a"));
  EXPECT_EQ(rig.requests(), 1U);
}

TEST_F(ListWatches, ListInPagesWhereTheServerCannotStream) {
  for (const int refusal : {400, 422}) {
    told.clear();
    const std::size_t first = rig.requests();
    follow();
    rig.answer(first, static_cast<std::uint16_t>(refusal), statusBody(refusal, "sendInitialEvents is forbidden"));
    ASSERT_EQ(rig.requests(), first + 2);
    EXPECT_EQ(rig.target(first + 1), "/api/v1/things?limit=250");
    rig.answer(first + 1, 200, listOf(thing("a", "1"), "5", "a/b+c="));
    ASSERT_EQ(rig.requests(), first + 3);
    EXPECT_EQ(rig.target(first + 2), "/api/v1/things?limit=250&continue=a%2Fb%2Bc%3D");
    EXPECT_THAT(told, ElementsAre("listing", "listing", "object a"));
    rig.answer(first + 2, 200, listOf(thing("b", "2"), "5"));
    EXPECT_THAT(told, ElementsAre("listing", "listing", "object a", "object b", "listed"));
    EXPECT_THAT(lastTarget(), HasSubstr("watch=true&allowWatchBookmarks=true&resourceVersion=5&"));
  }
}

TEST_F(ListWatches, BeginTheListAnewIfAPageIsGone) {
  follow();
  rig.answer(0, 400, statusBody(400, ""));
  rig.answer(1, 200, listOf(thing("a", "1"), "5", "next"));
  rig.answer(2, 410, statusBody(410, "The provided continue parameter is too old"));
  EXPECT_EQ(lastTarget(), "/api/v1/things?limit=250") << "at once";
  EXPECT_EQ(told.back(), "listing");
  rig.answer(3, 200, listOf(thing("a", "1") + "," + thing("b", "1"), "6"));
  EXPECT_EQ(told.back(), "listed");
  EXPECT_THAT(lastTarget(), HasSubstr("resourceVersion=6&"));
}

TEST_F(ListWatches, ListAgainAndNeverWatchIfAListAfterTheFirstFails) {
  listThenWatch(thing("a", "1"));
  rig.inTurn([&] { watch->list(); });
  ASSERT_TRUE(lastIs("list"));
  rig.answer(last(), 500, statusBody(500, "etcd is away"));
  untilNext();
  EXPECT_TRUE(lastIs("list")) << "a watch from before would leave the list without its end";
  rig.answer(last(), 200, listOf("", "9"));
  EXPECT_EQ(told.back(), "listed");
}

TEST_F(ListWatches, ResumeFromTheLastEventOrBookmark) {
  listThenWatch();
  rig.send(last(), event("ADDED", thing("a", "6")));
  rig.cut(last());
  untilNext();
  EXPECT_THAT(lastTarget(), HasSubstr("&resourceVersion=6&"));
  rig.begin(last());
  rig.advance(seconds(30));
  rig.send(last(), bookmark("90"));
  rig.finish(last());
  EXPECT_THAT(lastTarget(), HasSubstr("&resourceVersion=90&")) << "at once, because the server ended it";
  EXPECT_THAT(told, ElementsAre("object a")) << "a watch that breaks off once is no trouble";
}

TEST_F(ListWatches, TakeNoHalfEventWhenAWatchIsCutInsideALine) {
  const std::string line = event("ADDED", thing("a", "6"));
  listThenWatch();
  for (std::size_t size = 1; size < line.size(); size += 7) {
    rig.send(last(), line.substr(0, size));
    rig.cut(last());
    untilNext();
    EXPECT_THAT(told, Not(testing::Contains("object a")));
    if (lastIs("list")) {
      rig.answer(last(), 200, listOf("", "5"));
    }
    EXPECT_THAT(lastTarget(), HasSubstr("&resourceVersion=5&"));
    rig.begin(last());
  }
  rig.send(last(), line);
  EXPECT_EQ(told.back(), "object a");
}

TEST_F(ListWatches, ListAgainAfterA410OfTheWatch) {
  listThenWatch();
  rig.advance(seconds(2));
  rig.send(last(), event("ERROR", statusBody(410, "too old resource version")));
  EXPECT_EQ(lastTarget(), "/api/v1/things?limit=250") << "at once";
  rig.answer(last(), 200, listOf("", "9"));
  EXPECT_THAT(told, ElementsAre("listing", "listed"));
  // The status of the answer has the same meaning.
  rig.advance(seconds(2));
  rig.answer(last(), 410, statusBody(410, "too old resource version"));
  EXPECT_TRUE(lastIs("list")) << "at once";
}

TEST_F(ListWatches, DoNotListInCirclesIfEachListIsOutdatedAtOnce) {
  listThenWatch();
  rig.send(last(), event("ERROR", statusBody(410, "too old resource version")));
  milliseconds longest{};
  for (int round = 0; round < 10; ++round) {
    longest = std::max(longest, untilNext());
    ASSERT_TRUE(lastIs("list"));
    rig.answer(last(), 200, listOf("", "9"));
    ASSERT_TRUE(lastIs("watch"));
    rig.answer(last(), 410, statusBody(410, "too old resource version"));
  }
  EXPECT_GE(longest, ListWatch::kFirstDelay);
}

TEST_F(ListWatches, DoNotWatchInCirclesIfTheServerEndsEachWatchAtOnce) {
  listThenWatch();
  rig.finish(last());
  milliseconds passed{};
  const std::size_t before = rig.requests();
  for (int round = 0; round < 8; ++round) {
    passed += untilNext();
    if (lastIs("list")) rig.answer(last(), 200, listOf("", "9"));
    rig.answer(last(), 200, bookmark("10"));
  }
  EXPECT_GE(passed, 8 * ListWatch::kFirstDelay);
  EXPECT_LE(rig.requests() - before, 16U);
}

TEST_F(ListWatches, NoticeAWatchThatHasGoneSilent) {
  listThenWatch();
  const std::size_t silent = last();
  rig.advance(ListWatch::kSilence - seconds(1));
  rig.send(silent, bookmark("7"));
  rig.advance(ListWatch::kSilence - seconds(1));
  EXPECT_EQ(last(), silent);
  rig.advance(seconds(2));
  untilNext();
  ASSERT_NE(last(), silent);
  EXPECT_THAT(lastTarget(), HasSubstr("&resourceVersion=7&"));
  EXPECT_NE(rig.connectionOf(last()), rig.connectionOf(silent)) << "the old connection may be as silent as the watch";
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ListWatches, WaitAsLongAsTheServerAsks) {
  follow();
  rig.answer(0, 429, statusBody(429, "too many requests"), {{"retry-after", "20"}});
  EXPECT_THAT(told, ElementsAre("listing", HasSubstr("unavailable: HTTP status 429: too many requests")));
  const milliseconds waited = untilNext();
  EXPECT_GE(waited, seconds(20));
  EXPECT_LE(waited, seconds(31));
  // The earlier Retry-After does not apply to a failure of another kind.
  rig.accepts = false;
  rig.cut(last());
  const std::size_t dialled = rig.dialer.wires.size();
  rig.advance(seconds(3));
  EXPECT_GT(rig.dialer.wires.size(), dialled);
}

TEST_F(ListWatches, TryAgainWithGrowingDelaysThatDifferByChance) {
  follow();
  std::vector<milliseconds> delays;
  for (int attempt = 0; attempt < 12; ++attempt) {
    rig.answer(last(), 503, statusBody(503, "starting"));
    delays.push_back(untilNext());
  }
  milliseconds least = std::chrono::duration_cast<milliseconds>(ListWatch::kFirstDelay);
  const milliseconds tick(40);
  bool byChance = false;
  for (const milliseconds delay : delays) {
    EXPECT_GE(delay, least);
    EXPECT_LE(delay, least * 3 / 2 + tick);
    byChance = byChance || delay > least + tick;
    least = std::min(least * 2, std::chrono::duration_cast<milliseconds>(ListWatch::kLongestDelay));
  }
  EXPECT_TRUE(byChance);
  rig.begin(last());
  rig.send(last(), bookmark("5", true));
  EXPECT_EQ(told.back(), "listed");
  rig.answer(last(), 200, "");
}

TEST_F(ListWatches, ReportTroubleAndItsEnd) {
  follow();
  rig.answer(0, 503, statusBody(503, "starting"));
  untilNext();
  rig.answer(1, 503, "<html>");
  untilNext();
  rig.begin(2);
  EXPECT_THAT(told, ElementsAre("listing", "unavailable: HTTP status 503: starting", "listing",
                                "unavailable: HTTP status 503: no JSON", "listing", "recovered"));
}

TEST_F(ListWatches, ReportAForbiddenResourceAndAskAgain) {
  follow();
  rig.answer(0, 403, statusBody(403, "things is forbidden"));
  EXPECT_THAT(told, ElementsAre("listing", "forbidden: HTTP status 403: things is forbidden"));
  untilNext();
  rig.begin(1);
  rig.send(1, event("ADDED", thing("a", "1")) + bookmark("5", true));
  EXPECT_THAT(told, testing::Contains("recovered"));
  EXPECT_EQ(told.back(), "listed");
}

TEST_F(ListWatches, AskForAnAbsentResourceOnlyWhenTheyAreTold) {
  follow();
  rig.answer(0, 404, "404 page not found\n");
  EXPECT_THAT(told, ElementsAre("listing", StartsWith("absent: HTTP status 404")));
  rig.advance(seconds(100));
  EXPECT_EQ(rig.requests(), 1U);
  rig.inTurn([&] { watch->list(); });
  EXPECT_EQ(rig.requests(), 2U);
}

TEST_F(ListWatches, ListToLearnWhyAWatchIsNotFound) {
  listThenWatch(thing("a", "1"));
  rig.advance(seconds(2));
  rig.finish(last());
  rig.answer(last(), 404, "404 page not found\n");
  EXPECT_THAT(told, ElementsAre("listing")) << "at once, and before anybody is told";
  ASSERT_TRUE(lastIs("list"));
  rig.answer(last(), 404, "404 page not found\n");
  EXPECT_THAT(told, ElementsAre("listing", StartsWith("absent: ")));
}

TEST_F(ListWatches, GoOnTryingIfAWatchIsForbiddenLater) {
  listThenWatch(thing("a", "1"));
  rig.advance(seconds(2));
  rig.finish(last());
  rig.answer(last(), 403, statusBody(403, "things is forbidden"));
  EXPECT_THAT(told, ElementsAre(StartsWith("forbidden: ")));
  untilNext();
  EXPECT_THAT(lastTarget(), HasSubstr("&resourceVersion=5&"));
  rig.begin(last());
  EXPECT_EQ(told.back(), "recovered");
}

TEST_F(ListWatches, ListAgainIfWatchesGoOnFailing) {
  listThenWatch();
  rig.send(last(), event("ERROR", statusBody(500, "internal")));
  for (int i = 0; i < 5 && !lastIs("list"); ++i) {
    untilNext();
    if (lastIs("watch")) rig.answer(last(), 500, statusBody(500, "a version of the future"));
  }
  EXPECT_TRUE(lastIs("list"));
}

TEST_F(ListWatches, ListInPagesIfStreamedListsGoOnEndingEarly) {
  follow();
  for (int i = 0; i < 6 && !lastIs("list"); ++i) {
    rig.answer(last(), 200, event("ADDED", thing("a", "1")));
    EXPECT_THAT(told.back(), HasSubstr("ended the list before it was complete"));
    untilNext();
  }
  ASSERT_TRUE(lastIs("list"));
  rig.answer(last(), 200, listOf(thing("a", "1"), "5"));
  EXPECT_EQ(told.back(), "listed");
}

TEST_F(ListWatches, TakeNoListForWholeThatWasCut) {
  follow();
  rig.answer(0, 400, statusBody(400, ""));
  const std::string list = listOf(thing("a", "1"), "5");
  rig.answer(1, 200, list.substr(0, list.size() - 1));
  EXPECT_THAT(told.back(), HasSubstr("unavailable: the API server's list is no JSON"));
  untilNext();
  rig.answer(2, 200, R"({"items":[],"metadata":{}})");
  EXPECT_THAT(told.back(), HasSubstr("unavailable: a list has no resourceVersion"));
  untilNext();
  rig.answer(3, 200, list);
  EXPECT_EQ(told.back(), "listed");
}

TEST_F(ListWatches, AskForMetadataAloneWhereThatIsEnough) {
  follow({.path = kPath, .metadataOnly = true});
  EXPECT_EQ(rig.field(0, "accept"), "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
  rig.answer(0, 400, statusBody(400, ""));
  EXPECT_EQ(rig.field(1, "accept"),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
}

TEST_F(ListWatches, ListOnceIfThatIsAll) {
  follow({.path = kPath, .once = true});
  EXPECT_EQ(rig.target(0), "/api/v1/things?limit=250");
  rig.answer(0, 500, statusBody(500, "no"));
  untilNext();
  rig.answer(1, 200, listOf(thing("a", "1"), "5"));
  EXPECT_EQ(told.back(), "listed");
  rig.advance(seconds(100));
  EXPECT_EQ(rig.requests(), 2U);
}

TEST_F(ListWatches, UseTheNewTokenInTheNextAttempt) {
  follow();
  rig.advance(seconds(2));
  rig.access.token = base::Secret("second-token");
  rig.answer(0, 401, statusBody(401, "Unauthorized"));
  untilNext();
  EXPECT_EQ(rig.field(1, "authorization"), "Bearer second-token");
}

TEST_F(ListWatches, AskNothingMoreOnceTheyAreDestroyed) {
  listThenWatch();
  rig.inTurn([&] { watch.reset(); });
  const std::size_t before = rig.requests();
  rig.advance(seconds(200));
  EXPECT_EQ(rig.requests(), before);
}

}  // namespace
}  // namespace sluice::kubernetes
