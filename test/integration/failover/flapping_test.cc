// Tests that no request is lost while Backends and endpoints fail, go and come back under load, as long as one of them
// could serve it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/client_crowd.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/route.h"
#include "test/integration/support/switched_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::Key;
using testing::UnorderedElementsAre;

constexpr std::size_t kFlappers = 50;
constexpr const char* kFlappingUpload = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";

std::string flappingPolicy(const std::string& name, const std::string& fields) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n" + fields;
}

/// Two Backends, "first" and "second", of which the second is a standby.
class FlappingBackends : public testing::Test {
 protected:
  GatewaySpec spec(const std::string& more = {}) const {
    GatewaySpec spec;
    spec.workers = 2;
    spec.accessLog = "off";
    spec.backends = {{.name = "first", .hostname = "first.test", .port = first_.port()},
                     {.name = "second", .hostname = "second.test", .port = second_.port()}};
    spec.routes = routeOfRules("    - backendRefs: [" + backendRef("first") + ", " +
                               backendRef("second", ", weight: 0") + "]\n") +
                  flappingPolicy("flapping",
                                 "  retry: {codes: [500, 503], attempts: 2, backoff: 1ms}\n  failover: {priorities: "
                                 "[{backendRef: " +
                                     backendRef("second") + ", priority: 1}]}\n" + more);
    return spec;
  }
  /// Returns a policy by which a Backend serves again a moment after it has failed.
  static std::string passive() {
    return "  healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 20ms, maxEjectionTime: 20ms}}\n";
  }

  SwitchedOrigin first_{"first"};
  SwitchedOrigin second_{"second"};
};

TEST_F(FlappingBackends, LoseNoRequestIfTheOtherServes) {
  const GatewayProcess gateway(spec(passive()));
  ClientCrowd clients(gateway.port(), kFlappers, kGet);
  for (int round = 0; round < 3; ++round) {
    for (const OriginMode mode : {OriginMode::kReset, OriginMode::kBusy, OriginMode::kBroken}) {
      first_.set(mode);
      ASSERT_TRUE(clients.hasAnswers(100, "second"));
      first_.set(OriginMode::kServe);
      ASSERT_TRUE(clients.hasAnswers(100, "first"));
    }
    first_.leave();
    ASSERT_TRUE(clients.hasAnswers(100, "second"));
    first_.comeBack();
    ASSERT_TRUE(clients.hasAnswers(100, "first"));
  }
  EXPECT_THAT(clients.finish(), UnorderedElementsAre(Key("first"), Key("second")));
}

// A request that is not idempotent is tried again for a status, or if its Backend cannot be reached.
TEST_F(FlappingBackends, LoseNoUploadThatTheyHaveNotBegunToProcess) {
  const GatewayProcess gateway(spec(passive()));
  ClientCrowd clients(gateway.port(), kFlappers, kFlappingUpload);
  for (int round = 0; round < 5; ++round) {
    first_.set(OriginMode::kBusy);
    ASSERT_TRUE(clients.hasAnswers(100, "second"));
    first_.set(OriginMode::kServe);
    ASSERT_TRUE(clients.hasAnswers(100, "first"));
  }
  EXPECT_THAT(clients.finish(), UnorderedElementsAre(Key("first"), Key("second")));
}

TEST_F(FlappingBackends, ServeWithTheOneThatRecoversWhileAllAreEjected) {
  const GatewayProcess gateway(
      spec("  healthCheck: {passive: {consecutive5XxErrors: 1, baseEjectionTime: 1h, maxEjectionTime: 1h}}\n"));
  first_.set(OriginMode::kBusy);
  second_.set(OriginMode::kBusy);
  ClientCrowd early(gateway.port(), kFlappers, kGet);
  ASSERT_TRUE(early.hasAnswers(200));
  EXPECT_THAT(early.finish(), UnorderedElementsAre(Key("503")));
  second_.set(OriginMode::kServe);
  ClientCrowd late(gateway.port(), kFlappers, kGet);
  ASSERT_TRUE(late.hasAnswers(500));
  EXPECT_THAT(late.finish(), UnorderedElementsAre(Key("second")));
}

TEST_F(FlappingBackends, AreServedInSpiteOfHealthChecksThatHang) {
  first_.holdProbes();
  const GatewayProcess gateway(
      spec("  healthCheck: {active: {type: HTTP, interval: 1s, timeout: 100ms, http: {path: /healthz}}}\n"));
  ClientCrowd clients(gateway.port(), kFlappers, kGet);
  ASSERT_TRUE(clients.hasAnswers(100, "second")) << "the first is unhealthy";
  ASSERT_TRUE(first_.isProbed(2));
  EXPECT_THAT(clients.finish(), Each(Key(testing::AnyOf("first", "second"))));
  EXPECT_TRUE(eventually([&] { return first_.connections() <= kFlappers + 1; })) << "a check that hangs leaves nothing";
}

/// A Service whose endpoints are added and removed.
class FlappingEndpoints : public testing::Test {
 protected:
  using Origins = std::vector<const SwitchedOrigin*>;

  static GatewaySpec spec(const Origins& endpoints, const std::string& policy = {}) {
    GatewaySpec spec;
    spec.workers = 2;
    spec.accessLog = "off";
    spec.routes =
        "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: shop}\n"
        "spec: {selector: {app: shop}, ports: [{name: web, port: 80, targetPort: web}]}\n---\n";
    for (const SwitchedOrigin* each : endpoints) {
      const std::string port = std::to_string(each->port());
      spec.routes +=
          "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: shop-" + port +
          ", labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " + port +
          "}]\nendpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]\n---\n";
    }
    spec.routes += routeOfRules("    - backendRefs: [{name: shop, port: 80}]\n") + policy;
    return spec;
  }

  SwitchedOrigin one_{"one"};
  SwitchedOrigin two_{"two"};
  SwitchedOrigin three_{"three"};
};

// An endpoint that is about to end is taken out of the EndpointSlices first, and ends when no client uses it any more.
TEST_F(FlappingEndpoints, LoseNoUploadWhenTheyGoAndComeInOrder) {
  GatewayProcess gateway(spec({&one_, &two_}));
  ClientCrowd clients(gateway.port(), kFlappers, kFlappingUpload);
  SwitchedOrigin* staying = &one_;
  SwitchedOrigin* going = &two_;
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(clients.hasAnswers(50, staying == &one_ ? "two" : "one"));
    gateway.reload(spec({staying}));
    ASSERT_TRUE(going->isDeserted());
    going->leave();
    ASSERT_TRUE(clients.hasAnswers(100));
    going->comeBack();
    gateway.reload(spec({&one_, &two_}));
    std::swap(staying, going);
  }
  EXPECT_THAT(clients.finish(), UnorderedElementsAre(Key("one"), Key("two")));
}

TEST_F(FlappingEndpoints, LoseNoUploadIfOneRefuses) {
  const GatewayProcess gateway(spec({&one_, &two_, &three_}));
  two_.leave();
  ClientCrowd clients(gateway.port(), kFlappers, kFlappingUpload);
  ASSERT_TRUE(clients.hasAnswers(500));
  EXPECT_THAT(clients.finish(), UnorderedElementsAre(Key("one"), Key("three")));
}

TEST_F(FlappingEndpoints, LoseNoRequestWithRetriesIfOneGoesSilently) {
  const GatewayProcess gateway(
      spec({&one_, &two_, &three_}, flappingPolicy("tries", "  retry: {attempts: 3, backoff: 1ms}\n")));
  ClientCrowd clients(gateway.port(), kFlappers, kGet);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(clients.hasAnswers(100, "two"));
    two_.leave();
    ASSERT_TRUE(clients.hasAnswers(100));
    two_.comeBack();
  }
  EXPECT_THAT(clients.finish(), UnorderedElementsAre(Key("one"), Key("two"), Key("three")));
}

/// A Backend whose name resolves to other addresses from time to time.
TEST(FlappingNames, LoseNoRequestWhenTheirAddressesShrinkAndGrow) {
  SwitchedOrigin one("one", "127.0.0.1");
  SwitchedOrigin two("two", "127.0.0.2", one.port());
  const auto pointing = [](const std::vector<std::string>& addresses) {
    return NameServer::Records{{"origin.test", addresses}};
  };
  NameServer names(pointing({"127.0.0.1"}), 0);
  // Answers that came before a change lead to an address that has left, and each such request costs a retry.
  const GatewayProcess gateway({.backends = {{.port = one.port(), .addresses = ""}},
                                .settings = "retry: {budget: {percent: 100, minPerSecond: 10000}}\n",
                                .routes = routeOfRules("    -\n" + backendRefs()) +
                                          flappingPolicy("tries", "  retry: {attempts: 3, backoff: 1ms}\n"),
                                .workers = 2,
                                .dns = "servers: [\"" + names.address() + "\"], minTtl: 0s, timeout: 20s",
                                .accessLog = "off"});
  ClientCrowd clients(gateway.port(), kFlappers, kGet);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(clients.hasAnswers(100, "one"));
    names.change(pointing({"127.0.0.1", "127.0.0.2"}));
    one.leave();
    ASSERT_TRUE(clients.hasAnswers(100, "two"));
    names.change(pointing({"127.0.0.2"}));
    one.comeBack();
    names.change(pointing({"127.0.0.2", "127.0.0.1"}));
    two.leave();
    ASSERT_TRUE(clients.hasAnswers(100, "one"));
    names.change(pointing({"127.0.0.1"}));
    two.comeBack();
  }
  EXPECT_THAT(clients.finish(), UnorderedElementsAre(Key("one"), Key("two")));
}

}  // namespace
}  // namespace sluice::test
