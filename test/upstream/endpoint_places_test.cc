// Tests the bounds of each endpoint: a request goes to another one while its own is full, waits or is refused if all
// are, and gives back what it has taken, however it ends.
#include "proxy/upstream/endpoint_places.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "proxy/upstream/pins.h"
#include "test/upstream/endpoints_fixture.h"

namespace sluice::upstream {
namespace {

constexpr const char* kFirst = "10.0.0.1";
constexpr const char* kSecond = "10.0.0.2";

class BoundedEndpoints : public EndpointsFixture {
 protected:
  void bound(const std::vector<std::string>& endpoints, const base::CircuitBreakerBounds& each,
             std::uint64_t seed = 1) {
    PoolOptions options = service(endpoints);
    options.connection.perEndpoint = each;
    options.randomSeed = seed * 0x9E3779B97F4A7C15ULL;
    next_ = 0;
    begin(options);
  }
  /// Returns the bounds of an endpoint, as another worker has them.
  CircuitBreaker& breakerOf(const std::string& ip) {
    rig_->cluster();
    return rig_->budgets.join("backend|endpoint=" + ip + ":8080");
  }
  static net::Address at(const std::string& ip) { return *net::Address::parse(ip, 8080); }
  std::size_t send(const std::optional<net::Address>& preferred = std::nullopt) {
    const std::size_t request = rig_->want(preferred);
    answerDials();
    return request;
  }
  void expectRefused(std::size_t request, std::string_view limit) {
    ASSERT_TRUE(rig_->failed(request));
    EXPECT_EQ(rig_->error(request).type, base::ErrorType::kConnectionLimitReached);
    EXPECT_EQ(rig_->error(request).limit, limit);
    EXPECT_TRUE(rig_->counted("sluice_limit_hits_total{limit=\"" + std::string(limit) + "\"} 1"));
  }
  /// Answers the request on the first connection to that endpoint.
  void answerAt(const std::string& address) {
    for (std::size_t i = 0; i < rig_->dialled(); ++i) {
      if (ip(i) != address) continue;
      rig_->backends[i]->respond(0, 200, "");
      EXPECT_TRUE(rig_->settle());
      return;
    }
    ADD_FAILURE() << "no connection to " << address;
  }
};

TEST_F(BoundedEndpoints, HaveNoMoreRequestsThanTheirBound) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    bound({kFirst, kSecond}, {.requests = 1}, seed);
    const std::size_t one = send();
    const std::size_t other = send();
    EXPECT_EQ((std::set<std::string>{endpointOf(one), endpointOf(other)}).size(), 2U);
    expectRefused(send(), EndpointPlaces::kRequestLimit);
    const std::string freed = endpointOf(other);
    answerAt(freed);
    rig_->done(other);
    EXPECT_EQ(endpointOf(send()), freed) << "there is room again";
  }
}

TEST_F(BoundedEndpoints, CountTheRequestsOfHttp2) {
  PoolOptions options = service({kFirst});
  options.protocol = routing::UpstreamProtocol::kHttp2;
  options.connection.perEndpoint.requests = 2;
  begin(options);
  const std::size_t one = rig_->want();
  rig_->accept(0, Version::kHttp2);
  EXPECT_TRUE(rig_->begun(one));
  EXPECT_TRUE(rig_->begun(rig_->want()));
  expectRefused(rig_->want(), EndpointPlaces::kRequestLimit);
  rig_->done(one);
  EXPECT_TRUE(rig_->begun(rig_->want()));
}

TEST_F(BoundedEndpoints, AreBoundedInAllWorkersTogether) {
  bound({kFirst, kSecond}, {.requests = 1});
  ASSERT_TRUE(breakerOf(kFirst).requests.tryAdd());
  EXPECT_EQ(endpointOf(send()), kSecond);
  expectRefused(send(), EndpointPlaces::kRequestLimit);
  EXPECT_EQ(breakerOf(kSecond).requests.count(), 1U);
}

TEST_F(BoundedEndpoints, HaveNoMoreConnectionsThanTheirBound) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    for (const char* const freed : {kFirst, kSecond}) {
      bound({kFirst, kSecond}, {.connections = 1}, seed);
      for (int i = 0; i < 2; ++i) send();
      const std::size_t waits = send();
      EXPECT_FALSE(rig_->failed(waits));
      EXPECT_EQ(rig_->dialled(), 2U);
      answerAt(freed);
      EXPECT_EQ(endpointOf(waits), freed) << "wherever it has waited, seed " << seed;
      EXPECT_FALSE(rig_->counted("sluice_limit_hits_total{limit=\"backendConnections\"} 1"));
    }
  }
}

TEST_F(BoundedEndpoints, ThatBecomeFreeGetNoMoreRequestsThanTheyHaveRoomFor) {
  for (const base::CircuitBreakerBounds& bounds :
       {base::CircuitBreakerBounds{.connections = 1, .requests = 2}, {.connections = 1, .pendingRequests = 1}}) {
    PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
    options.connection.perEndpoint = bounds;
    options.connection.balancing.type = base::BalancerType::kRoundRobin;
    next_ = 0;
    begin(options);
    for (int i = 0; i < 4; ++i) send();
    for (int i = 0; i < 3; ++i) send();
    for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(breakerOf(endpointOf(i)).requests.count(), i < 3 ? 2U : 1U);
    CircuitBreaker& freed = breakerOf(endpointOf(3));
    const std::vector<std::string> full = {endpointOf(0), endpointOf(1), endpointOf(2)};
    rig_->done(3);
    answerAt(endpointOf(3));
    EXPECT_EQ(rig_->begun(4) + rig_->begun(5) + rig_->begun(6), 1);
    EXPECT_EQ(freed.requests.count(), 1U);
    EXPECT_EQ(freed.pending, 0U);
    for (const std::string& each : full) answerAt(each);
    for (const std::size_t i : {4U, 5U, 6U}) EXPECT_TRUE(rig_->begun(i)) << i;
    for (const std::string& each : full) EXPECT_EQ(breakerOf(each).pending, 0U);
  }
}

TEST_F(BoundedEndpoints, ThatLoseAConnectionAreForTheirOwnWaitersFirst) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
  options.connection.perEndpoint.connections = 1;
  options.connection.balancing.type = base::BalancerType::kRoundRobin;
  begin(options);
  for (int i = 0; i < 8; ++i) send();  // one waits at each endpoint
  const auto begun = [this] { return rig_->begun(4) + rig_->begun(5) + rig_->begun(6) + rig_->begun(7); };
  rig_->wire(0).reset();
  ASSERT_EQ(ip(rig_->dialled() - 1), ip(0));
  answerDials();
  EXPECT_EQ(begun(), 1);
  rig_->wire(4).reset();
  answerDials();
  EXPECT_EQ(begun(), 2) << "no other request has waited for that one";
}

TEST_F(BoundedEndpoints, ThatAreFullLeaveARequestAllItsTriesOfOthers) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    bound({kFirst}, {.connections = 1}, seed);
    send();
    const std::size_t waits = send();
    become({kFirst, kSecond, "10.0.0.3", "10.0.0.4", "10.0.0.5"});
    answerDials({kSecond, "10.0.0.3", "10.0.0.4"});
    EXPECT_EQ(endpointOf(waits), "10.0.0.5") << "seed " << seed;
  }
}

TEST_F(BoundedEndpoints, ThatAreFullLeaveARequestThePlaceThatItHasOrSeeks) {
  bound({kFirst, kSecond}, {.requests = 2});
  rig_->claim.client = 1;
  const std::size_t holds = send(at(kFirst));
  send(at(kFirst));
  for (int i = 0; i < 2; ++i) send(at(kSecond));
  rig_->claim.client = 2;
  const std::size_t seeks = send(at(kFirst));
  ASSERT_TRUE(rig_->seat(seeks).seeks());
  const auto second = EndpointPlaces::make(rig_->upstreams->rooms(), *rig_->plan, at(kSecond));
  for (const std::size_t each : {holds, seeks}) EXPECT_FALSE(rig_->seat(each).takeFree(second, each + 1));
  EXPECT_TRUE(rig_->seat(holds).isOf(breakerOf(kFirst).number));
  EXPECT_TRUE(rig_->seat(seeks).seeks());
  EXPECT_EQ(breakerOf(kFirst).seeking, 1U);
  rig_->done(holds);
  answerDials();
  EXPECT_EQ(endpointOf(seeks), kFirst);
}

TEST_F(BoundedEndpoints, ShareAConnectionOfHttp2) {
  PoolOptions options = service({kFirst});
  options.protocol = routing::UpstreamProtocol::kHttp2;
  options.connection.perEndpoint.connections = 1;
  begin(options);
  std::vector<std::size_t> requests;
  for (int i = 0; i < 20; ++i) requests.push_back(rig_->want());
  rig_->accept(0, Version::kHttp2);
  for (const std::size_t request : requests) EXPECT_TRUE(rig_->begun(request));
  EXPECT_EQ(rig_->dialled(), 1U);
}

TEST_F(BoundedEndpoints, AreDialledNoMoreWhileOtherWorkersHaveAllConnections) {
  bound({kFirst}, {.connections = 1});
  ASSERT_TRUE(breakerOf(kFirst).connections.tryAdd());
  expectRefused(rig_->want(), EndpointPlaces::kConnectionLimit);
  EXPECT_EQ(rig_->dialled(), 0U);
  EXPECT_EQ(rig_->budget().connections.count(), 0U);
  breakerOf(kFirst).connections.release();
  EXPECT_TRUE(rig_->begun(send()));
}

TEST_F(BoundedEndpoints, LetNoMoreRequestsWaitThanTheirBound) {
  bound({kFirst}, {.connections = 1, .pendingRequests = 1});
  send();
  const std::size_t waits = rig_->want();
  EXPECT_FALSE(rig_->failed(waits));
  EXPECT_EQ(breakerOf(kFirst).pending, 1U);
  expectRefused(rig_->want(), EndpointPlaces::kPendingLimit);
  rig_->leave(waits);
  EXPECT_EQ(breakerOf(kFirst).pending, 0U);
  EXPECT_FALSE(rig_->failed(rig_->want())) << "there is room again";
}

TEST_F(BoundedEndpoints, ThatAreFullLeaveRoomForThoseWhoWaitForOthers) {
  PoolOptions options = service({kFirst, kSecond});
  options.connection.perEndpoint.connections = 1;
  options.pendingBound = 4;
  begin(options);
  for (const char* const each : {kFirst, kSecond}) ASSERT_EQ(endpointOf(send(at(each))), each);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(rig_->failed(rig_->want(at(kFirst))));
  expectRefused(rig_->want(at(kFirst)), "backendPending");
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(rig_->failed(rig_->want(at(kSecond))));
}

TEST_F(BoundedEndpoints, KeepTheRequestsOfTheirSessionsThoughTheyAreFull) {
  bound({kFirst, kSecond}, {.requests = 1});
  ASSERT_EQ(endpointOf(send(at(kFirst))), kFirst);
  expectRefused(send(at(kFirst)), EndpointPlaces::kRequestLimit);
  EXPECT_EQ(endpointOf(send()), kSecond);
}

TEST_F(BoundedEndpoints, ThatRefuseConnectionsGiveThePlacesBack) {
  bound({kFirst, kSecond}, {.requests = 1});
  const std::size_t request = rig_->want(at(kFirst));
  EXPECT_EQ(breakerOf(kFirst).requests.count(), 1U);
  answerDials({kFirst});
  EXPECT_EQ(endpointOf(request), kSecond);
  EXPECT_EQ(breakerOf(kFirst).requests.count(), 0U);
  EXPECT_EQ(breakerOf(kSecond).requests.count(), 1U);
  rig_->done(request);
  EXPECT_EQ(breakerOf(kSecond).requests.count(), 0U);
}

TEST_F(BoundedEndpoints, ThatGoGetTheirPlacesBackLater) {
  bound({kFirst, kSecond}, {.connections = 1, .requests = 2});
  CircuitBreaker& first = breakerOf(kFirst);
  const std::size_t served = send(at(kFirst));
  const std::size_t waits = rig_->want(at(kFirst));
  EXPECT_EQ(first.requests.count(), 2U);
  become({kSecond});
  rig_->settle();
  answerDials();
  EXPECT_EQ(endpointOf(waits), kSecond);
  EXPECT_EQ(first.requests.count(), 1U);
  answerAt(kFirst);
  rig_->done(served);
  EXPECT_EQ(first.requests.count(), 0U);
  EXPECT_EQ(first.connections.count(), 0U);
  EXPECT_EQ(first.pending, 0U);
}

TEST_F(BoundedEndpoints, ThatGoAreSoughtNoMoreByRequestsOfPinnedConnections) {
  PoolOptions options = service({kFirst});
  options.protocol = routing::UpstreamProtocol::kHttp2;
  options.connection.perEndpoint.requests = 2;
  begin(options);
  rig_->claim.client = 1;
  const std::size_t pinned = rig_->want();
  rig_->accept(0, Version::kHttp2);
  rig_->want();
  rig_->claim.client = 2;
  const std::size_t seeks = rig_->want();
  CircuitBreaker& first = breakerOf(kFirst);
  ASSERT_EQ(first.seeking, 1U);
  constexpr http::Token kClient = 99;
  const net::Worker::Turn turn(rig_->worker);
  rig_->upstreams->pins().add(*rig_->upstreams->find(rig_->connectionOf(pinned)), kClient);
  const auto ask = [&] { return rig_->cluster().acquire(seeks + 1, {.client = kClient}, &rig_->seat(seeks)); };
  const auto waits = ask();
  ASSERT_TRUE(waits.ok() && waits->empty());
  become({kSecond});
  const auto lease = ask();
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(*lease, rig_->connectionOf(pinned));
  EXPECT_FALSE(rig_->seat(seeks).isTaken());
  EXPECT_EQ(first.seeking, 0U);
}

TEST_F(BoundedEndpoints, GiveBackEverythingAtTheEnd) {
  bound({kFirst}, {.connections = 1, .pendingRequests = 9, .requests = 9});
  CircuitBreaker& first = breakerOf(kFirst);
  for (int i = 0; i < 3; ++i) send();
  EXPECT_EQ(first.requests.count(), 3U);
  EXPECT_EQ(first.pending, 2U);
  for (std::size_t i = 0; i < 3; ++i) rig_->seat(i).leave(i + 1);
  {
    const net::Worker::Turn turn(rig_->worker);
    rig_->upstreams.reset();
  }
  EXPECT_EQ(first.requests.count(), 0U);
  EXPECT_EQ(first.connections.count(), 0U);
  EXPECT_EQ(first.pending, 0U);
}

TEST_F(BoundedEndpoints, AreTheAddressesOfAName) {
  PoolOptions options;
  options.connection.perEndpoint.requests = 1;
  begin(options);
  rig_->resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  std::set<std::string> used;
  for (int i = 0; i < 2; ++i) used.insert(endpointOf(send()));
  EXPECT_EQ(used, (std::set<std::string>{"192.0.2.1", "192.0.2.2"}));
  expectRefused(send(), EndpointPlaces::kRequestLimit);
}

TEST_F(BoundedEndpoints, AreSharedFairlyByClients) {
  bound({kFirst}, {.requests = 2});
  rig_->claim.client = 1;
  for (int i = 0; i < 2; ++i) send();
  rig_->claim.client = 2;
  const std::size_t seeks = send();
  EXPECT_FALSE(rig_->failed(seeks));
  EXPECT_FALSE(rig_->begun(seeks));
  rig_->claim.client = 1;
  EXPECT_TRUE(rig_->failed(send())) << "it has its share";
  answerAt(kFirst);
  rig_->done(0);
  answerDials();
  EXPECT_TRUE(rig_->begun(seeks));
}

TEST_F(BoundedEndpoints, HaveThePlacesOfClientsThatStall) {
  bound({kFirst}, {.requests = 2});
  rig_->claim = {1, rig_->worker.now()};
  for (int i = 0; i < 2; ++i) send();
  rig_->advance(std::chrono::seconds(1));
  rig_->claim = {2, base::MonotonicTime::max()};
  const std::size_t seeks = send();
  ASSERT_TRUE(rig_->gaveWay(0) || rig_->gaveWay(1));
  rig_->done(rig_->gaveWay(0) ? 0 : 1);
  answerDials();
  EXPECT_TRUE(rig_->begun(seeks));
}

TEST_F(BoundedEndpoints, GetRequestsThatHaveSoughtAPlaceElsewhere) {
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    bound({kFirst, kSecond}, {.requests = 2}, seed);
    rig_->claim.client = 1;
    for (int i = 0; i < 4; ++i) send();
    rig_->claim.client = 2;
    const std::size_t seeks = send();
    EXPECT_FALSE(rig_->begun(seeks));
    const std::string freed = endpointOf(seed % 4);
    rig_->done(seed % 4);
    answerDials();
    EXPECT_EQ(endpointOf(seeks), freed);
  }
}

TEST_F(BoundedEndpoints, AreLeftByARequestThatGaveItsPlaceBackForNow) {
  bound({kFirst}, {.requests = 1});
  const std::size_t one = send();
  rig_->seat(one).release();
  EXPECT_TRUE(rig_->begun(send()));
  rig_->seat(one).retake();
  EXPECT_EQ(breakerOf(kFirst).requests.count(), 2U) << "even beyond the bound";
  rig_->done(one);
  EXPECT_EQ(breakerOf(kFirst).requests.count(), 1U);
}

}  // namespace
}  // namespace sluice::upstream
