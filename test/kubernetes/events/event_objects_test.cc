#include "proxy/kubernetes/events/event_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using namespace std::chrono_literals;

base::MonotonicTime notedAt(base::Duration time) { return base::MonotonicTime(1h + time); }

EventRegarding webRoute(std::string name = "web") {
  return {"gateway.networking.k8s.io/v1", "HTTPRoute", "demo", std::move(name), "u-1"};
}

/// The Event objects of one process; the test is the API server.
class EventsOfOne {
 public:
  explicit EventsOfOne(std::string_view instance = "pod-1") : events_(instance) {}

  void note(std::string message, base::Duration time = 0s, std::uint64_t count = 1,
            const EventRegarding& regarding = webRoute()) {
    observe::Event event{observe::EventType::kWarning, "RequestDenied", "", std::move(message), count, {}, {}};
    event.first = base::someTime(time);
    event.last = base::someTime(time + 1us * (count - 1));
    events_.note(event, regarding, "Serve", notedAt(time));
  }
  std::vector<EventWrite> take(base::Duration time) { return events_.take(notedAt(time)); }
  /// Returns the one request that is due.
  EventWrite one(base::Duration time) {
    std::vector<EventWrite> writes = take(time);
    EXPECT_THAT(writes, SizeIs(1));
    return writes.empty() ? EventWrite() : writes[0];
  }
  void done(const EventWrite& write, EventOutcome outcome, base::Duration time, std::string_view answer = "") {
    const base::Result<content::Value> value = content::parseJson(answer.empty() ? "{}" : answer);
    ASSERT_TRUE(value.ok());
    events_.done(write.event, outcome, answer.empty() ? nullptr : &*value, notedAt(time));
  }
  /// Notes an event and has it created, both at 0.
  EventWrite create(std::string message) {
    note(std::move(message));
    const EventWrite write = one(0s);
    done(write, EventOutcome::kDone, 0s);
    return write;
  }
  base::MonotonicTime nextDue(base::Duration time) const { return events_.nextDue(notedAt(time)); }
  std::uint64_t dropped() { return events_.takeDropped(); }
  std::size_t held() const { return events_.held(); }

 private:
  EventObjects events_;
};

TEST(EventObjects, AreCreatedOnTheObjectThatTheyConcern) {
  EventsOfOne events;
  EXPECT_EQ(events.nextDue(0s), base::MonotonicTime::max());
  events.note("denied");
  EXPECT_EQ(events.nextDue(0s), notedAt(0s));
  const EventWrite write = events.one(0s);
  EXPECT_EQ(write.request.method, http::Method::kPost);
  EXPECT_EQ(write.request.path, "/apis/events.k8s.io/v1/namespaces/demo/events");
  ASSERT_THAT(write.event, StartsWith("demo/web."));
  const std::string name = write.event.substr(5);
  EXPECT_THAT(name, SizeIs(4 + 16));
  EXPECT_EQ(write.request.body,
            R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":")" + name +
                R"(","namespace":"demo"},"regarding":{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute",)"
                R"("namespace":"demo","name":"web","uid":"u-1"},"type":"Warning","reason":"RequestDenied",)"
                R"("action":"Serve","note":"denied","reportingController":"sluice.dev/egress-gateway",)"
                R"("reportingInstance":"pod-1","eventTime":"2026-01-31T23:59:58.000000Z"})");
  EXPECT_THAT(events.take(1h), IsEmpty()) << "the outcome is awaited";
  events.done(write, EventOutcome::kDone, 1h);
  EXPECT_THAT(events.take(1h), IsEmpty());
  EXPECT_EQ(events.nextDue(1h), base::MonotonicTime::max());
}

TEST(EventObjects, CountRepeatsInASeriesThatIsWrittenOnceAMinute) {
  EventsOfOne events;
  const EventWrite first = events.create("denied");
  events.note("denied", 1s, 5);
  events.note("denied", 30s, 2);
  EXPECT_THAT(events.take(59s), IsEmpty());
  EXPECT_EQ(events.nextDue(30s), notedAt(60s));
  const EventWrite patch = events.one(60s);
  EXPECT_EQ(patch.request.method, http::Method::kPatch);
  EXPECT_EQ(patch.event, first.event);
  EXPECT_EQ(patch.request.path, first.request.path + "/" + first.event.substr(5));
  EXPECT_EQ(patch.request.body, R"({"series":{"count":8,"lastObservedTime":"2026-02-01T00:00:28.000001Z"}})");
  events.note("denied", 61s);
  events.done(patch, EventOutcome::kDone, 61s);
  EXPECT_THAT(events.take(120s), IsEmpty());
  EXPECT_THAT(events.one(121s).request.body, HasSubstr(R"("count":9,)"));
}

TEST(EventObjects, AreSeriesFromTheBeginningIfTheyOccurredSeveralTimes) {
  EventsOfOne events;
  events.note("denied", 0s, 2);
  EXPECT_THAT(events.one(0s).request.body,
              HasSubstr(R"("series":{"count":2,"lastObservedTime":"2026-01-31T23:59:58.000001Z"}})"));
}

TEST(EventObjects, HaveANameByObjectReasonNoteAndReporter) {
  std::set<std::string> names;
  const auto nameOf = [](const EventRegarding& regarding, observe::EventType type, std::string reason,
                         std::string message, std::string_view instance) {
    EventObjects events(instance);
    events.note({type, std::move(reason), "", std::move(message), 1, {}, {}}, regarding, "Serve", notedAt(0s));
    return events.take(notedAt(0s)).at(0).event;
  };
  const auto kWarning = observe::EventType::kWarning;
  const std::string name = nameOf(webRoute(), kWarning, "A", "m", "i");
  EXPECT_EQ(nameOf(webRoute(), kWarning, "A", "m", "i"), name) << "also after a restart";
  EventRegarding later = webRoute();
  later.uid = "u-2";
  names = {name,
           nameOf(webRoute("wed"), kWarning, "A", "m", "i"),
           nameOf(later, kWarning, "A", "m", "i"),
           nameOf(webRoute(), observe::EventType::kNormal, "A", "m", "i"),
           nameOf(webRoute(), kWarning, "Am", "", "i"),
           nameOf(webRoute(), kWarning, "A", "n", "i"),
           nameOf(webRoute(), kWarning, "A", "m", "j")};
  EXPECT_THAT(names, SizeIs(7));
  EXPECT_THAT(nameOf(webRoute(std::string(253, 'w')), kWarning, "A", "m", "i"), SizeIs(5 + 253));
}

TEST(EventObjects, OnObjectsWithoutANamespaceAreInDefault) {
  EventsOfOne events;
  events.note("x", 0s, 1, {"gateway.networking.k8s.io/v1", "GatewayClass", "", "egress", ""});
  const EventWrite write = events.one(0s);
  EXPECT_THAT(write.request.path, HasSubstr("/namespaces/default/"));
  EXPECT_THAT(write.request.body,
              HasSubstr(R"("regarding":{"apiVersion":"gateway.networking.k8s.io/v1","kind":"GatewayClass",)"
                        R"("name":"egress"})"));
}

TEST(EventObjects, CutTheNoteAndTheInstance) {
  EventsOfOne events(std::string(200, 'i'));
  events.note(std::string(1022, 'a') + "\xc3\xa4");
  events.note(std::string(1023, 'a') + "\xc3\xa4");
  for (const EventWrite& each : events.take(0s)) {
    const base::Result<content::Value> body = content::parseJson(each.request.body);
    ASSERT_TRUE(body.ok());
    EXPECT_THAT(textIn(&*body, "note"), SizeIs(1024));
    EXPECT_THAT(textIn(&*body, "reportingInstance"), SizeIs(128));
  }
}

TEST(EventObjects, AreLimitedForEachObjectAndTheDroppedAreCounted) {
  EventsOfOne events;
  for (int i = 0; i < 30; ++i) events.note("m" + std::to_string(i), 0s, 2);
  EXPECT_EQ(events.dropped(), 10u);
  EXPECT_EQ(events.dropped(), 0u);
  events.note("m0");
  EXPECT_EQ(events.dropped(), 0u) << "a repeat costs nothing";
  events.note("x", 0s, 1, webRoute("other"));
  EXPECT_EQ(events.dropped(), 0u) << "another object has its own bucket";
  EXPECT_THAT(events.take(0s), SizeIs(26));
  events.note("later", 5min - 1ns);
  EXPECT_EQ(events.dropped(), 1u);
  events.note("later", 5min);
  EXPECT_EQ(events.dropped(), 0u);
  events.note("more", 5min);
  EXPECT_EQ(events.dropped(), 1u);
}

TEST(EventObjects, OfASeriesWaitForATokenAndLoseNothing) {
  EventsOfOne events;
  const EventWrite first = events.create("denied");
  for (int i = 1; i < 23; ++i) {
    events.note("denied", 1min * i);
    events.done(events.one(1min * i), EventOutcome::kDone, 1min * i);
  }
  int patches = 0;
  base::Duration time = 23min;
  for (; time < 23min + 50min; time += 1min) {
    events.note("denied", time);
    for (const EventWrite& each : events.take(time)) {
      ++patches;
      events.done(each, EventOutcome::kDone, time);
    }
  }
  // One token comes back in every five minutes, and the last five are for new events.
  EXPECT_GE(patches, 10);
  EXPECT_LE(patches, 12);
  EXPECT_EQ(events.dropped(), 0u);
  events.note("denied", time);
  EXPECT_THAT(events.one(time + 10min).request.body, HasSubstr(R"({"count":74,)"));
}

TEST(EventObjects, OfASeriesLeaveTokensToNewEvents) {
  EventsOfOne events;
  events.create("a processor fails");
  base::Duration time = 1min;
  for (; time < 3h; time += 1min) {
    events.note("a processor fails", time);
    for (const EventWrite& each : events.take(time)) events.done(each, EventOutcome::kDone, time);
  }
  for (int i = 0; i < EventObjects::kNewOfObject; ++i) events.note("news " + std::to_string(i), time);
  EXPECT_EQ(events.dropped(), 0u);
  EXPECT_THAT(events.take(time), SizeIs(EventObjects::kNewOfObject));
}

TEST(EventObjects, AreLimitedAllTogether) {
  EventsOfOne events;
  for (int i = 0; i < 150; ++i) events.note("m", 0s, 1, webRoute("r" + std::to_string(i)));
  EXPECT_THAT(events.take(0s), SizeIs(100));
  EXPECT_THAT(events.take(0s), IsEmpty());
  EXPECT_EQ(events.nextDue(0s), notedAt(1s));
  EXPECT_THAT(events.take(1s), SizeIs(1));
  EXPECT_THAT(events.take(31s), SizeIs(30));
  EXPECT_THAT(events.take(1h), SizeIs(19));
  EXPECT_EQ(events.dropped(), 0u);
}

TEST(EventObjects, AreTakenInPortions) {
  EventObjects events("pod-1");
  for (int i = 0; i < 5; ++i) {
    events.note({observe::EventType::kNormal, "A", "", "m" + std::to_string(i), 1, {}, {}}, webRoute(), "Serve",
                notedAt(1ns * (5 - i)));
  }
  EXPECT_THAT(events.take(notedAt(1s), 2).at(0).request.body, HasSubstr(R"("note":"m4")"));
  EXPECT_THAT(events.take(notedAt(1s), 9), SizeIs(3));
}

TEST(EventObjects, GoOnWithTheSeriesOfAnEarlierProcess) {
  EventsOfOne events;
  events.note("denied", 0s, 3);
  EventWrite write = events.one(0s);
  events.done(write, EventOutcome::kExists, 0s);
  write = events.one(0s);
  EXPECT_EQ(write.request.method, http::Method::kGet);
  EXPECT_THAT(write.request.path, HasSubstr("/events/web."));
  events.done(write, EventOutcome::kDone, 0s,
              R"({"eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":40,"lastObservedTime":"x"}})");
  EXPECT_THAT(events.one(0s).request.body, StartsWith(R"({"series":{"count":43,)"));
}

TEST(EventObjects, KnowTheirOwnWorkAfterALostAnswer) {
  EventsOfOne events;
  events.note("denied");
  EventWrite write = events.one(0s);
  events.done(write, EventOutcome::kFailed, 0s);
  EXPECT_THAT(events.take(9s), IsEmpty());
  write = events.one(10s);
  EXPECT_EQ(write.request.method, http::Method::kPost);
  events.done(write, EventOutcome::kExists, 10s);
  write = events.one(10s);
  EXPECT_EQ(write.request.method, http::Method::kGet);
  events.done(write, EventOutcome::kDone, 10s, R"({"eventTime":"2026-01-31T23:59:58.000000Z"})");
  EXPECT_THAT(events.take(1h), IsEmpty());
  events.note("denied", 1h);
  EXPECT_THAT(events.one(1h).request.body, HasSubstr(R"("count":2,)"));
}

TEST(EventObjects, AreMadeAnewWhenTheServerHasDeletedThem) {
  EventsOfOne events;
  events.create("denied");
  events.note("denied", 2h, 2);
  const EventWrite patch = events.one(2h);
  EXPECT_EQ(patch.request.method, http::Method::kPatch);
  events.done(patch, EventOutcome::kMissing, 2h);
  const EventWrite again = events.one(2h);
  EXPECT_EQ(again.request.method, http::Method::kPost);
  EXPECT_THAT(again.request.body, HasSubstr(R"("eventTime":"2026-02-01T01:59:58.000001Z","series":{"count":2,)"));
  events.done(again, EventOutcome::kExists, 2h);
  const EventWrite read = events.one(2h);
  events.done(read, EventOutcome::kMissing, 2h);
  EXPECT_EQ(events.one(2h).request.method, http::Method::kPost);
}

TEST(EventObjects, AreGivenUpAfterManyTries) {
  EventsOfOne events;
  events.note("denied", 0s, 4);
  base::Duration time{};
  int tries = 0;
  for (; events.held() == 1; time += 10s) {
    ++tries;
    events.done(events.one(time), EventOutcome::kFailed, time);
  }
  EXPECT_EQ(tries, EventObjects::kMostTries);
  EXPECT_EQ(events.dropped(), 4u);
}

TEST(EventObjects, ThatAreRefusedAreDroppedAndCounted) {
  for (const EventOutcome outcome : {EventOutcome::kRefused, EventOutcome::kMissing}) {
    EventsOfOne events;
    events.note("denied", 0s, 4);
    events.done(events.one(0s), outcome, 0s);
    EXPECT_EQ(events.held(), 0u);
    EXPECT_EQ(events.dropped(), 4u);
  }
  EventsOfOne events;
  events.create("denied");
  events.note("denied", 1min, 3);
  events.done(events.one(1min), EventOutcome::kRefused, 1min);
  EXPECT_EQ(events.dropped(), 3u) << "one was written";
}

TEST(EventObjects, AreHeldUpToABound) {
  EventsOfOne events;
  for (std::size_t i = 0; i < EventObjects::kMostHeld; ++i) events.note("m", 0s, 1, webRoute("r" + std::to_string(i)));
  EXPECT_EQ(events.dropped(), 0u);
  events.note("m", 0s, 1, webRoute("more"));
  EXPECT_EQ(events.dropped(), 1u);
  const std::vector<EventWrite> writes = events.take(0s);
  for (const EventWrite& each : writes) events.done(each, EventOutcome::kDone, 0s);
  events.note("m", 1s, 1, webRoute("more"));
  EXPECT_EQ(events.dropped(), 0u) << "what is written makes room";
  EXPECT_EQ(events.held(), EventObjects::kMostHeld);
  events.note("m", 1h, 1, webRoute("again"));
  EXPECT_EQ(events.held(), EventObjects::kMostHeld - 99 + 1) << "what is old is forgotten";
}

TEST(EventObjects, FindTheirObjectInTheNameOfAnEvent) {
  const std::optional<EventRegarding> route = regardingOf("HTTPRoute demo/web");
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(route->kind + "|" + route->nameSpace + "|" + route->name, "HTTPRoute|demo|web");
  EXPECT_EQ(regardingOf("GatewayClass egress")->name, "egress");
  EXPECT_EQ(regardingOf("GatewayClass egress")->nameSpace, "");
  for (const char* other : {"", "listener", "processor CredentialInjector:v1 key", "listener *:80", "Gateway "}) {
    EXPECT_FALSE(regardingOf(other).has_value()) << other;
  }
}

TEST(TokenBucket, GivesItsBurstAtOnceAndOneMoreAfterEachRefill) {
  TokenBucket bucket(2, 10s);
  EXPECT_TRUE(bucket.isFull(notedAt(0s)));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bucket.next(notedAt(0s)), notedAt(0s));
    bucket.take(notedAt(0s));
  }
  EXPECT_EQ(bucket.next(notedAt(3s)), notedAt(10s));
  bucket.take(notedAt(10s));
  EXPECT_EQ(bucket.next(notedAt(10s)), notedAt(20s));
  EXPECT_FALSE(bucket.isFull(notedAt(30s) - 1ns));
  EXPECT_TRUE(bucket.isFull(notedAt(30s)));
}

}  // namespace
}  // namespace sluice::kubernetes
