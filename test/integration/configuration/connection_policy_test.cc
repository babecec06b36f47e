// Tests on the wire what policies say of connections to Backends and of the time of requests. The settings of the
// process say something else each time, which would not strike while a test runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/full_listener.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// The kind of a policy, with its fields.
struct SpelledPolicy {
  const char* apiVersion;
  const char* kind;
  std::string fields;

  /// Returns the policy for the target of that kind and name, in flow style.
  std::string forTarget(const std::string& kindAndName) const {
    return "---\napiVersion: " + std::string(apiVersion) + "\nkind: " + kind +
           "\nmetadata: {namespace: test, name: connections}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, " +
           kindAndName + "}], " + fields + "}\n";
  }
};
SpelledPolicy ownFields(const std::string& fields) { return {"sluice.dev/v1alpha1", "TrafficPolicy", fields}; }
/// Fields that TrafficPolicy and Envoy Gateway share come in both kinds, beside those of the proposal.
std::vector<SpelledPolicy> everySpelling(const std::string& shared, const std::string& proposed) {
  constexpr const char* kEnvoy = "gateway.envoyproxy.io/v1alpha1";
  return {ownFields(shared), {kEnvoy, "BackendTrafficPolicy", shared}, {kEnvoy, "BackendTrafficPolicy", proposed}};
}

/// Returns a gateway that sends everything to this port; `rule` are further members of its one rule, as lines.
GatewaySpec governedSpec(std::uint16_t port, const std::string& policy, const std::string& rule = {}) {
  GatewaySpec spec;
  spec.backends = {{.port = port}};
  spec.settings = onlyTimeouts("connect: 24h");
  spec.routes = routeOfRules("    - " + backendRefs().substr(6) + rule) + policy;
  return spec;
}

RawOrigin::Script neverAnswering() {
  return [](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  };
}

/// An origin that answers, and says when the gateway has closed a connection.
class LeftOrigin {
 public:
  std::uint16_t port() const { return origin_.port(); }
  int connections() const { return origin_.connections(); }
  bool wasLeft() const {
    return eventually([this] { return left_.load(); });
  }

 private:
  std::atomic<bool> left_ = false;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send(kOk);
    if (socket.closed() && !self.stopping()) left_ = true;
  }};
};

TEST(ConnectionPolicy, BoundsTheTimeInWhichAConnectionIsMade) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {tcp: {connectTimeout: 300ms}}", "timeouts: {connectTimeout: 300ms}")) {
    const FullListener origin;
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all")));
    const ReceivedResponse got = askRaw(gateway.port());
    EXPECT_EQ(got.status, 504) << policy.fields;
    EXPECT_THAT(got.body, HasSubstr("connection_timeout")) << policy.fields;
  }
}

TEST(ConnectionPolicy, ClosesAConnectionThatNoRequestUses) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {http: {connectionIdleTimeout: 200ms}}", "timeouts: {clusterIdleTimeout: 200ms}")) {
    LeftOrigin origin;
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: Gateway, name: egress")));
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    EXPECT_TRUE(origin.wasLeft()) << policy.fields;
  }
}

TEST(ConnectionPolicy, KeepsAConnectionForLongerThanTheProcessDoes) {
  RawOrigin origin(RawOrigin::answering(kOk));
  PassedTime time;
  GatewaySpec spec =
      governedSpec(origin.port(),
                   ownFields("timeout: {http: {connectionIdleTimeout: 10h}}").forTarget("kind: HTTPRoute, name: all"));
  spec.settings = onlyTimeouts("upstreamIdle: 100s");
  spec.startedBy = time.startedBy();
  const GatewayProcess gateway(spec);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(askRaw(gateway.port()).status, 200);
    time.pass(gateway, seconds(1000));
  }
  EXPECT_EQ(origin.connections(), 1);
}

TEST(ConnectionPolicy, BoundsTheAgeOfAConnection) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {http: {maxConnectionDuration: 100s}}", "timeouts: {maxConnectionLifetime: 100s}")) {
    LeftOrigin origin;
    PassedTime time;
    GatewaySpec spec = governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all"));
    spec.startedBy = time.startedBy();
    const GatewayProcess gateway(spec);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
      time.pass(gateway, seconds(60));
    }
    EXPECT_EQ(origin.connections(), 1) << policy.fields;
    EXPECT_TRUE(origin.wasLeft()) << policy.fields;
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    EXPECT_EQ(origin.connections(), 2) << policy.fields;
  }
}

TEST(ConnectionPolicy, LetsARequestEndOnAnOldConnection) {
  HeldOrigin origin;
  PassedTime time;
  GatewaySpec spec =
      governedSpec(origin.port(),
                   ownFields("timeout: {http: {maxConnectionDuration: 100s}}").forTarget("kind: HTTPRoute, name: all"));
  spec.startedBy = time.startedBy();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time.pass(gateway, seconds(1000));
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
  origin.answer();
  EXPECT_EQ(askRaw(client).status, 200);
  EXPECT_EQ(origin.connections(), 2);
}

TEST(ConnectionPolicy, BoundsTheTimeOfARequest) {
  const SpelledPolicy policy = ownFields("timeout: {http: {requestTimeout: 300ms}}");
  for (const SpelledPolicy& each :
       {policy, SpelledPolicy{"gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", policy.fields}}) {
    for (const char* target : {"kind: HTTPRoute, name: all", "kind: Gateway, name: egress"}) {
      RawOrigin origin(neverAnswering());
      const GatewayProcess gateway(governedSpec(origin.port(), each.forTarget(target)));
      const ReceivedResponse got = askRaw(gateway.port());
      EXPECT_EQ(got.status, 504) << each.kind << target;
      EXPECT_THAT(got.body, HasSubstr("http_response_timeout")) << each.kind << target;
      EXPECT_TRUE(gateway.limitWasHit("request")) << each.kind << target;
    }
  }
}

TEST(ConnectionPolicy, LeavesTheTimeOfARequestToItsRule) {
  HeldOrigin origin;
  PassedTime time;
  GatewaySpec spec = governedSpec(
      origin.port(), ownFields("timeout: {http: {requestTimeout: 100s}}").forTarget("kind: HTTPRoute, name: all"),
      "      timeouts: {request: 10000s}\n");
  spec.startedBy = time.startedBy();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time.pass(gateway, seconds(1000));
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST(ConnectionPolicy, BoundsTheTimeOfARequestWhateverItsRuleSays) {
  RawOrigin origin(neverAnswering());
  const GatewayProcess gateway(governedSpec(
      origin.port(), ownFields("timeout: {http: {maxStreamDuration: 300ms}}").forTarget("kind: HTTPRoute, name: all"),
      "      timeouts: {request: 0s}\n"));
  EXPECT_EQ(askRaw(gateway.port()).status, 504);
  EXPECT_TRUE(gateway.limitWasHit("request"));
}

TEST(ConnectionPolicy, BoundsTheTimeInWhichNothingMoves) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {http: {streamIdleTimeout: 300ms}}", "timeouts: {idleTimeout: 300ms}")) {
    RawOrigin origin(neverAnswering());
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all")));
    EXPECT_EQ(askRaw(gateway.port()).status, 504) << policy.fields;
    EXPECT_TRUE(gateway.limitWasHit("streamIdle")) << policy.fields;
  }
}

/// Two routes to one Backend, of which the one at /governed has a policy for its connections.
class SharedBackend : public testing::Test {
 protected:
  void start(const std::string& settings) {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.settings = onlyTimeouts("connect: 24h") + settings;
    const std::string other = routeOfRules(ruleOfPrefix("/governed", "origin"));
    spec.routes = routeOfRules(ruleOfPrefix("/plain", "origin")) + "---\n" +
                  std::string(other).replace(other.find("name: all"), 9, "name: governed") +
                  ownFields("timeout: {tcp: {connectTimeout: 20s}}").forTarget("kind: HTTPRoute, name: governed");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  BlockingSocket begin(const std::string& path) const {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return client;
  }

  HeldOrigin origin_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(SharedBackend, HasConnectionsForEachOfItsSettings) {
  start("");
  for (const char* path : {"/plain", "/governed", "/plain", "/governed"}) {
    origin_.answer();
    BlockingSocket client = begin(path);
    EXPECT_EQ(readResponse(client).status, 200);
  }
  EXPECT_EQ(origin_.connections(), 2);
  EXPECT_TRUE(
      gateway_->reaches("http_client_open_connections{backend=\"test/origin\",http_connection_state=\"idle\"}", 2));
}

TEST_F(SharedBackend, CountsThemAgainstOneLimit) {
  start(limits("backendConnections: 1"));
  BlockingSocket first = begin("/plain");
  ASSERT_TRUE(origin_.wasAsked());
  BlockingSocket second = begin("/governed");
  EXPECT_EQ(readResponse(second).status, 503);
  EXPECT_TRUE(gateway_->limitWasHit("backendConnections"));
  origin_.answer();
  EXPECT_EQ(readResponse(first).status, 200);
}

}  // namespace
}  // namespace sluice::test
