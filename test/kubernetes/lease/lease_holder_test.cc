// Tests the requests by which a controller takes, renews, loses and gives back its Lease.
#include "proxy/kubernetes/lease/lease_holder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "test/kubernetes/client/api_rig.h"
#include "test/kubernetes/lease/leader_candidates.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/demo/leases";
constexpr const char* kOne = "/apis/coordination.k8s.io/v1/namespaces/demo/leases/sluice-controller";

std::string leaseHeldBy(const std::string& holder, int version) {
  return R"({"metadata":{"name":"sluice-controller","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"holderIdentity":")" + holder + R"(","leaseDurationSeconds":15,"leaseTransitions":1}})";
}

class LeaseHolders : public LeaderCandidates<LeaseHolder> {
 protected:
  LeaseHolders() {
    make({"demo", "sluice-controller", "me"});
    rig.inTurn([this] { candidate->start(); });
  }
  /// Takes a free Lease.
  void take() {
    rig.answer(0, 200, leaseHeldBy("", 1));
    rig.answer(1, 200, leaseHeldBy("me", 2));
    ASSERT_THAT(told, ElementsAre(true));
  }
};

TEST_F(LeaseHolders, CreateTheLeaseIfThereIsNone) {
  EXPECT_EQ(rig.target(0), kOne);
  rig.answer(0, 404, statusBody(404, "not found"));
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(rig.target(1), kLeases);
  EXPECT_EQ(lastMethod(), http::Method::kPost);
  EXPECT_EQ(rig.field(1, "content-type"), "application/json");
  EXPECT_THAT(told, IsEmpty());
  rig.answer(1, 201, leaseHeldBy("me", 1));
  EXPECT_THAT(told, ElementsAre(true));
  EXPECT_EQ(candidate->holder(), "me");
}

TEST_F(LeaseHolders, RenewItEveryTwoSeconds) {
  take();
  for (int version = 3; version < 8; ++version) {
    const std::size_t before = rig.requests();
    rig.advance(milliseconds(1900));
    EXPECT_EQ(rig.requests(), before);
    rig.advance(milliseconds(200));
    ASSERT_EQ(rig.requests(), before + 1);
    EXPECT_EQ(lastMethod(), http::Method::kPatch);
    EXPECT_EQ(rig.field(last(), "content-type"), "application/merge-patch+json");
    EXPECT_THAT(rig.request(last()).body, HasSubstr("\"resourceVersion\":\"" + std::to_string(version - 1) + "\""));
    rig.answer(last(), 200, leaseHeldBy("me", version));
  }
  EXPECT_THAT(told, ElementsAre(true));
}

TEST_F(LeaseHolders, LeadNoMoreTenSecondsAfterTheLastRenewalThatWasAnswered) {
  take();
  rig.advance(milliseconds(9900));
  EXPECT_THAT(told, ElementsAre(true));
  rig.advance(milliseconds(200));
  EXPECT_THAT(told, ElementsAre(true, false));
  EXPECT_FALSE(candidate->leads());
}

TEST_F(LeaseHolders, GiveARequestUpThatHasNoAnswerAndDropALateOne) {
  take();
  rig.advance(milliseconds(2100));
  const std::size_t stuck = last();
  rig.advance(LeaderElection::kRequestTimeout);
  rig.advance(seconds(2));
  ASSERT_GT(rig.requests(), stuck + 1) << "it asks again while it still leads";
  EXPECT_EQ(rig.target(last()), kOne);
  EXPECT_EQ(lastMethod(), http::Method::kGet) << "the renewal may have come through";
  rig.answer(last(), 200, leaseHeldBy("me", 3));
  rig.answer(last(), 200, leaseHeldBy("me", 4));
  EXPECT_THAT(told, ElementsAre(true)) << "it never stopped to lead";
}

TEST_F(LeaseHolders, WaitWhileAnotherHoldsItAndTakeItWhenItHasEnded) {
  rig.answer(0, 200, leaseHeldBy("other", 1));
  for (int i = 0; i < 40 && lastMethod() == http::Method::kGet; ++i) {
    rig.advance(milliseconds(500));
    if (lastMethod() == http::Method::kGet && i % 2 == 1) rig.answer(last(), 200, leaseHeldBy("other", 1));
  }
  ASSERT_EQ(lastMethod(), http::Method::kPatch);
  EXPECT_THAT(rig.request(last()).body, HasSubstr("\"leaseTransitions\":2"));
  rig.answer(last(), 409, statusBody(409, "changed"));
  EXPECT_THAT(told, IsEmpty()) << "another candidate was faster";
}

TEST_F(LeaseHolders, GiveItBack) {
  take();
  bool done = false;
  rig.inTurn([&] { candidate->release([&] { done = true; }); });
  EXPECT_THAT(told, ElementsAre(true, false)) << "before anybody else may lead";
  EXPECT_FALSE(done);
  ASSERT_EQ(lastMethod(), http::Method::kPatch);
  EXPECT_THAT(rig.request(last()).body, HasSubstr("\"holderIdentity\":\"\""));
  rig.answer(last(), 200, leaseHeldBy("", 3));
  EXPECT_TRUE(done);
  const std::size_t asked = rig.requests();
  rig.advance(seconds(60));
  EXPECT_EQ(rig.requests(), asked);
}

TEST_F(LeaseHolders, AreDoneAlthoughTheServerIsAwayWhenTheyStop) {
  take();
  bool done = false;
  rig.inTurn([&] { candidate->release([&] { done = true; }); });
  for (int i = 0; i < 3 && !done; ++i) rig.advance(LeaderElection::kRequestTimeout);
  EXPECT_TRUE(done);
}

TEST_F(LeaseHolders, SayOnceThatTheLeaseIsForbidden) {
  for (int i = 0; i < 10; ++i) {
    rig.answer(last(), 403, statusBody(403, "not permitted"));
    rig.advance(seconds(5));
  }
  EXPECT_GT(rig.requests(), 5u);
  EXPECT_EQ(rig.logged.count("the Lease can be neither taken nor renewed"), 1u);
}

}  // namespace
}  // namespace sluice::kubernetes
