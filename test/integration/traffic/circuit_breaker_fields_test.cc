// Tests each bound of a circuit breaker through the binary, in every kind and form of policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// These bounds in every kind and form.
std::vector<SpelledPolicy> breakers(const std::string& bounds) {
  return everySpelling("circuitBreaker: {" + bounds + "}", "circuitBreakers: [{priority: default, " + bounds + "}]");
}

/// A Backend that holds its answers back, and two routes to it, of which the one at /governed has a policy.
class BreakerOfAPolicy : public testing::Test {
 protected:
  void start(const SpelledPolicy& policy, const std::string& settings = {}) {
    origin_ = std::make_unique<HeldOrigin>();
    GatewaySpec spec;
    spec.backends = {{.port = origin_->port()}};
    spec.settings = onlyTimeouts("connect: 24h") + settings;
    const std::string other = routeOfRules(ruleOfPrefix("/governed", "origin"));
    spec.routes = routeOfRules(ruleOfPrefix("/plain", "origin")) + "---\n" +
                  std::string(other).replace(other.find("name: all"), 9, "name: governed") +
                  policy.forTarget("kind: HTTPRoute, name: governed");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// The gateway must not wait for requests of a test that has failed.
  void TearDown() override { origin_.reset(); }

  BlockingSocket begin(const std::string& path = "/governed") const {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return client;
  }
  void expectTooMany(const char* limit) const {
    BlockingSocket client = begin();
    const ReceivedResponse got = readResponse(client);
    EXPECT_EQ(got.status, 503);
    EXPECT_THAT(got.body, HasSubstr("connection_limit_reached"));
    EXPECT_TRUE(gateway_->limitWasHit(limit));
  }

  std::unique_ptr<HeldOrigin> origin_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(BreakerOfAPolicy, BoundTheConnections) {
  for (const SpelledPolicy& policy : breakers("maxConnections: 1")) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    BlockingSocket first = begin();
    ASSERT_TRUE(origin_->wasAsked());
    BlockingSocket second = begin();
    EXPECT_TRUE(gateway_->limitWasHit("maxConnections"));
    EXPECT_EQ(gateway_->limitHits("backendConnections"), 0);
    BlockingSocket plain = begin("/plain");
    ASSERT_TRUE(origin_->wasAsked(2)) << "the other route counts by itself";
    EXPECT_EQ(origin_->connections(), 2);
    for (int i = 0; i < 3; ++i) origin_->answer();
    for (BlockingSocket* client : {&first, &second, &plain}) EXPECT_EQ(readResponse(*client).status, 200);
    EXPECT_EQ(origin_->connections(), 2) << "the one that waited got the connection of the first";
  }
}

TEST_F(BreakerOfAPolicy, MayAllowMoreThanTheSettings) {
  for (const SpelledPolicy& policy : breakers("maxConnections: 2, maxPendingRequests: 2, maxParallelRequests: 2")) {
    SCOPED_TRACE(policy.fields);
    start(policy, limits("backendConnections: 1, backendPending: 1, backendRequests: 1"));
    BlockingSocket first = begin();
    BlockingSocket second = begin();
    ASSERT_TRUE(origin_->wasAsked(2));
    BlockingSocket plain = begin("/plain");
    ASSERT_TRUE(origin_->wasAsked(3)) << "the policy took nothing from the limits of the settings";
    for (int i = 0; i < 3; ++i) origin_->answer();
    for (BlockingSocket* client : {&first, &second, &plain}) EXPECT_EQ(readResponse(*client).status, 200);
  }
}

TEST_F(BreakerOfAPolicy, BoundTheWaitingRequests) {
  for (const SpelledPolicy& policy : breakers("maxConnections: 1, maxPendingRequests: 1")) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    BlockingSocket first = begin();
    ASSERT_TRUE(origin_->wasAsked());
    BlockingSocket waiting = begin();
    EXPECT_TRUE(gateway_->reaches("http_server_active_requests", 2));
    EXPECT_EQ(gateway_->limitHits("maxPendingRequests"), 0);
    expectTooMany("maxPendingRequests");
    EXPECT_EQ(gateway_->limitHits("backendPending"), 0);
    for (int i = 0; i < 3; ++i) origin_->answer();
    for (BlockingSocket* client : {&first, &waiting}) EXPECT_EQ(readResponse(*client).status, 200);
    BlockingSocket again = begin();
    EXPECT_EQ(readResponse(again).status, 200) << "there is room again";
  }
}

TEST_F(BreakerOfAPolicy, MayLetNoRequestWait) {
  for (const SpelledPolicy& policy : breakers("maxPendingRequests: 0")) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    expectTooMany("maxPendingRequests");
    EXPECT_EQ(origin_->connections(), 0);
  }
}

TEST_F(BreakerOfAPolicy, BoundTheRequests) {
  for (const SpelledPolicy& policy : breakers("maxParallelRequests: 1")) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    BlockingSocket first = begin();
    ASSERT_TRUE(origin_->wasAsked());
    expectTooMany("maxParallelRequests");
    EXPECT_EQ(gateway_->limitHits("backendRequests"), 0);
    for (int i = 0; i < 2; ++i) origin_->answer();
    EXPECT_EQ(readResponse(first).status, 200);
    BlockingSocket again = begin();
    EXPECT_EQ(readResponse(again).status, 200) << "there is room again";
  }
}

TEST_F(BreakerOfAPolicy, BoundTheRequestsOfAConnection) {
  for (const SpelledPolicy& policy : bothKinds("circuitBreaker: {maxRequestsPerConnection: 2}")) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    for (int i = 0; i < 5; ++i) {
      origin_->answer();
      BlockingSocket client = begin();
      EXPECT_EQ(readResponse(client).status, 200);
      EXPECT_EQ(origin_->connections(), 1 + i / 2);
    }
  }
}

TEST_F(BreakerOfAPolicy, ApplyToABackendToo) {
  origin_ = std::make_unique<HeldOrigin>();
  GatewaySpec spec;
  spec.backends = {{.port = origin_->port()}};
  spec.routes = routeOfRules(ruleOfPrefix("/governed", "origin")) +
                ownFields("circuitBreaker: {maxParallelRequests: 1}").forTarget("kind: Backend, name: origin");
  gateway_ = std::make_unique<GatewayProcess>(spec);
  BlockingSocket first = begin();
  ASSERT_TRUE(origin_->wasAsked());
  expectTooMany("maxParallelRequests");
  origin_->answer();
  EXPECT_EQ(readResponse(first).status, 200);
}

/// A Backend that always fails, and is slow to answer one retry.
class ParallelRetries : public testing::Test {
 protected:
  void start(const SpelledPolicy& policy) {
    released_ = false;
    gateway_.reset();
    // The second request to it, which is the retry of the first, is held until the test lets it go.
    origin_ = std::make_unique<RawOrigin>([this](BlockingSocket& socket, RawOrigin& self) {
      for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
        if (self.heads().size() == 2) eventually([&] { return released_ || self.stopping(); });
        socket.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
      }
    });
    GatewaySpec spec = governedSpec(origin_->port(), policy.forTarget("kind: HTTPRoute, name: all"));
    // The budget of the settings has room for none.
    spec.settings += "retry: {budget: {percent: 0, minPerSecond: 0}}\n";
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  BlockingSocket begin() const {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return client;
  }

  std::size_t asked() const { return origin_->heads().size(); }

  std::atomic<bool> released_ = false;
  std::unique_ptr<RawOrigin> origin_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(ParallelRetries, AreAsManyAsAPolicySays) {
  const std::string once = "type: http, http: {retryOn: 5xx}, perRetry: {backoff: {baseInterval: 1ms}}, ";
  const SpelledPolicy cases[] = {
      ownFields("retry: {codes: [503], backoff: 1ms, budget: {percent: 0, minConcurrent: 1}}"),
      ownFields("retry: {codes: [503], backoff: 1ms, budget: {percent: 100, minPerSecond: 9, maxConcurrent: 1}}"),
      ownFields("retry: {codes: [503], backoff: 1ms, budget: {percent: 100, minPerSecond: 9}}, circuitBreaker: "
                "{maxParallelRetries: 1}"),
      envoyFields("retryStrategy: {" + once + "retryLimits: {type: static, static: {maxParallel: 1}}}"),
      envoyFields("retryStrategy: {" + once +
                  "retryLimits: {type: budget, retryBudget: {activeRequestPercent: 1, minConcurrent: 1}}}"),
  };
  for (const SpelledPolicy& policy : cases) {
    SCOPED_TRACE(policy.fields);
    start(policy);
    BlockingSocket first = begin();
    ASSERT_TRUE(eventually([&] { return asked() == 2; })) << "its retry is on its way";
    BlockingSocket second = begin();
    EXPECT_EQ(readResponse(second).status, 503);
    EXPECT_EQ(asked(), 3U) << "it is not tried again";
    EXPECT_TRUE(gateway_->limitWasHit("retryBudget"));
    released_ = true;
    EXPECT_EQ(readResponse(first).status, 503);
    BlockingSocket third = begin();
    EXPECT_EQ(readResponse(third).status, 503);
    EXPECT_EQ(asked(), 5U) << "there is room again";
  }
}

TEST_F(ParallelRetries, OfOneRequestFollowEachOther) {
  start(ownFields("retry: {codes: [503], attempts: 3, backoff: 1ms, budget: {percent: 0, minConcurrent: 1}}"));
  released_ = true;
  BlockingSocket client = begin();
  EXPECT_EQ(readResponse(client).status, 503);
  EXPECT_EQ(asked(), 4U) << "a retry that has failed leaves its place to the next";
}

}  // namespace
}  // namespace sluice::test
