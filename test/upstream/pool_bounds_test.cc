// Tests that connections and waits end by refusals, bounds (on both sides) and time, and that every counter returns to
// zero.
#include <gtest/gtest.h>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::seconds;

TEST(PoolDial, ARefusedAddressIsFollowedByTheNext) {
  PoolRig rig;
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2", "2001:db8::3"});
  const std::size_t request = rig.want();
  rig.wire(0).refuse();
  ASSERT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.wire(1).address().toString(), "192.0.2.2:8080");
  EXPECT_TRUE(rig.wire(0).letGo);
  rig.wire(1).refuse();
  ASSERT_EQ(rig.dialled(), 3U);
  EXPECT_EQ(rig.wire(2).address().toString(), "[2001:db8::3]:8080");
  EXPECT_EQ(rig.budget().connections.count(), 1U) << "one connection, however many addresses it tries";
  rig.accept(2);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_EQ(rig.upstreams->find(rig.connectionOf(request))->peer().ip(), "2001:db8::3");
}

TEST(PoolDial, TheWaiterIsToldWhenAllAddressesRefuse) {
  PoolRig rig;
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  const std::size_t request = rig.want();
  rig.wire(0).refuse();
  rig.wire(1).refuse();
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kConnectionRefused);
  EXPECT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

TEST(PoolDial, ACertificateThatIsRefusedIsNotTriedElsewhere) {
  PoolRig rig({.protocol = routing::UpstreamProtocol::kHttp11, .tls = true});
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  const std::size_t request = rig.want();
  rig.wire(0).fail(base::Error::upstream(base::ErrorType::kTlsCertificateError, "expired"));
  EXPECT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST(PoolDial, OneFailureFailsOneWaiterWhileOthersAreOnTheirWay) {
  PoolRig rig;
  for (int i = 0; i < 3; ++i) rig.want();
  rig.wire(1).refuse();
  EXPECT_TRUE(rig.failed(0)) << "the first in the line";
  EXPECT_FALSE(rig.failed(1));
  rig.accept(0);
  rig.accept(2);
  EXPECT_TRUE(rig.begun(1));
  EXPECT_TRUE(rig.begun(2));
  EXPECT_EQ(rig.dialled(), 3U);
}

// On a machine that stalls, both come in one round, the timer first.
TEST(PoolDial, AConnectionThatComesAboutAsItsTimeRunsOutIsTooLate) {
  PoolRig rig;
  const std::size_t request = rig.want();
  rig.clock.advance(seconds(6));
  rig.accept(0);
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kConnectionTimeout);
  EXPECT_EQ(rig.budget().connections.count(), 0U);
  const std::size_t another = rig.want();
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1);
  EXPECT_TRUE(rig.begun(another));
  EXPECT_EQ(rig.budget().connections.count(), 1U);
}

TEST(PoolDial, ConnectTimeoutCoversAllAddresses) {
  PoolRig rig;
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  const std::size_t request = rig.want();
  rig.advance(seconds(2));
  rig.wire(0).refuse();
  rig.advance(std::chrono::milliseconds(2999));
  EXPECT_FALSE(rig.failed(request));
  rig.advance(std::chrono::milliseconds(40));
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kConnectionTimeout);
  EXPECT_TRUE(rig.wire(1).letGo);
  EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"connect\"} 1"));
}

TEST(PoolDial, AnAddressFollowsAfterAQuarterOfASecondOrHalfOfTheTimeThatIsLeft) {
  PoolOptions options;
  options.timeouts.connect = std::chrono::milliseconds(400);
  PoolRig rig(options);
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2", "192.0.2.3"});
  const std::size_t request = rig.want();
  rig.advance(std::chrono::milliseconds(180));
  EXPECT_EQ(rig.dialled(), 1U);
  rig.advance(std::chrono::milliseconds(40));
  EXPECT_EQ(rig.dialled(), 2U);
  rig.advance(std::chrono::milliseconds(60));
  EXPECT_EQ(rig.dialled(), 2U);
  rig.advance(std::chrono::milliseconds(40));
  EXPECT_EQ(rig.dialled(), 3U);
  rig.advance(std::chrono::milliseconds(150));
  EXPECT_TRUE(rig.failed(request));
}

TEST(PoolDial, SeveralWaitersShareOneQuestionToDns) {
  PoolRig rig;
  rig.resolver.forget(PoolRig::kHost);
  for (int i = 0; i < 3; ++i) rig.want();
  EXPECT_EQ(rig.resolver.questions, 1);
  rig.resolver.know(PoolRig::kHost, base::Error::upstream(base::ErrorType::kDnsTimeout, "no answer"));
  rig.resolver.answer();
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(rig.failed(i));
    EXPECT_EQ(rig.error(i).type, base::ErrorType::kDnsTimeout);
  }
}

TEST(PoolBounds, BackendPending) {
  PoolOptions options;
  options.pendingBound = 3;
  PoolRig rig(options);
  for (int i = 0; i < 3; ++i) rig.want();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(rig.failed(i));
  const std::size_t oneTooMany = rig.want();
  ASSERT_TRUE(rig.failed(oneTooMany));
  EXPECT_EQ(rig.error(oneTooMany).type, base::ErrorType::kConnectionLimitReached);
  EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"backendPending\"} 1"));
  rig.accept(0);
  EXPECT_FALSE(rig.failed(rig.want())) << "there is room again";
}

TEST(PoolBounds, BackendConnections) {
  PoolOptions options;
  options.maxConnections = 2;
  PoolRig rig(options);
  for (int i = 0; i < 3; ++i) rig.want();
  EXPECT_EQ(rig.dialled(), 2U);
  EXPECT_FALSE(rig.failed(2)) << "it waits for one of the two";
  rig.accept(0);
  rig.accept(1);
  rig.backends[1]->respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(rig.begun(2));
  EXPECT_EQ(rig.budget().connections.count(), 2U);
}

TEST(PoolBounds, TheBoundIsAnErrorForAPoolWithoutConnections) {
  PoolOptions options;
  options.maxConnections = 1;
  PoolRig rig(options);
  ASSERT_TRUE(rig.budget().connections.tryAdd());  // another worker's
  const std::size_t request = rig.want();
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kConnectionLimitReached);
  EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"backendConnections\"} 1"));
  rig.budget().connections.release();
  rig.want();
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST(PoolBounds, AConnectionThatDiesMakesRoomForTheWaiters) {
  PoolOptions options;
  options.maxConnections = 1;
  PoolRig rig(options);
  rig.want();
  rig.accept(0);
  const std::size_t waits = rig.want();
  rig.wire(0).reset();
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1);
  EXPECT_TRUE(rig.begun(waits));
  EXPECT_EQ(rig.budget().connections.count(), 1U);
}

TEST(PoolTime, AnIdleConnectionIsClosedAfterUpstreamIdle) {
  for (const Version version : {Version::kHttp11, Version::kHttp2}) {
    PoolOptions options;
    options.protocol =
        version == Version::kHttp2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
    PoolRig rig(options);
    rig.want();
    rig.accept(0, version);
    rig.advance(seconds(50));
    rig.backends[0]->respond(0, 200, "");
    ASSERT_TRUE(rig.settle());
    rig.advance(std::chrono::milliseconds(59'990));
    EXPECT_FALSE(rig.wire(0).letGo) << "idle counts from the end of the last response";
    rig.advance(std::chrono::milliseconds(50));
    EXPECT_TRUE(rig.wire(0).letGo);
    EXPECT_TRUE(rig.wire(0).finished) << "an orderly end";
    EXPECT_EQ(rig.budget().connections.count(), 0U);
    EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"upstreamIdle\"} 1"));
  }
}

TEST(PoolTime, ABusyConnectionIsNotIdle) {
  PoolRig rig;
  rig.want();
  rig.accept(0);
  for (int i = 0; i < 5; ++i) rig.advance(seconds(100));
  EXPECT_FALSE(rig.wire(0).letGo);
}

TEST(PoolTime, AGoodbyeThatTheBackendIgnoresIsNotAwaitedForEver) {
  PoolRig rig({.protocol = routing::UpstreamProtocol::kHttp2});
  rig.want();
  test::BackendPeer& backend = rig.accept(0, Version::kHttp2);
  backend.respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  backend.wire().allow(0);
  for (int i = 0; i < 4; ++i) rig.advance(seconds(61));
  EXPECT_TRUE(backend.wire().letGo);
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

TEST(PoolShutdown, ReturnsEveryCount) {
  PoolRig rig;
  for (int i = 0; i < 4; ++i) rig.want();
  rig.accept(0);
  rig.accept(1).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.budget().connections.count(), 4U);
  rig.upstreams->shutdown();
  EXPECT_EQ(rig.budget().connections.count(), 0U);
  for (const char* state : {"idle", "active"}) {
    EXPECT_TRUE(rig.counted("http_client_open_connections{backend=\"demo/backend\",http_connection_state=\"" +
                            std::string(state) + "\"} 0"));
  }
}

TEST(CircuitBreakers, AreSharedByIdentity) {
  CircuitBreakers budgets(2, 1);
  CircuitBreaker& one = budgets.join("a");
  EXPECT_EQ(&one, &budgets.join("a"));
  EXPECT_NE(&one, &budgets.join("b"));
  EXPECT_TRUE(one.connections.tryAdd());
  EXPECT_TRUE(one.connections.tryAdd());
  EXPECT_FALSE(one.connections.tryAdd());
  one.connections.release();
  EXPECT_TRUE(one.connections.tryAdd());
  EXPECT_EQ(one.connections.count(), 2U);
}

TEST(CircuitBreakers, BelongToTheIdentityThatThePlanCountsAs) {
  PoolRig rig;
  auto twin = std::make_shared<routing::BackendPlan>(*rig.plan);
  twin->identity = "twin";
  twin->countsAs = "backend";
  Cluster& other = rig.upstreams->cluster(twin);
  EXPECT_EQ(other.enter(1000, net::kOwnNetwork, true), Place::kHeld);
  EXPECT_EQ(rig.budget().requests.count(), 1U);
  other.leave(1000, Place::kHeld);
  EXPECT_EQ(rig.budget().requests.count(), 0U);
}

TEST(CircuitBreakers, HaveTheBoundsOfAPolicyInPlaceOfThoseOfTheSettings) {
  CircuitBreakers budgets(1, 1);
  CircuitBreaker& bounded = budgets.join("a", {.connections = 2});
  EXPECT_TRUE(bounded.connections.tryAdd());
  EXPECT_TRUE(bounded.connections.tryAdd());
  EXPECT_FALSE(bounded.connections.tryAdd());
  EXPECT_TRUE(bounded.requests.tryAdd());
  EXPECT_FALSE(bounded.requests.tryAdd()) << "of which the policy says nothing";
  budgets.setBounds(3, 2);
  EXPECT_FALSE(bounded.connections.tryAdd());
  EXPECT_TRUE(bounded.requests.tryAdd());
}

TEST(CircuitBreakers, BoundTheRequestsOfAllWorkersThatWait) {
  PoolRig rig;
  auto bounded = std::make_shared<routing::BackendPlan>(*rig.plan);
  bounded->identity = bounded->boundsOf = "bounded";
  bounded->connection.bounds.pendingRequests = 2;
  Cluster& cluster = rig.upstreams->cluster(bounded);
  CircuitBreaker& breaker = rig.budgets.join("bounded");
  breaker.pending = 1;  // at another worker
  EXPECT_TRUE(cluster.acquire(1).ok());
  EXPECT_EQ(breaker.pending, 2U);
  const auto refused = cluster.acquire(2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().type, base::ErrorType::kConnectionLimitReached);
  EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"maxPendingRequests\"} 1"));
  cluster.abandon(1);
  EXPECT_EQ(breaker.pending, 1U);
}

TEST(CircuitBreakers, LeaveWithTheLastUser) {
  CircuitBreakers budgets(1, 1);
  EXPECT_TRUE(budgets.join("a").connections.tryAdd());
  EXPECT_FALSE(budgets.join("a").connections.tryAdd());
  budgets.leave("a");
  EXPECT_FALSE(budgets.join("a").connections.tryAdd()) << "somebody is still there";
  for (int i = 0; i < 2; ++i) budgets.leave("a");
  EXPECT_TRUE(budgets.join("a").connections.tryAdd()) << "a new one";
}

TEST(CircuitBreakers, TakeOtherBoundsWhileTheyAreInUse) {
  CircuitBreakers budgets(1, 1);
  CircuitBreaker& budget = budgets.join("a");
  EXPECT_TRUE(budget.connections.tryAdd());
  EXPECT_FALSE(budget.connections.tryAdd());
  budgets.setBounds(2, 1);
  EXPECT_TRUE(budget.connections.tryAdd());
  EXPECT_FALSE(budget.connections.tryAdd());
  budgets.setBounds(1, 1);
  EXPECT_EQ(budget.connections.count(), 2U) << "what is there stays";
  budget.connections.release();
  EXPECT_FALSE(budget.connections.tryAdd());
  EXPECT_TRUE(budgets.join("b").connections.tryAdd());
  EXPECT_FALSE(budgets.join("b").connections.tryAdd());
}

}  // namespace
}  // namespace sluice::upstream
