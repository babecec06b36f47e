// Tests pools of one Backend, which share limits.backendConnections: idle connections of one make room for another, and
// no pool blocks another one for longer than its requests take.
#include "proxy/upstream/connection_room.h"

#include <gtest/gtest.h>

#include <string>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Two plans of one Backend that have room for so many connections.
class BackendRoom : public ::testing::Test {
 protected:
  void begin(std::uint64_t maxConnections, routing::UpstreamProtocol protocol = routing::UpstreamProtocol::kHttp11) {
    PoolOptions options;
    options.maxConnections = maxConnections;
    options.protocol = protocol;
    rig_ = std::make_unique<PoolRig>(options);
    plain_ = rig_->plan;
    governed_ = sibling("governed", options);
  }
  std::shared_ptr<const routing::BackendPlan> sibling(const std::string& identity, const PoolOptions& options = {}) {
    auto made = std::make_shared<routing::BackendPlan>(*PoolRig::planOf(identity, options));
    made->countsAs = "backend";
    return made;
  }
  std::size_t want(const std::shared_ptr<const routing::BackendPlan>& plan) {
    rig_->plan = plan;
    return rig_->want();
  }
  /// Answers the last request of a connection.
  void answer(std::size_t wire) {
    test::BackendPeer& backend = *rig_->backends.at(wire);
    backend.respond(backend.requests() - 1, 200, "");
    ASSERT_TRUE(rig_->settle());
  }
  /// Has a plan use a connection, which is idle then.
  void useOne(const std::shared_ptr<const routing::BackendPlan>& plan) {
    want(plan);
    rig_->accept(rig_->dialled() - 1);
    answer(rig_->dialled() - 1);
  }
  std::uint64_t connections() { return rig_->budget().connections.count(); }

  std::unique_ptr<PoolRig> rig_;
  std::shared_ptr<const routing::BackendPlan> plain_;
  std::shared_ptr<const routing::BackendPlan> governed_;
};

TEST_F(BackendRoom, IsMadeByTheConnectionOfAnotherPlanThatWasIdleForLongest) {
  begin(3);
  for (int i = 0; i < 3; ++i) want(plain_);
  for (std::size_t i = 0; i < 3; ++i) rig_->accept(i);
  for (const std::size_t i : {1U, 2U, 0U}) {
    answer(i);
    rig_->advance(milliseconds(10));
  }
  const std::size_t request = want(governed_);
  ASSERT_FALSE(rig_->failed(request));
  EXPECT_TRUE(rig_->wire(1).letGo);
  EXPECT_TRUE(rig_->wire(1).finished) << "an orderly end";
  EXPECT_FALSE(rig_->wire(0).letGo || rig_->wire(2).letGo);
  ASSERT_EQ(rig_->dialled(), 4U);
  rig_->accept(3);
  EXPECT_TRUE(rig_->begun(request));
  EXPECT_EQ(connections(), 3U);
}

TEST_F(BackendRoom, IsNotMadeWhileThereIsAny) {
  begin(2);
  useOne(plain_);
  useOne(governed_);
  EXPECT_FALSE(rig_->wire(0).letGo);
  EXPECT_EQ(connections(), 2U);
  EXPECT_FALSE(rig_->counted("sluice_limit_hits_total{limit=\"backendConnections\"} 1"));
}

TEST_F(BackendRoom, IsTakenBackByThePlanThatLostIt) {
  begin(1);
  for (int i = 0; i < 3; ++i) {
    useOne(plain_);
    useOne(governed_);
  }
  EXPECT_EQ(rig_->dialled(), 6U);
  EXPECT_EQ(connections(), 1U);
}

TEST_F(BackendRoom, IsMadeByHttp2Connections) {
  begin(1, routing::UpstreamProtocol::kHttp2);
  want(plain_);
  rig_->accept(0, Version::kHttp2);
  answer(0);
  const std::size_t request = want(governed_);
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_TRUE(rig_->wire(0).letGo);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(request));
}

TEST_F(BackendRoom, IsMadeAsSoonAsABusyConnectionIsIdle) {
  begin(1);
  want(plain_);
  rig_->accept(0);
  const std::size_t waits = want(governed_);
  EXPECT_FALSE(rig_->failed(waits));
  EXPECT_EQ(rig_->dialled(), 1U);
  answer(0);
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(waits));
  EXPECT_EQ(connections(), 1U);
}

TEST_F(BackendRoom, IsMadeByAConnectionThatEnds) {
  begin(1);
  want(plain_);
  rig_->accept(0);
  const std::size_t waits = want(governed_);
  rig_->wire(0).reset();
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(waits));
}

TEST_F(BackendRoom, GoesToAPlanWithoutAnyBeforeThoseThatWaitWhereItWas) {
  begin(1);
  want(plain_);
  rig_->accept(0);
  const std::size_t second = want(plain_);
  const std::size_t waits = want(governed_);
  rig_->wire(0).reset();
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_FALSE(rig_->failed(second)) << "it was only second in line";
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(waits));
  answer(1);
  ASSERT_EQ(rig_->dialled(), 3U);
  rig_->accept(2);
  EXPECT_TRUE(rig_->begun(second));
}

TEST_F(BackendRoom, IsNotAwaitedOfAConnectionThatMayBeBusyForEver) {
  begin(1, routing::UpstreamProtocol::kHttp2);
  want(plain_);
  rig_->accept(0, Version::kHttp2);
  EXPECT_TRUE(rig_->failed(want(governed_))) << "another Backend may do better";
}

TEST_F(BackendRoom, IsMadeByAConnectionForWhichNobodyWaitsAnyMore) {
  begin(1);
  const std::size_t impatient = want(plain_);
  rig_->leave(impatient);
  const std::size_t waits = want(governed_);
  EXPECT_FALSE(rig_->failed(waits));
  rig_->accept(0);
  rig_->advance(ConnectionRoom::kRest + milliseconds(50));
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(waits));
}

TEST_F(BackendRoom, GoesToAPlanWithoutConnectionsBeforeTheRequestsThatWaitForOthers) {
  begin(2);
  for (int i = 0; i < 6; ++i) want(plain_);
  rig_->accept(0);
  rig_->accept(1);
  const std::size_t waits = want(governed_);
  answer(0);
  ASSERT_EQ(rig_->dialled(), 3U) << "a plan that is always busy keeps nobody out";
  EXPECT_TRUE(rig_->wire(0).letGo);
  EXPECT_FALSE(rig_->begun(2));
  rig_->accept(2);
  EXPECT_TRUE(rig_->begun(waits));
  answer(1);
  EXPECT_TRUE(rig_->begun(2)) << "and it keeps the connection that it has left";
  EXPECT_FALSE(rig_->wire(1).letGo);
  EXPECT_EQ(connections(), 2U);
}

TEST_F(BackendRoom, ClosesOneConnectionForManyRequestsThatShareTheirs) {
  begin(3);
  for (int i = 0; i < 3; ++i) want(plain_);
  for (std::size_t i = 0; i < 3; ++i) rig_->accept(i);
  for (std::size_t i = 0; i < 3; ++i) answer(i);
  PoolOptions http2;
  http2.protocol = routing::UpstreamProtocol::kHttp2;
  const auto shared = sibling("http2", http2);
  const std::size_t first = want(shared);
  const std::size_t second = want(shared);
  ASSERT_EQ(rig_->dialled(), 4U);
  rig_->accept(3, Version::kHttp2);
  EXPECT_TRUE(rig_->begun(first) && rig_->begun(second));
  EXPECT_EQ(connections(), 3U) << "two of the others are still there";
}

TEST_F(BackendRoom, IsNotHeldForRequestsThatHaveLeft) {
  begin(1);
  want(plain_);
  rig_->accept(0);
  const std::size_t next = want(plain_);
  rig_->leave(want(governed_));
  answer(0);
  EXPECT_TRUE(rig_->begun(next));
  EXPECT_FALSE(rig_->wire(0).letGo);
  EXPECT_EQ(rig_->dialled(), 1U);
}

TEST_F(BackendRoom, GoesToPlansWithoutConnectionsInTheOrderInWhichTheyCame) {
  begin(1);
  const auto third = sibling("third");
  want(plain_);
  rig_->accept(0);
  const std::size_t first = want(governed_);
  const std::size_t second = want(third);
  answer(0);
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(first));
  EXPECT_FALSE(rig_->begun(second));
  answer(1);
  ASSERT_EQ(rig_->dialled(), 3U);
  rig_->accept(2);
  EXPECT_TRUE(rig_->begun(second));
}

TEST_F(BackendRoom, IsMadeForABusyPlanByConnectionsThatHaveBeenIdleForAMoment) {
  begin(2);
  useOne(governed_);
  want(plain_);
  rig_->accept(1);
  const std::size_t waits = want(plain_);
  rig_->advance(ConnectionRoom::kRest / 2);
  EXPECT_EQ(rig_->dialled(), 2U) << "the other plan may want its connection again";
  rig_->advance(ConnectionRoom::kRest);
  ASSERT_EQ(rig_->dialled(), 3U);
  EXPECT_TRUE(rig_->wire(0).letGo);
  rig_->accept(2);
  EXPECT_TRUE(rig_->begun(waits));
  EXPECT_EQ(connections(), 2U);
}

TEST_F(BackendRoom, IsMadeForAsManyRequestsAsWait) {
  begin(4);
  for (int i = 0; i < 3; ++i) want(governed_);
  for (std::size_t i = 0; i < 3; ++i) rig_->accept(i);
  for (std::size_t i = 0; i < 3; ++i) answer(i);
  rig_->advance(seconds(2));
  std::vector<std::size_t> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(want(plain_));
  ASSERT_EQ(rig_->dialled(), 6U);
  for (std::size_t i = 3; i < 6; ++i) rig_->accept(i);
  for (const std::size_t request : requests) EXPECT_TRUE(rig_->begun(request));
  EXPECT_EQ(connections(), 4U) << "one of the first plan is left";
}

TEST_F(BackendRoom, IsMadeAmongTheEndpointsOfAService) {
  PoolOptions options;
  options.maxConnections = 1;
  options.endpoints = {"10.0.0.1", "10.0.0.2"};
  rig_ = std::make_unique<PoolRig>(options);
  const auto one = *net::Address::parse("10.0.0.1", 8080);
  rig_->want(one);
  rig_->accept(0);
  answer(0);
  rig_->plan = sibling("governed", options);
  const std::size_t request = rig_->want(*net::Address::parse("10.0.0.2", 8080));
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(request));
  EXPECT_TRUE(rig_->wire(0).letGo);
}

TEST_F(BackendRoom, IsMadeByAPinnedConnectionThatIsIdle) {
  begin(1);
  const std::size_t request = want(plain_);
  rig_->accept(0);
  rig_->upstreams->pins().add(*rig_->upstreams->find(rig_->connectionOf(request)), 77);
  const std::size_t waits = want(governed_);
  EXPECT_EQ(rig_->dialled(), 1U);
  answer(0);
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(waits));
}

TEST_F(BackendRoom, StillBoundsTheRequestsThatWait) {
  PoolOptions options;
  options.maxConnections = 1;
  options.pendingBound = 1;
  rig_ = std::make_unique<PoolRig>(options);
  governed_ = sibling("governed", options);
  want(rig_->plan);
  rig_->accept(0);
  EXPECT_FALSE(rig_->failed(want(governed_)));
  EXPECT_TRUE(rig_->failed(want(governed_)));
  EXPECT_TRUE(rig_->counted("sluice_limit_hits_total{limit=\"backendPending\"} 1"));
}

TEST_F(BackendRoom, IsMadeByARetiredPlanWhoseRequestsHaveEnded) {
  begin(1);
  const std::size_t old = want(plain_);
  rig_->accept(0);
  rig_->adopt(PoolRig::policyOf({}), {governed_});
  const std::size_t waits = want(governed_);
  EXPECT_FALSE(rig_->failed(waits));
  answer(0);
  rig_->plan = plain_;
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(waits));
  EXPECT_TRUE(rig_->answer(old).ended);
}

}  // namespace
}  // namespace sluice::upstream
