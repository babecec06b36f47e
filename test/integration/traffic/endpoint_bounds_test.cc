// Tests the bounds of a circuit breaker on each endpoint, and those of rules of high priority, through the binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Returns a gateway with a route to a Service with two endpoints; `port` is that of the Service.
GatewaySpec ofTwoEndpoints(std::uint16_t one, std::uint16_t other, const std::string& policy,
                           const std::string& port = "{name: web, port: 80}") {
  GatewaySpec spec;
  spec.settings = onlyTimeouts("connect: 24h");
  spec.routes = routeOfRules("    - backendRefs: [{name: pair, port: 80}]\n") + serviceOf("pair", one, port) +
                "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: pair-2, "
                "labels: {kubernetes.io/service-name: pair}}\naddressType: IPv4\nports: [{name: web, port: " +
                std::to_string(other) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n" + policy;
  return spec;
}

BlockingSocket beginAt(const GatewayProcess& gateway, const std::string& path = "/") {
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
  return client;
}

void expectRefusal(const GatewayProcess& gateway, const std::string& limit, const std::string& path = "/") {
  BlockingSocket client = beginAt(gateway, path);
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 503);
  EXPECT_THAT(got.body, HasSubstr("connection_limit_reached"));
  EXPECT_THAT(got.body, HasSubstr(limit));
  EXPECT_TRUE(gateway.limitWasHit(limit));
}

class BoundsOfEndpoints : public testing::Test {
 protected:
  void start(const SpelledPolicy& policy, int workers = 1) {
    one_ = std::make_unique<HeldOrigin>();
    other_ = std::make_unique<HeldOrigin>();
    GatewaySpec spec = ofTwoEndpoints(one_->port(), other_->port(), policy.forTarget("kind: HTTPRoute, name: all"));
    spec.workers = workers;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// The gateway must not wait for requests of a test that has failed.
  void TearDown() override {
    one_.reset();
    other_.reset();
  }
  BlockingSocket begin() const { return beginAt(*gateway_); }
  void answer(int times) {
    for (int i = 0; i < times; ++i) {
      one_->answer();
      other_->answer();
    }
  }

  std::unique_ptr<HeldOrigin> one_;
  std::unique_ptr<HeldOrigin> other_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(BoundsOfEndpoints, AreOnTheRequestsOfAllWorkers) {
  start(ownFields("circuitBreaker: {perEndpoint: {maxParallelRequests: 1}}"), 2);
  BlockingSocket first = begin();
  BlockingSocket second = begin();
  ASSERT_TRUE(one_->wasAsked()) << "wherever the first went, the second went to the other one";
  ASSERT_TRUE(other_->wasAsked());
  for (int i = 0; i < 4; ++i) expectRefusal(*gateway_, "maxParallelRequestsPerEndpoint");
  EXPECT_EQ(gateway_->limitHits("maxParallelRequests"), 0);
  answer(1);
  for (BlockingSocket* client : {&first, &second}) EXPECT_EQ(readResponse(*client).status, 200);
  answer(1);
  BlockingSocket again = begin();
  EXPECT_EQ(readResponse(again).status, 200) << "there is room again";
}

TEST_F(BoundsOfEndpoints, AreOnTheConnections) {
  for (const SpelledPolicy& policy : bothKinds("circuitBreaker: {perEndpoint: {maxConnections: 1}}")) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    BlockingSocket first = begin();
    BlockingSocket second = begin();
    ASSERT_TRUE(one_->wasAsked());
    ASSERT_TRUE(other_->wasAsked());
    BlockingSocket third = begin();
    EXPECT_TRUE(gateway_->limitWasHit("maxConnectionsPerEndpoint"));
    one_->answer();  // wherever the third waits, it goes to this one
    EXPECT_TRUE(one_->wasAsked(2));
    EXPECT_EQ(one_->connections(), 1);
    EXPECT_EQ(other_->connections(), 1);
    EXPECT_EQ(gateway_->limitHits("maxConnections"), 0);
    EXPECT_EQ(gateway_->limitHits("backendConnections"), 0);
    answer(1);
    for (BlockingSocket* client : {&first, &second, &third}) EXPECT_EQ(readResponse(*client).status, 200);
  }
}

TEST_F(BoundsOfEndpoints, AreOnTheRequestsThatWait) {
  start(ownFields("circuitBreaker: {perEndpoint: {maxConnections: 1, maxPendingRequests: 1}}"));
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(begin());
  ASSERT_TRUE(one_->wasAsked());
  ASSERT_TRUE(other_->wasAsked());
  for (int i = 0; i < 2; ++i) {
    clients.push_back(begin());
    EXPECT_TRUE(gateway_->reaches("http_server_active_requests", 3 + i)) << "it waits";
  }
  EXPECT_EQ(gateway_->limitHits("maxPendingRequestsPerEndpoint"), 0);
  expectRefusal(*gateway_, "maxPendingRequestsPerEndpoint");
  answer(4);  // either may get those that wait
  for (BlockingSocket& client : clients) EXPECT_EQ(readResponse(client).status, 200);
}

TEST(BoundsOfEndpointsOfHttp2, AreOnTheRequests) {
  std::atomic<int> asked = 0;
  const auto take = [&asked](BlockingSocket& socket, RawOrigin& self) {
    H2Client peer(std::move(socket));
    if (peer.readFrame(H2Type::kHeaders, 1)) ++asked;
    self.waitUntilItStops();
  };
  RawOrigin one(take);
  RawOrigin other(take);
  const std::string policy = ownFields("circuitBreaker: {perEndpoint: {maxConnections: 1, maxParallelRequests: 1}}")
                                 .forTarget("kind: HTTPRoute, name: all");
  const GatewayProcess gateway(
      ofTwoEndpoints(one.port(), other.port(), policy, "{name: web, port: 80, appProtocol: kubernetes.io/h2c}"));
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::get(), true) + h2::headers(3, h2::get(), true));
  ASSERT_TRUE(eventually([&] { return asked == 2; })) << "one for each endpoint";
  client.send(h2::headers(5, h2::get(), true));
  ASSERT_TRUE(client.readStream(5));
  EXPECT_EQ(client.status(5), "503");
  EXPECT_TRUE(gateway.limitWasHit("maxParallelRequestsPerEndpoint"));
  EXPECT_EQ(one.connections() + other.connections(), 2);
  client.reset();  // and the requests that are held with it
}

TEST(RulesOfHighPriority, HaveACircuitBreakerOfTheirOwn) {
  const SpelledPolicy spellings[] = {
      ownFields("circuitBreaker: {maxParallelRequests: 1, high: {maxParallelRequests: 1}}"),
      envoyFields("circuitBreakers: [{maxParallelRequests: 1}, {priority: high, maxParallelRequests: 1}]"),
  };
  for (const SpelledPolicy& policy : spellings) {
    SCOPED_TRACE(policy.fields);
    HeldOrigin origin;
    GatewaySpec spec;
    spec.backends = {{.port = origin.port()}};
    spec.settings = onlyTimeouts("connect: 24h");
    spec.routes = routeOfRules(ruleOfPrefix("/usual", "origin"), "usual") + "---\n" +
                  routeOfRules(ruleOfPrefix("/urgent", "origin"), "urgent") +
                  policy.forTarget("kind: Gateway, name: egress") +
                  ownFields("priority: High").forTarget("kind: HTTPRoute, name: urgent", "urgent");
    const GatewayProcess gateway(spec);
    BlockingSocket usual = beginAt(gateway, "/usual");
    ASSERT_TRUE(origin.wasAsked());
    expectRefusal(gateway, "maxParallelRequests", "/usual");
    BlockingSocket urgent = beginAt(gateway, "/urgent");
    ASSERT_TRUE(origin.wasAsked(2)) << "others have taken no place of it";
    expectRefusal(gateway, "maxParallelRequests", "/urgent");
    for (int i = 0; i < 2; ++i) origin.answer();
    for (BlockingSocket* client : {&usual, &urgent}) EXPECT_EQ(readResponse(*client).status, 200);
    origin.answer();
    BlockingSocket again = beginAt(gateway, "/urgent");
    EXPECT_EQ(readResponse(again).status, 200) << "there is room again";
  }
}

}  // namespace
}  // namespace sluice::test
