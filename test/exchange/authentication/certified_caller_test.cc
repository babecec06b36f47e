// A certificate is verified for the first request of a connection, and again when the result may be another one.
#include "proxy/exchange/authentication/certified_caller.h"

#include <gtest/gtest.h>

#include "proxy/exchange/transaction/fair_share.h"
#include "test/exchange/authentication/client_certificates.h"

namespace sluice::exchange {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Rules = std::shared_ptr<const routing::ClientValidation>;

constexpr net::ClientNetwork kNetwork = 7;

class CertifiedCallerTest : public ::testing::Test {
 protected:
  static Rules made(routing::ClientValidation validation) {
    return std::make_shared<const routing::ClientValidation>(std::move(validation));
  }
  CertifiedCaller::CertificateJudgement judge(const Rules& rules) { return caller_.judge(rules, now_, wall_); }
  /// Returns true if a request now finds the verdict without a look at the clock.
  bool keeps(const Rules& rules) const { return caller_.admission(rules.get(), now_) != nullptr; }
  void pass(base::Duration time) {
    now_ += time;
    wall_ += time;
  }

  const test::CertifiedKey authority_ = test::makeAuthority();
  const test::CertifiedKey key_ = test::issue(authority_, accountSpec());
  const Rules rules_ = made(trusting(authority_));
  CertifiedCaller caller_{shown(key_), kNetwork};
  base::MonotonicTime now_{hours(1)};
  base::WallTime wall_ = realNow();
};

TEST_F(CertifiedCallerTest, IsNamedByOneVerification) {
  EXPECT_FALSE(keeps(rules_));
  const auto first = judge(rules_);
  EXPECT_TRUE(first.anew);
  ASSERT_TRUE(first.verdict.admits()) << first.verdict.refusal;
  ASSERT_NE(first.verdict.caller, nullptr);
  const base::Caller web{"demo", "web", "spiffe://prod.test/ns/demo/sa/web", base::Assurance::kCertificate};
  EXPECT_EQ(*first.verdict.caller, web);
  EXPECT_EQ(first.verdict.share, shareOf(&web, kNetwork));
  const auto* const known = first.verdict.caller.get();
  EXPECT_TRUE(keeps(rules_));
  const auto second = judge(rules_);
  EXPECT_FALSE(second.anew);
  EXPECT_EQ(second.verdict.caller.get(), known);
}

TEST_F(CertifiedCallerTest, IsNotVerifiedAgainWhenTheClockIsLookedAt) {
  judge(rules_);
  pass(CertifiedCaller::kWallClockTrusted - milliseconds(1));
  EXPECT_TRUE(keeps(rules_));
  pass(milliseconds(1));
  EXPECT_FALSE(keeps(rules_));
  EXPECT_FALSE(judge(rules_).anew);
  EXPECT_TRUE(keeps(rules_));
}

TEST_F(CertifiedCallerTest, IsRefusedFromTheExpiryOn) {
  test::CertificateSpec spec = accountSpec();
  spec.notAfter = hours(1);
  CertifiedCaller expiring(shown(test::issue(authority_, spec)), kNetwork);
  const base::WallTime expiry = expiring.judge(rules_, now_, wall_).verdict.validity.until;
  EXPECT_GT(expiry, wall_);
  EXPECT_LE(expiry, wall_ + hours(1));
  now_ += hours(1);
  const base::WallTime before = expiry - milliseconds(1);
  EXPECT_TRUE(expiring.judge(rules_, now_, before).verdict.admits());
  EXPECT_NE(expiring.admission(rules_.get(), now_), nullptr);
  EXPECT_EQ(expiring.admission(rules_.get(), now_ + milliseconds(1)), nullptr) << "nothing is kept beyond the expiry";
  const auto after = expiring.judge(rules_, now_ + milliseconds(1), expiry + seconds(1));
  EXPECT_TRUE(after.anew);
  EXPECT_FALSE(after.verdict.admits());
  EXPECT_EQ(after.verdict.caller, nullptr);
}

TEST_F(CertifiedCallerTest, IsRefusedOnceTheWallClockIsSetBeyondTheExpiry) {
  judge(rules_);
  wall_ += hours(48);
  now_ += CertifiedCaller::kWallClockTrusted;
  ASSERT_FALSE(keeps(rules_));
  EXPECT_FALSE(judge(rules_).verdict.admits());
}

TEST_F(CertifiedCallerTest, IsVerifiedByEachSetOfRules) {
  const Rules others = made(trusting(test::makeAuthority()));
  EXPECT_TRUE(judge(rules_).verdict.admits());
  EXPECT_FALSE(keeps(others));
  const auto refused = judge(others);
  EXPECT_TRUE(refused.anew);
  EXPECT_FALSE(refused.verdict.admits());
  EXPECT_EQ(refused.verdict.caller, nullptr);
  EXPECT_FALSE(judge(rules_).anew) << "verdicts by several rules are kept";
  EXPECT_TRUE(judge(rules_).verdict.admits());
}

TEST_F(CertifiedCallerTest, IsVerifiedAgainByRulesThatWereForgotten) {
  judge(rules_);
  for (std::size_t i = 0; i < CertifiedCaller::kMostVerdicts; ++i) judge(made(trusting(authority_)));
  EXPECT_TRUE(judge(rules_).anew);
}

TEST_F(CertifiedCallerTest, IsRefusedByARevocationListThatCameLater) {
  EXPECT_TRUE(judge(rules_).verdict.admits());
  const Rules later = made(trusting(authority_, test::revocationList(authority_, {key_})));
  EXPECT_FALSE(judge(later).verdict.admits());
}

TEST_F(CertifiedCallerTest, StaysRefusedForATimeWithoutAnotherVerification) {
  const Rules others = made(trusting(test::makeAuthority()));
  EXPECT_TRUE(judge(others).anew);
  pass(CertifiedCaller::kRefusalKept - milliseconds(1));
  EXPECT_FALSE(judge(others).anew);
  EXPECT_FALSE(judge(others).verdict.admits());
  pass(milliseconds(1));
  EXPECT_TRUE(judge(others).anew);
}

TEST_F(CertifiedCallerTest, HasNoNameWhereCertificatesNameNobody) {
  routing::ClientValidation silent = trusting(authority_);
  silent.namesCallers = false;
  const auto judged = judge(made(silent));
  EXPECT_TRUE(judged.verdict.admits());
  EXPECT_EQ(judged.verdict.caller, nullptr);
}

TEST_F(CertifiedCallerTest, HasNoAccountOfAnotherTrustDomain) {
  CertifiedCaller foreign(shown(test::issue(authority_, accountSpec("other.test"))), kNetwork);
  const auto judged = foreign.judge(rules_, now_, wall_);
  ASSERT_NE(judged.verdict.caller, nullptr);
  EXPECT_EQ(judged.verdict.caller->serviceAccount, "");
  EXPECT_EQ(judged.verdict.caller->nameSpace, "");
  EXPECT_EQ(judged.verdict.caller->principal, "spiffe://other.test/ns/demo/sa/web");
}

}  // namespace
}  // namespace sluice::exchange
