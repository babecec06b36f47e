// Tests that ejections are counted and told at the Backend or Service.
#include "proxy/exchange/telemetry/ejection_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "test/exchange/telemetry/told_events.h"

namespace sluice::exchange {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EjectionTelemetry : public EventsOfSteps {
 protected:
  /// The rule of that route has a fail-over, which ejects the Backend demo/api after two failures.
  Rig& ofRoute(const std::string& route) {
    return with({}, {}, [=](routing::Rule& rule) {
      auto plan = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
      plan->object = "Backend.sluice.dev/demo/api";
      rule.backends[0].backend = std::move(plan);
      rule.retry.reset();
      rule.route = route;
      auto failover = std::make_shared<routing::FailoverPolicy>();
      failover->rule = "HTTPRoute " + route + ", rule 0";
      failover->members.push_back({0, 1, std::make_shared<const routing::AnswerHealth>(), nullptr, {.errors = 2}});
      rule.failover = std::move(failover);
    });
  }
  void fail() {
    get();
    if (backend_ == nullptr) backend_ = &accept(0);
    respond(*backend_, 500, "");
  }

  BackendPeer* backend_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Versions, EjectionTelemetry,
                         ::testing::Values(std::tuple(Version::kHttp11, Version::kHttp11)));

TEST_P(EjectionTelemetry, TellsOfABackendAtTheBackend) {
  Rig& rig = ofRoute("demo/web");
  fail();
  EXPECT_THAT(toldEvents(rig), IsEmpty());
  fail();
  EXPECT_THAT(toldEvents(rig), ElementsAre("Warning BackendEjected Backend demo/api x1: HTTPRoute demo/web, rule 0 "
                                           "ejects backend.test:8080 for 30s: 2 failures in a row"));
  fail();
  EXPECT_THAT(toldEvents(rig), IsEmpty()) << "it is ejected already";
  EXPECT_THAT(
      rig.metricsText(),
      HasSubstr("sluice_upstream_ejections_total{route=\"demo/web\",backend=\"demo/backend\",ejected=\"backend\"} "
                "1\n"));
}

TEST_P(EjectionTelemetry, DoesNotNameTheRoutesOfOtherNamespaces) {
  Rig& rig = ofRoute("team/secret-plan");
  fail();
  fail();
  EXPECT_THAT(toldEvents(rig),
              ElementsAre("Warning BackendEjected Backend demo/api x1: a rule of another namespace ejects "
                          "backend.test:8080 for 30s: 2 failures in a row"));
}

// Clients choose what they ask for, so one that asks for WebSockets must not take the Backend from the others.
TEST_P(EjectionTelemetry, TellsOfNoBackendThatOnlyTakesNoWebSockets) {
  Rig& rig = ofRoute("demo/web");
  for (std::size_t i = 0; i < 3; ++i) {
    client_->ask({.target = "/ok/chat",
                  .fields = {{"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}},
                  .body = http::Body::kTunnel});
    ASSERT_TRUE(rig.settle());
    accept(i).wire().deliver("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(client_->answer(i).message.head.status, 502);
  }
  EXPECT_THAT(toldEvents(rig), IsEmpty());
}

TEST(EjectionEvents, AreOneForEachRuleAndNameTheNewestEndpoint) {
  observe::MetricsRegistry registry;
  observe::MetricShard metrics(registry);
  observe::EventBatch events;
  routing::BackendPlan plan;
  plan.name = "demo/shop";
  plan.object = "Service/demo/shop";
  const auto tell = [&](const std::string& ip, std::string_view rule) {
    const routing::Endpoint endpoint{ip, 80};
    const routing::Ejection ejection{{routing::EjectionCause::Kind::kShare, 6, 12}, seconds(90)};
    tellEjection({plan, &endpoint, "demo/web", rule, ejection}, metrics, events, base::WallTime(seconds(1)));
  };
  tell("10.0.0.1", "HTTPRoute demo/web, rule 0");
  tell("fd00::2", "HTTPRoute demo/web, rule 0");
  tell("10.0.0.1", "HTTPRoute demo/web, rule 1");
  const std::vector<observe::Event> told = events.take();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].reason, "EndpointEjected");
  EXPECT_EQ(told[0].object, "Service demo/shop");
  EXPECT_EQ(told[0].count, 2U);
  EXPECT_EQ(told[0].message,
            "HTTPRoute demo/web, rule 0 ejects endpoint [fd00::2]:80 for 1m30s: 6 of 12 requests have failed");
  EXPECT_EQ(told[1].count, 1U);
  EXPECT_THAT(observe::exposeMetrics(registry),
              HasSubstr("{route=\"demo/web\",backend=\"demo/shop\",ejected=\"endpoint\"} 3\n"));
}

}  // namespace
}  // namespace sluice::exchange
