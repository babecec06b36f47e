// Of controllers of several namespaces the one leads that has claimed the GatewayClass.
#include "proxy/kubernetes/lease/class_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "test/kubernetes/client/api_rig.h"
#include "test/kubernetes/lease/leader_candidates.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kClaimedClass = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/egress";
constexpr const char* kListOfClass =
    "/apis/gateway.networking.k8s.io/v1/gatewayclasses?fieldSelector=metadata.name%3Degress";
constexpr const char* kLeaseElsewhere =
    "/apis/coordination.k8s.io/v1/namespaces/other/leases?fieldSelector=metadata.name%3Dsluice-controller";
constexpr const char* kNoLeases = R"({"items":[]})";

std::string classClaimedBy(const std::string& claim, int version) {
  return R"({"items":[{"metadata":{"name":"egress","resourceVersion":")" + std::to_string(version) +
         R"(","annotations":{"leader.sluice.dev/sluice-controller":)" + content::jsonString(claim) + "}}}]}";
}
std::string claimOf(const std::string& nameSpace) { return R"({"namespace":")" + nameSpace + "\"}"; }
std::string leaseOfOther(const std::string& holder, int version) {
  return R"({"items":[{"metadata":{"name":"sluice-controller","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"holderIdentity":")" + holder + R"(","leaseDurationSeconds":15}}]})";
}

/// A controller in namespace "mine" that holds its Lease.
class ClassClaims : public LeaderCandidates<ClassClaim> {
 protected:
  ClassClaims() {
    make({"mine", "sluice-controller", "me"});
    rig.inTurn([this] { candidate->onLeads(true); });
  }
  void want(const std::string& path = kClaimedClass) {
    rig.inTurn([&] { candidate->want(path); });
  }
  void hold(bool holds) {
    rig.inTurn([&] { candidate->onLeads(holds); });
  }
  std::string lastTarget() { return rig.target(last()); }
  void answer(const std::string& body, std::uint16_t status = 200) {
    const std::size_t number = last();
    rig.answer(number, status, body);
  }
  /// Lets time pass until there is another request.
  void awaitRequest() {
    const std::size_t before = rig.requests();
    for (int i = 0; i < 60 && rig.requests() == before; ++i) rig.advance(milliseconds(100));
    ASSERT_GT(rig.requests(), before);
  }
  bool writes() { return lastMethod() == http::Method::kPatch; }
  /// Returns the claim that was written last.
  std::string written() {
    const auto body = content::parseJson(rig.request(last()).body);
    return body.ok() ? content::writeJson(*body->find("metadata")->find("annotations")) : "";
  }
  /// Returns its text alone.
  std::string textWritten() {
    const auto annotations = content::parseJson(written());
    return annotations.ok() ? annotations->find("leader.sluice.dev/sluice-controller")->text : "";
  }
  /// Reads a class that is unclaimed or claimed by its own namespace, and has the write of a claim fail.
  void fail(const std::string& claimed, std::uint16_t status) {
    ASSERT_EQ(lastTarget(), kListOfClass);
    answer(classClaimedBy(claimed, 7));
    if (writes()) answer(statusBody(status, "it fails"), status);
  }
  /// Claims an unclaimed class.
  void take() {
    want();
    answer(classClaimedBy("", 7));
    answer("{}");
    ASSERT_THAT(told, ElementsAre(true));
  }
  /// Looks at the class and the Lease of the namespace that has claimed it.
  void look(const std::string& holder, int version) {
    ASSERT_EQ(lastTarget(), kListOfClass);
    answer(classClaimedBy(claimOf("other"), 7));
    ASSERT_EQ(lastTarget(), kLeaseElsewhere);
    answer(leaseOfOther(holder, version));
  }
};

TEST_F(ClassClaims, LeadByTheLeaseAloneWhereThereIsNoClass) {
  EXPECT_THAT(told, IsEmpty()) << "there may be one";
  want("");
  EXPECT_THAT(told, ElementsAre(true));
  hold(false);
  EXPECT_THAT(told, ElementsAre(true, false));
  EXPECT_EQ(rig.requests(), 0u);
}

TEST_F(ClassClaims, ClaimAClassThatNobodyHasClaimed) {
  want();
  EXPECT_EQ(lastTarget(), kListOfClass);
  answer(classClaimedBy("", 7));
  ASSERT_TRUE(writes());
  EXPECT_EQ(lastTarget(), std::string(kClaimedClass) + "?fieldManager=sluice-leader");
  EXPECT_EQ(rig.field(last(), "content-type"), "application/merge-patch+json");
  EXPECT_THAT(rig.request(last()).body, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(rig.request(last()).body, HasSubstr(R"({\"namespace\":\"mine\",\"identity\":\"me\",\"since\":)"));
  EXPECT_THAT(told, IsEmpty());
  answer("{}");
  EXPECT_THAT(told, ElementsAre(true));
}

TEST_F(ClassClaims, ClaimItAnewWithEachLease) {
  take();
  const std::string before = written();
  hold(false);
  EXPECT_THAT(told, ElementsAre(true, false));
  rig.advance(seconds(1));
  hold(true);
  answer(classClaimedBy(claimOf("mine"), 8));
  ASSERT_TRUE(writes()) << "somebody may be about to take it over";
  EXPECT_NE(written(), before);
  EXPECT_THAT(told, ElementsAre(true, false));
  answer("{}");
  EXPECT_THAT(told, ElementsAre(true, false, true));
}

TEST_F(ClassClaims, StandByWhileTheLeaseOfAnotherNamespaceIsRenewed) {
  want();
  for (int i = 0; i < 20; ++i) {
    look("they", i);
    awaitRequest();
  }
  EXPECT_THAT(told, IsEmpty());
  EXPECT_EQ(rig.logged.count("another controller of the GatewayClass leads, so this one stands by"), 1u);
  EXPECT_THAT(rig.logged.text(), HasSubstr("other/sluice-controller"));
}

TEST_F(ClassClaims, TakeItOverWhenThatLeaseHasNotChangedForItsTime) {
  want();
  const base::MonotonicTime began = rig.clock.now();
  look("they", 1);
  while (!writes() && rig.requests() < 100) {
    awaitRequest();
    look("they", 1);
  }
  ASSERT_TRUE(writes());
  EXPECT_GE(rig.clock.now() - began, seconds(15));
  EXPECT_LE(rig.clock.now() - began, seconds(20));
  answer("{}");
  EXPECT_THAT(told, ElementsAre(true));
}

TEST_F(ClassClaims, TakeItOverAtOnceWhenNobodyHoldsThatLease) {
  want();
  look("", 1);
  EXPECT_TRUE(writes());
}

TEST_F(ClassClaims, TakeItOverAtOnceWhenThereIsNoSuchLease) {
  want();
  answer(classClaimedBy(claimOf("other"), 7));
  answer(kNoLeases);
  EXPECT_TRUE(writes());
}

TEST_F(ClassClaims, DoNotLeadIfAnotherClaimWasFaster) {
  want();
  look("", 1);
  ASSERT_TRUE(writes());
  answer(statusBody(409, "changed"), 409);
  EXPECT_THAT(told, IsEmpty());
  awaitRequest();
  look("they", 2);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ClassClaims, LeadNoMoreWithoutTheirClaim) {
  take();
  const std::string mine = textWritten();
  awaitRequest();
  EXPECT_EQ(lastTarget(), kListOfClass);
  answer(classClaimedBy(mine, 8));
  EXPECT_THAT(told, ElementsAre(true));
  awaitRequest();
  answer(statusBody(503, "busy"), 503);
  EXPECT_THAT(told, ElementsAre(true)) << "the Lease still says who leads";
  awaitRequest();
  answer(classClaimedBy(claimOf("other"), 9));
  EXPECT_THAT(told, ElementsAre(true, false));
  EXPECT_EQ(lastTarget(), kLeaseElsewhere);
}

TEST_F(ClassClaims, LeadByTheLeaseAloneWhereTheyMayNotWriteTheClass) {
  want();
  for (const std::uint16_t status : std::vector<std::uint16_t>{400, 403, 422}) {
    told.clear();
    fail("", status);
    EXPECT_THAT(told, ElementsAre(true)) << status;
    hold(false);
    hold(true);
  }
  EXPECT_THAT(rig.logged.text(), HasSubstr("the leader cannot be announced in the GatewayClass"));
  EXPECT_THAT(rig.logged.text(), HasSubstr("this one leads by its Lease meanwhile"));
}

TEST_F(ClassClaims, TryAgainWhetherTheyMayWriteTheClass) {
  want();
  fail("", 403);
  const base::MonotonicTime refused = rig.clock.now();
  while (!writes() || rig.clock.now() == refused) {
    awaitRequest();
    ASSERT_LT(rig.requests(), 100u);
    answer(classClaimedBy("", 7));
  }
  EXPECT_GE(rig.clock.now() - refused, ClassClaim::kTryToClaimAgainAfter);
  const std::string mine = textWritten();
  answer("{}");
  awaitRequest();
  answer(classClaimedBy(mine, 8));
  EXPECT_THAT(told, ElementsAre(true)) << "it leads all the time";
}

TEST_F(ClassClaims, LeadNoMoreWithoutAClaimOnceAnotherNamespaceHasClaimedTheClass) {
  want();
  fail("", 403);
  ASSERT_THAT(told, ElementsAre(true));
  for (int version = 1; version < 5; ++version) {
    awaitRequest();
    look("they", version);
    EXPECT_THAT(told, ElementsAre(true, false));
  }
}

TEST_F(ClassClaims, LeadWithoutAClaimWhileNobodyHoldsTheLeaseOfTheOneThatThereIs) {
  want();
  for (int i = 0; i < 5; ++i) {
    answer(classClaimedBy(claimOf("other"), 7));
    answer(kNoLeases);
    if (writes()) answer(statusBody(403, "no right"), 403);
    awaitRequest();
  }
  EXPECT_THAT(told, ElementsAre(true));
  look("they", 3);
  EXPECT_THAT(told, ElementsAre(true, false)) << "the others have come back";
}

TEST_F(ClassClaims, LeadByAStandingClaimOfTheirNamespaceThatCannotBeWrittenAnew) {
  want();
  const base::MonotonicTime began = rig.clock.now();
  for (int i = 0; i < 20 && told.empty(); ++i) {
    fail(claimOf("mine"), 503);
    if (told.empty()) awaitRequest();
  }
  ASSERT_THAT(told, ElementsAre(true));
  EXPECT_GE(rig.clock.now() - began, LeaderElection::kLeaseDuration);
  EXPECT_THAT(rig.logged.text(), HasSubstr("this one does not lead, and nothing is written until then"));
  awaitRequest();
  fail(claimOf("mine"), 503);
  EXPECT_THAT(told, ElementsAre(true));
  awaitRequest();
  answer(classClaimedBy(claimOf("other"), 9));
  EXPECT_THAT(told, ElementsAre(true, false));
}

TEST_F(ClassClaims, DoNotLeadIfAClaimOfAnyOtherClassCannotBeWritten) {
  want();
  for (int i = 0; i < 12; ++i) {
    fail("", 503);
    awaitRequest();
  }
  for (int i = 0; i < 12; ++i) {
    answer(classClaimedBy(claimOf("other"), 7));
    answer(kNoLeases);
    answer(statusBody(500, "the webhook fails"), 500);
    awaitRequest();
  }
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(ClassClaims, LeadByAClaimThatIsThereAlthoughItWasNotAnswered) {
  want();
  answer(classClaimedBy("", 7));
  ASSERT_TRUE(writes());
  const std::string mine = textWritten();
  rig.advance(LeaderElection::kRequestTimeout + milliseconds(100));
  EXPECT_THAT(told, IsEmpty());
  ASSERT_EQ(lastTarget(), kListOfClass);
  answer(classClaimedBy(mine, 8));
  EXPECT_THAT(told, ElementsAre(true));
}

TEST_F(ClassClaims, StandByWhereTheyMayNotWriteTheClassAndAnotherLeads) {
  want();
  fail("", 403);
  ASSERT_THAT(told, ElementsAre(true));
  hold(false);
  hold(true);
  told.clear();
  for (int version = 1; version < 5; ++version) {
    look("they", version);
    EXPECT_THAT(told, IsEmpty());
    awaitRequest();
  }
}

TEST_F(ClassClaims, TakeNothingOverWhileTheLeaseOfTheOtherCannotBeRead) {
  want();
  for (const std::uint16_t status : std::vector<std::uint16_t>{403, 500, 200, 403, 500, 200, 403, 500, 200}) {
    answer(classClaimedBy(claimOf("other"), 7));
    ASSERT_EQ(lastTarget(), kLeaseElsewhere);
    answer(status == 200 ? "no JSON" : statusBody(status, "it fails"), status);
    EXPECT_FALSE(writes()) << status;
    awaitRequest();
  }
  EXPECT_THAT(told, IsEmpty());
  EXPECT_THAT(rig.logged.text(), HasSubstr("it fails"));
  EXPECT_THAT(rig.logged.text(), HasSubstr("the list cannot be read"));
  answer(classClaimedBy(claimOf("other"), 7));
  answer(kNoLeases);
  EXPECT_TRUE(writes());
}

TEST_F(ClassClaims, AskAgainWhenThereIsNoAnswer) {
  want();
  rig.advance(LeaderElection::kRequestTimeout + milliseconds(100));
  EXPECT_EQ(rig.requests(), 2u);
  EXPECT_THAT(rig.logged.text(), HasSubstr("no answer in time"));
  hold(false);
  const std::size_t before = rig.requests();
  rig.advance(seconds(10));
  EXPECT_EQ(rig.requests(), before);
}

TEST_F(ClassClaims, ClaimAnotherClassWhenThatIsTheirs) {
  take();
  want("/apis/gateway.networking.k8s.io/v1/gatewayclasses/second");
  EXPECT_THAT(told, ElementsAre(true, false));
  EXPECT_THAT(lastTarget(), HasSubstr("metadata.name%3Dsecond"));
}

}  // namespace
}  // namespace sluice::kubernetes
