// A running worker adopts other Backends and other rules: unchanged pools notice nothing, and removed ones go after
// their last request.
#include <gtest/gtest.h>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

UpstreamPolicy policy(const std::string& allowed = "192.0.2.0/24") {
  UpstreamPolicy made = PoolRig::policyOf({});
  made.guard = *routing::AddressGuard::make({allowed});
  return made;
}

class Adoption : public ::testing::Test {
 protected:
  /// Adopts another configuration, in which the Backend has another identity.
  void replaceBackend() {
    const auto other = PoolRig::planOf("other", {});
    plan_ = rig_.plan;
    rig_.plan = other;
    rig_.adopt(policy(), {other});
  }
  /// Returns true if the cluster's plan is not referenced any more.
  bool isGone() const { return plan_.expired(); }

  PoolRig rig_;
  std::weak_ptr<const routing::BackendPlan> plan_;
};

TEST_F(Adoption, AClusterWhoseBackendIsTheSameKeepsItsConnections) {
  const Cluster* before = &rig_.cluster();
  rig_.want();
  rig_.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  rig_.done(0);
  rig_.plan = PoolRig::planOf("backend", {});
  rig_.adopt(policy(), {rig_.plan});
  EXPECT_EQ(&rig_.cluster(), before);
  EXPECT_TRUE(rig_.begun(rig_.want()));
  EXPECT_EQ(rig_.dialled(), 1U);
}

TEST_F(Adoption, ARetiredClusterGoesWithItsLastExchange) {
  rig_.want();
  rig_.accept(0);
  replaceBackend();
  EXPECT_FALSE(rig_.wire(0).finished) << "a request is in flight";
  rig_.backends[0]->respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(rig_.answer(0).ended);
  EXPECT_FALSE(rig_.wire(0).finished) << "it may be wanted again";
  EXPECT_FALSE(isGone());
  rig_.done(0);
  EXPECT_TRUE(rig_.wire(0).finished);
  EXPECT_TRUE(rig_.wire(0).letGo);
  EXPECT_TRUE(isGone());
  EXPECT_EQ(rig_.budget().connections.count(), 0U);
  EXPECT_EQ(rig_.budget().requests.count(), 0U);
}

TEST_F(Adoption, AnUnusedRetiredClusterGoesAtOnce) {
  for (int i = 0; i < 2; ++i) rig_.want();
  for (std::size_t i = 0; i < 2; ++i) rig_.accept(i).respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  for (std::size_t i = 0; i < 2; ++i) rig_.done(i);
  replaceBackend();
  EXPECT_TRUE(rig_.wire(0).letGo && rig_.wire(1).letGo);
  EXPECT_TRUE(isGone());
}

TEST(AdoptionOfHttp2, AnIdleConnectionOfARetiredClusterSendsGoaway) {
  PoolRig rig({.protocol = routing::UpstreamProtocol::kHttp2});
  rig.want();
  rig.accept(0, Version::kHttp2).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.done(0);
  std::weak_ptr<const routing::BackendPlan> plan = rig.plan;
  rig.plan = PoolRig::planOf("other", {});
  rig.adopt(policy(), {rig.plan});
  EXPECT_TRUE(rig.wire(0).finished);
  EXPECT_TRUE(plan.expired());
}

TEST_F(Adoption, ARequestThatWaitsForARetiredClusterGetsItsConnection) {
  const std::size_t request = rig_.want();
  replaceBackend();
  rig_.accept(0);
  EXPECT_TRUE(rig_.begun(request));
  EXPECT_EQ(rig_.dialled(), 1U);
}

TEST_F(Adoption, ARequestThatWaitsForTheAddressOfARetiredClusterGetsItsConnection) {
  rig_.resolver.forget(PoolRig::kHost);
  const std::size_t request = rig_.want();
  replaceBackend();
  rig_.resolver.know(PoolRig::kHost, {"192.0.2.1"});
  rig_.resolver.answer();
  ASSERT_EQ(rig_.dialled(), 1U);
  rig_.accept(0);
  EXPECT_TRUE(rig_.begun(request));
}

TEST_F(Adoption, ARetiredClusterStaysUntilItsQuestionIsAnswered) {
  rig_.resolver.forget(PoolRig::kHost);
  const std::size_t request = rig_.want();
  replaceBackend();
  rig_.leave(request);
  rig_.done(request);
  EXPECT_FALSE(isGone()) << "the answer will come to it";
  rig_.resolver.know(PoolRig::kHost, {"192.0.2.1"});
  rig_.resolver.answer();
  EXPECT_TRUE(isGone());
  EXPECT_EQ(rig_.dialled(), 0U);
}

TEST_F(Adoption, AConnectionThatComesAboutTooLateIsClosed) {
  const std::size_t request = rig_.want();
  replaceBackend();
  rig_.leave(request);
  rig_.done(request);
  rig_.accept(0);
  EXPECT_TRUE(rig_.wire(0).letGo);
  EXPECT_TRUE(isGone());
}

TEST_F(Adoption, ABackendThatComesBackBeginsAnewWithinTheSameBounds) {
  const Cluster* before = &rig_.cluster();
  rig_.want();
  rig_.accept(0);
  const auto first = rig_.plan;
  replaceBackend();
  rig_.plan = first;
  rig_.adopt(policy(), {first});
  EXPECT_NE(&rig_.cluster(), before);
  const std::size_t second = rig_.want();
  rig_.accept(1);
  EXPECT_TRUE(rig_.begun(second));
  EXPECT_EQ(rig_.budget().connections.count(), 2U) << "the old one's count too";
  rig_.backends[0]->respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  rig_.done(0);
  EXPECT_TRUE(rig_.wire(0).letGo);
  EXPECT_FALSE(rig_.wire(1).letGo);
  EXPECT_EQ(rig_.budget().connections.count(), 1U);
}

TEST_F(Adoption, AnIdleConnectionToAForbiddenAddressIsClosed) {
  rig_.want();
  rig_.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  rig_.adopt(policy("2001:db8::/32"), {rig_.plan});
  EXPECT_TRUE(rig_.wire(0).letGo);
  const std::size_t next = rig_.want();
  ASSERT_TRUE(rig_.failed(next));
  EXPECT_EQ(rig_.error(next).type, base::ErrorType::kDestinationIpProhibited);
}

TEST_F(Adoption, ARequestInFlightToAForbiddenAddressEndsAndNoneFollowsIt) {
  rig_.want();
  rig_.accept(0);
  rig_.adopt(policy("2001:db8::/32"), {rig_.plan});
  EXPECT_FALSE(rig_.wire(0).letGo);
  rig_.backends[0]->respond(0, 200, "whole");
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(rig_.answer(0).body, "whole");
  EXPECT_TRUE(rig_.wire(0).letGo);
}

TEST_F(Adoption, AConnectionOnItsWayToAForbiddenAddressGoesToTheNextOne) {
  rig_.resolver.know(PoolRig::kHost, {"192.0.2.1", "2001:db8::1"});
  const std::size_t request = rig_.want();
  ASSERT_EQ(rig_.wire(0).address().ip(), "192.0.2.1");
  rig_.adopt(policy("2001:db8::/32"), {rig_.plan});
  EXPECT_TRUE(rig_.wire(0).letGo);
  ASSERT_EQ(rig_.dialled(), 2U);
  EXPECT_EQ(rig_.wire(1).address().ip(), "2001:db8::1");
  rig_.accept(1);
  EXPECT_TRUE(rig_.begun(request));
}

TEST_F(Adoption, AConnectionOnItsWayToTheOnlyAddressWhichIsForbiddenFails) {
  const std::size_t request = rig_.want();
  rig_.adopt(policy("2001:db8::/32"), {rig_.plan});
  EXPECT_TRUE(rig_.wire(0).letGo);
  ASSERT_TRUE(rig_.failed(request));
  EXPECT_EQ(rig_.error(request).type, base::ErrorType::kDestinationIpProhibited);
  EXPECT_EQ(rig_.budget().connections.count(), 0U);
}

}  // namespace
}  // namespace sluice::upstream
