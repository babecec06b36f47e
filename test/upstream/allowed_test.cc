// Tests resolve(), and requests that may go to some of a Backend's addresses alone: no other address is dialled or
// taken from the pool.
#include <gtest/gtest.h>

#include <string>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

class Allowed : public ::testing::Test {
 protected:
  void begin(const PoolOptions& options = {}) { rig_ = std::make_unique<PoolRig>(options); }
  void service(const std::vector<std::string>& endpoints) {
    PoolOptions options;
    options.endpoints = endpoints;
    begin(options);
  }
  void know(const std::vector<std::string>& ips) { rig_->resolver.know(PoolRig::kHost, ips); }
  void answer() {
    rig_->resolver.answer();
    EXPECT_TRUE(rig_->settle());
  }
  std::string ip(std::size_t wire) { return rig_->wire(wire).address().ip(); }
  void finish(std::size_t backend) {
    rig_->backends[backend]->respond(rig_->backends[backend]->requests() - 1, 200, "");
    ASSERT_TRUE(rig_->settle());
  }

  std::unique_ptr<PoolRig> rig_;
};

TEST_F(Allowed, ANameResolvesToItsPermittedAddressesWithThePort) {
  begin();
  know({"192.0.2.1", "169.254.169.254", "2001:db8::2"});
  const std::size_t asker = rig_->ask();
  EXPECT_EQ(rig_->told(asker), "192.0.2.1:8080 [2001:db8::2]:8080");
  EXPECT_TRUE(rig_->counted("sluice_address_denied_total{class=\"metadata\"} 1"));
  EXPECT_EQ(rig_->dialled(), 0U);
}

TEST_F(Allowed, AServiceHasItsEndpoints) {
  service({"10.0.0.1", "10.0.0.2", "127.0.0.1"});
  const std::size_t asker = rig_->ask();
  EXPECT_EQ(rig_->told(asker), "10.0.0.1:8080 10.0.0.2:8080");
  EXPECT_EQ(rig_->resolver.questions, 0);
}

TEST_F(Allowed, AServiceWithoutEndpointsIsUnavailable) {
  service({});
  const std::size_t asker = rig_->ask();
  ASSERT_TRUE(rig_->failed(asker));
  EXPECT_EQ(rig_->error(asker).type, base::ErrorType::kDestinationUnavailable);
  EXPECT_FALSE(rig_->cluster().serves()) << "a request had better go to another Backend";
}

TEST_F(Allowed, ARequestWithoutAnAllowedAddressFails) {
  begin();
  know({"127.0.0.1"});
  const std::size_t asker = rig_->ask();
  ASSERT_TRUE(rig_->failed(asker));
  EXPECT_EQ(rig_->error(asker).type, base::ErrorType::kDestinationIpProhibited);
}

TEST_F(Allowed, AnUnknownNameIsResolvedOnceForAllWaiters) {
  begin();
  rig_->resolver.forget(PoolRig::kHost);
  const std::size_t one = rig_->ask();
  const std::size_t other = rig_->ask();
  EXPECT_EQ(rig_->told(one), "");
  know({"192.0.2.7"});
  answer();
  EXPECT_EQ(rig_->told(one), "192.0.2.7:8080");
  EXPECT_EQ(rig_->told(other), "192.0.2.7:8080");
  EXPECT_EQ(rig_->resolver.questions, 1);
  EXPECT_EQ(rig_->dialled(), 0U);
}

TEST_F(Allowed, AFailedResolutionIsReportedAsItIs) {
  begin();
  rig_->resolver.forget(PoolRig::kHost);
  const std::size_t asker = rig_->ask();
  rig_->resolver.know(PoolRig::kHost, base::Error::upstream(base::ErrorType::kDnsTimeout, "nobody answers"));
  answer();
  ASSERT_TRUE(rig_->failed(asker));
  EXPECT_EQ(rig_->error(asker).type, base::ErrorType::kDnsTimeout);
}

TEST_F(Allowed, ARequestForAddressesCountsAsWaitingUntilItLeaves) {
  PoolOptions options;
  options.pendingBound = 2;
  begin(options);
  rig_->resolver.forget(PoolRig::kHost);
  const std::size_t first = rig_->ask();
  rig_->ask();
  const std::size_t third = rig_->ask();
  ASSERT_TRUE(rig_->failed(third));
  EXPECT_EQ(rig_->error(third).type, base::ErrorType::kConnectionLimitReached);
  rig_->leave(first);
  const std::size_t fourth = rig_->ask();
  EXPECT_FALSE(rig_->failed(fourth));
  know({"192.0.2.7"});
  answer();
  EXPECT_EQ(rig_->told(first), "");
  EXPECT_EQ(rig_->told(fourth), "192.0.2.7:8080");
}

TEST_F(Allowed, OnlyAllowedAddressesAreDialledWhateverTheNameResolvesTo) {
  begin();
  know({"192.0.2.66"});
  const std::size_t request = rig_->wantOf({"192.0.2.2"});
  ASSERT_EQ(rig_->dialled(), 1U);
  EXPECT_EQ(ip(0), "192.0.2.2");
  rig_->accept(0);
  EXPECT_TRUE(rig_->begun(request));
}

TEST_F(Allowed, NarrowedAndOtherRequestsShareNoConnections) {
  begin();
  know({"192.0.2.1", "192.0.2.2"});
  rig_->want();
  rig_->accept(0);
  finish(0);
  const std::size_t narrowed = rig_->wantOf({"192.0.2.2"});
  EXPECT_FALSE(rig_->begun(narrowed));
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_EQ(ip(1), "192.0.2.2");
  rig_->accept(1);
  finish(1);
  const std::size_t again = rig_->wantOf({"192.0.2.2", "192.0.2.3"});
  EXPECT_TRUE(rig_->begun(again)) << "it is pooled";
  const std::size_t elsewhere = rig_->wantOf({"192.0.2.3"});
  EXPECT_FALSE(rig_->begun(elsewhere));
  ASSERT_EQ(rig_->dialled(), 3U);
  EXPECT_EQ(ip(2), "192.0.2.3");
}

TEST_F(Allowed, AddressesAreTriedInOrderAndADeadOneIsEjectedForAWhile) {
  begin();
  const std::size_t first = rig_->wantOf({"192.0.2.2", "192.0.2.1"});
  ASSERT_EQ(ip(0), "192.0.2.2");
  rig_->wire(0).refuse();
  ASSERT_TRUE(rig_->settle());
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_EQ(ip(1), "192.0.2.1");
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(first));
  rig_->wantOf({"192.0.2.2", "192.0.2.1"});
  ASSERT_EQ(rig_->dialled(), 3U);
  EXPECT_EQ(ip(2), "192.0.2.1");
}

TEST_F(Allowed, TheRequestFailsIfNoAddressTakesConnections) {
  begin();
  const std::size_t request = rig_->wantOf({"192.0.2.1", "192.0.2.2"});
  for (std::size_t i = 0; i < rig_->dialled(); ++i) rig_->wire(i).refuse();
  ASSERT_TRUE(rig_->settle());
  for (std::size_t i = 1; i < rig_->dialled(); ++i) rig_->wire(i).refuse();
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->dialled(), 2U);
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kConnectionRefused);
}

TEST_F(Allowed, AnAddressThatIsProhibitedByThenIsNotDialled) {
  begin();
  const std::size_t request = rig_->wantOf({"127.0.0.1"});
  EXPECT_EQ(rig_->dialled(), 0U);
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kDestinationIpProhibited);
}

TEST_F(Allowed, OnlyAllowedEndpointsOfAServiceServe) {
  service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  for (int i = 0; i < 20; ++i) rig_->wantOf({"10.0.0.1", "10.0.0.3"});
  ASSERT_TRUE(rig_->settle());
  for (std::size_t i = 0; i < rig_->dialled(); ++i) EXPECT_NE(ip(i), "10.0.0.2");
  // Requests that wait for a dead address go to the one that is left.
  const std::size_t before = rig_->dialled();
  for (std::size_t i = 0; i < before; ++i) {
    if (ip(i) == "10.0.0.1") rig_->wire(i).refuse();
  }
  ASSERT_TRUE(rig_->settle());
  EXPECT_GT(rig_->dialled(), before);
  for (std::size_t i = before; i < rig_->dialled(); ++i) EXPECT_EQ(ip(i), "10.0.0.3");
}

TEST_F(Allowed, ThePreferredEndpointOfAServiceCountsOnlyIfItIsAllowed) {
  service({"10.0.0.1", "10.0.0.2"});
  rig_->wantOf({"10.0.0.1"}, net::Address::parse("10.0.0.2", 8080));
  ASSERT_EQ(rig_->dialled(), 1U);
  EXPECT_EQ(ip(0), "10.0.0.1");
}

TEST_F(Allowed, AServiceWithoutItsAllowedEndpointsIsUnavailable) {
  service({"10.0.0.1"});
  const std::size_t request = rig_->wantOf({"10.0.0.9"});
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kDestinationUnavailable);
}

TEST_F(Allowed, AJudgedRequestIsNotResolvedAgainWhenItsConnectionIsThere) {
  begin();
  know({"192.0.2.1", "192.0.2.2"});
  const base::EgressTerms terms{
      false, false, {{.name = "one", .addresses = std::vector{*base::IpNetwork::parse("192.0.2.2")}}}};
  routing::EgressPolicies policies;
  policies.add(*routing::EgressJudge::compile("demo/policy", terms));
  routing::EgressFacts facts;
  facts.name = PoolRig::kHost;
  routing::EgressDial dial(&policies, nullptr, facts);
  const std::size_t request = rig_->wantJudged(dial);
  ASSERT_EQ(rig_->dialled(), 1U);
  EXPECT_EQ(ip(0), "192.0.2.2");
  rig_->resolver.forget(PoolRig::kHost);
  rig_->accept(0);
  EXPECT_TRUE(rig_->begun(request));
  EXPECT_EQ(rig_->resolver.questions, 0);
  EXPECT_EQ(dial.verdict().ruling, routing::EgressRuling::kPassed);
  know({"192.0.2.1"});
  const std::size_t next = rig_->wantJudged(dial);
  ASSERT_TRUE(rig_->failed(next)) << "each request is judged by the addresses of its time";
  EXPECT_EQ(rig_->error(next).type, base::ErrorType::kHttpRequestDenied);
}

TEST_F(Allowed, AddressesThatComeAndGoLeaveThoseInUseAlone) {
  begin();
  const std::size_t kept = rig_->wantOf({"192.0.2.200"});
  rig_->accept(0);
  for (int i = 1; i < 50; ++i) {
    const std::size_t passing = rig_->wantOf({"192.0.2." + std::to_string(i), "192.0.2.100"});
    while (!rig_->failed(passing)) rig_->wire(rig_->dialled() - 1).refuse();
    rig_->advance(std::chrono::minutes(1));
  }
  EXPECT_TRUE(rig_->begun(kept));
  finish(0);
  const std::size_t dialled = rig_->dialled();
  EXPECT_TRUE(rig_->begun(rig_->wantOf({"192.0.2.200"})));
  EXPECT_EQ(rig_->dialled(), dialled);
}

TEST_F(Allowed, ARetiredBackendLeavesAfterItsLastRequest) {
  begin();
  const std::size_t request = rig_->wantOf({"192.0.2.2"});
  rig_->accept(0);
  rig_->adopt(PoolRig::policyOf({}), {});
  EXPECT_FALSE(rig_->wire(0).over());
  finish(0);
  rig_->done(request);
  ASSERT_TRUE(rig_->settle());
  EXPECT_TRUE(rig_->wire(0).over() || rig_->wire(0).finished);
}

}  // namespace
}  // namespace sluice::upstream
