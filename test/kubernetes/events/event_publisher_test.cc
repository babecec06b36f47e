// Events become Event objects on the objects that they concern.
#include "proxy/kubernetes/events/event_publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/kubernetes/lease/leader_election.h"
#include "test/kubernetes/client/api_rig.h"
#include "test/support/reference_page.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kEventsOfDemo = "/apis/events.k8s.io/v1/namespaces/demo/events";

/// A cluster with GatewayClass "sluice", Gateway demo/egress and HTTPRoutes demo/r0 to demo/r39.
class EventPublishing : public ::testing::Test {
 protected:
  void SetUp() override {
    objects = std::make_unique<ClusterObjects>(rig.client, ClusterScope{});
    begin(/*controls=*/true);
    rig.inTurn([this] { objects->start(); });
    serve();
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    publisher.reset();
    objects.reset();
  }
  void begin(bool controls) {
    const net::Worker::Turn turn(rig.worker);
    publisher =
        std::make_unique<EventPublisher>(rig.client, *objects, ring, EventPublisher::Instance{"pod-1", controls});
  }
  observe::Event event(observe::EventType type, const std::string& reason, const std::string& object,
                       const std::string& message) const {
    const base::WallTime at = rig.clock.wallNow();
    return {type, reason, object, message, 1, at, at};
  }
  void note(const observe::Event& event) {
    rig.inTurn([&] { ring.note(event); });
    serve();
  }
  void decide(const observe::Event& event) {
    rig.inTurn([&] { publisher->tell(event); });
    serve();
  }
  void publish(const std::string& object, const std::string& message = "denied") {
    note(event(observe::EventType::kWarning, "Denied", object, message));
  }
  void know(const std::string& message) {
    note(event(observe::EventType::kWarning, "NotFullyServed", "HTTPRoute demo/r0", message));
  }
  void lead(bool leads) {
    rig.inTurn([&] { publisher->lead(leads); });
    serve();
  }
  void answer(std::size_t number, std::uint16_t status, const std::string& body = "{}") {
    rig.answer(told.at(number), status, body);
    serve();
  }
  http::Method method(std::size_t number) { return rig.request(told.at(number)).message.head.method; }
  std::string target(std::size_t number) { return rig.target(told.at(number)); }
  std::string body(std::size_t number) { return rig.request(told.at(number)).body; }
  void advance(base::Duration by) {
    rig.advance(by);
    serve();
  }
  std::uint64_t dropped() { return rig.client.metrics().at<observe::Metric::kEventsDropped>().value(); }

  ApiRig rig;
  observe::EventRing ring{rig.client.log(), rig.client.metrics()};
  std::vector<std::size_t> told;  // requests about Event objects

 private:
  static std::string item(const std::string& name, const std::string& members) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"demo","uid":"uid-of-)" + name +
           R"(","resourceVersion":"1"},)" + members + "}";
  }
  static std::string itemsOf(const std::string& path) {
    const auto has = [&](const char* plural) { return path.find(plural) != std::string::npos; };
    if (has("/gatewayclasses")) {
      return R"({"metadata":{"name":"sluice","uid":"uid-of-class","resourceVersion":"1"},)"
             R"("spec":{"controllerName":"sluice.dev/egress-gateway"}})";
    }
    if (has("/gateways")) return item("egress", R"("spec":{"gatewayClassName":"sluice"})");
    std::string routes;
    for (int i = 0; has("/httproutes") && i < 40; ++i) {
      routes += (i == 0 ? "" : ",") + item("r" + std::to_string(i), R"("spec":{"parentRefs":[{"name":"egress"}]})");
    }
    return routes;
  }
  /// Answers all requests that are not about Event objects.
  void serve() {
    for (; next_ < rig.requests(); ++next_) {
      const std::string path = rig.target(next_);
      if (path.find("events.k8s.io") != std::string::npos) {
        told.push_back(next_);
      } else if (path.find("sendInitialEvents") != std::string::npos) {
        rig.answer(next_, 400, statusBody(400, "no streaming"));
      } else if (path.find("watch=true") != std::string::npos) {
        rig.begin(next_);
      } else {
        rig.answer(next_, 200, R"({"metadata":{"resourceVersion":"1"},"items":[)" + itemsOf(path) + "]}");
      }
    }
  }

  std::size_t next_ = 0;

 protected:
  std::unique_ptr<ClusterObjects> objects;
  std::unique_ptr<EventPublisher> publisher;
};

TEST_F(EventPublishing, PublishesADecisionOfTheControllerOnce) {
  for (const observe::EventType type : {observe::EventType::kNormal, observe::EventType::kWarning}) {
    const std::string reason = type == observe::EventType::kNormal ? "CanaryServes" : "RevisionTainted";
    decide(event(type, reason, "Gateway demo/egress", "it is so"));
    EXPECT_THAT(ring.document(), HasSubstr("\"count\":1,\"type\":\"" +
                                           std::string(type == observe::EventType::kNormal ? "Normal" : "Warning") +
                                           "\",\"reason\":\"" + reason + "\""));
  }
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(body(0), HasSubstr(R"("reason":"CanaryServes")"));
  EXPECT_THAT(body(1), HasSubstr(R"("reason":"RevisionTainted")"));
}

TEST_F(EventPublishing, DoesNotPublishSuccesses) {
  note(event(observe::EventType::kNormal, "Reloaded", "HTTPRoute demo/r0", "it is served"));
  EXPECT_EQ(told.size(), 0u);
}

TEST_F(EventPublishing, PublishesARecoveryAfterTheWarning) {
  const auto comes = [this](observe::EventType type, std::string_view reason, const std::string& object) {
    note(event(type, std::string(reason), object, "it is so"));
  };
  std::size_t published = 0;
  for (const PassingFault& each : kPassingFaults) {
    comes(observe::EventType::kNormal, each.recovery, "HTTPRoute demo/r0");
    EXPECT_EQ(told.size(), published) << "it was good all the time";
    comes(observe::EventType::kWarning, each.warning, "HTTPRoute demo/r0");
    EXPECT_EQ(told.size(), published + 1);
    comes(observe::EventType::kNormal, each.recovery, "HTTPRoute demo/r1");
    comes(observe::EventType::kNormal, "Reloaded", "HTTPRoute demo/r0");
    EXPECT_EQ(told.size(), published + 1);
    comes(observe::EventType::kNormal, each.recovery, "HTTPRoute demo/r0");
    ASSERT_EQ(told.size(), published + 2);
    EXPECT_THAT(body(published + 1),
                AllOf(HasSubstr(R"("type":"Normal","reason":")" + std::string(each.recovery) + "\""),
                      HasSubstr(R"("kind":"HTTPRoute","namespace":"demo","name":"r0")")));
    published += 2;
  }
}

TEST_F(EventPublishing, PublishesNoRecoveryOfWhatIsNoObjectOfTheCluster) {
  note(event(observe::EventType::kWarning, "ProcessorFailed", "HTTPRoute demo/unknown", "it is so"));
  note(event(observe::EventType::kNormal, "ProcessorRecovered", "HTTPRoute demo/unknown", "it is so"));
  EXPECT_EQ(told.size(), 0u);
}

TEST(KubernetesPage, HasEveryRecoveryThatIsPublished) {
  const auto rows =
      sluice::test::pageTable(sluice::test::referencePage("kubernetes.md"), "| recovery | after the warning |");
  ASSERT_EQ(rows.size(), kPassingFaults.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], "`" + std::string(kPassingFaults[i].recovery) + "`");
    EXPECT_EQ(rows[i][1], "`" + std::string(kPassingFaults[i].warning) + "`");
  }
}

TEST_F(EventPublishing, LeavesResultsOfCompilingToTheControllers) {
  begin(/*controls=*/false);
  know("its Backend is missing");
  lead(true);
  know("another Backend is missing");
  EXPECT_EQ(told.size(), 0u);
  publish("HTTPRoute demo/r0");
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(EventPublishing, PostsAnEventInTheNamespaceOfItsObjectWithTheObjectsUid) {
  publish("HTTPRoute demo/r0");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(method(0), http::Method::kPost);
  EXPECT_EQ(target(0), kEventsOfDemo);
  EXPECT_THAT(body(0), AllOf(HasSubstr(R"("apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute")"),
                             HasSubstr(R"("uid":"uid-of-r0")"), HasSubstr(R"("note":"denied")"),
                             HasSubstr(R"("reportingInstance":"pod-1")")));
  answer(0, 201);
  publish("HTTPRoute demo/r0");
  EXPECT_EQ(told.size(), 1u) << "a repeat waits";
  advance(minutes(1) + milliseconds(100));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(method(1), http::Method::kPatch);
  EXPECT_THAT(body(1), HasSubstr(R"("count":2)"));
}

TEST_F(EventPublishing, LeavesEventsOfEveryControllerToTheLeader) {
  know("told by the former leader");
  advance(LeaderElection::kLeaseDuration + milliseconds(1));
  know("perhaps told by nobody");
  EXPECT_EQ(told.size(), 0u);
  lead(true);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(body(0), HasSubstr("perhaps told by nobody"));
  answer(0, 201);
  know("news");
  EXPECT_EQ(told.size(), 2u);
  lead(false);
  know("more news");
  EXPECT_EQ(told.size(), 2u);
}

TEST_F(EventPublishing, PutsWhatConcernsTheProcessOnTheGatewayClass) {
  publish("");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(target(0), "/apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_THAT(body(0), HasSubstr(R"("kind":"GatewayClass","name":"sluice","uid":"uid-of-class")"));
}

TEST_F(EventPublishing, ReadsAnEventThatIsThereAlreadyAndGoesOnCounting) {
  publish("HTTPRoute demo/r0");
  answer(0, 409, statusBody(409, "exists"));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(method(1), http::Method::kGet);
  EXPECT_THAT(target(1), StartsWith(std::string(kEventsOfDemo) + "/r0."));
  answer(1, 200, R"({"eventTime":"2020-01-01T00:00:00.000000Z","series":{"count":4}})");
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(method(2), http::Method::kPatch);
  EXPECT_THAT(body(2), HasSubstr(R"("count":5)"));
  EXPECT_EQ(rig.logged.count("an Event cannot be written"), 0u);
}

TEST_F(EventPublishing, TellsARefusalOnceAndCountsWhatIsDropped) {
  for (std::size_t i = 0; i < 3; ++i) {
    publish("HTTPRoute demo/r" + std::to_string(i));
    ASSERT_EQ(told.size(), i + 1) << "what is refused is not tried again";
    answer(i, 403, statusBody(403, "events is forbidden"));
    EXPECT_EQ(dropped(), i + 1);
  }
  EXPECT_EQ(rig.logged.count("an Event cannot be written"), 1u);
}

TEST_F(EventPublishing, TriesAgainWhatTheServerCouldNotTake) {
  publish("HTTPRoute demo/r0");
  answer(0, 503, statusBody(503, "busy"));
  EXPECT_EQ(told.size(), 1u);
  advance(seconds(10) + milliseconds(100));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(method(1), http::Method::kPost);
  EXPECT_EQ(dropped(), 0u);
}

TEST_F(EventPublishing, LeavesOutWhatIsNoObjectOfTheCluster) {
  publish("HTTPRoute demo/unknown");
  publish("Secret demo/r0");
  publish("processor of something");
  EXPECT_EQ(told.size(), 0u);
  EXPECT_EQ(dropped(), 0u);
}

TEST_F(EventPublishing, SendsEightAtOnceAndTheOthersWithTheAnswers) {
  for (int i = 0; i < 12; ++i) publish("HTTPRoute demo/r" + std::to_string(i));
  EXPECT_EQ(told.size(), 8u);
  advance(seconds(1));
  EXPECT_EQ(told.size(), 8u);
  answer(0, 201);
  EXPECT_EQ(told.size(), 9u);
  for (std::size_t i = 1; i < 9; ++i) answer(i, 201);
  EXPECT_EQ(told.size(), 12u);
}

TEST_F(EventPublishing, CountsEventsOfAnObjectThatHasTooMany) {
  for (int i = 0; i < 30; ++i) publish("HTTPRoute demo/r0", "denied for reason " + std::to_string(i));
  EXPECT_EQ(dropped(), 5u);
}

}  // namespace
}  // namespace sluice::kubernetes
