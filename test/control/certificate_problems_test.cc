#include "proxy/control/report/certificate_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::control {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
using Use = NamedCertificate::Use;

constexpr auto kOneDay = 24h;
const base::WallTime kNow = base::WallTime(std::chrono::seconds(1'800'000'000));

/// A certificate of a year that ends so long from now.
pki::Validity endsIn(std::chrono::hours left) { return {kNow + left - kOneDay * 365, kNow + left}; }

NamedCertificate named(Use use, std::vector<pki::Validity> times) {
  NamedCertificate certificate;
  certificate.use = use;
  certificate.object = "Backend demo/api";
  certificate.field = "spec.tls.clientCertificateRef";
  certificate.position.line = 7;
  certificate.source = "Secret demo/client: tls.crt";
  certificate.times = std::move(times);
  return certificate;
}

TEST(CertificateProblems, WarnTwoWeeksBeforeTheExpiry) {
  EXPECT_EQ(certificateProblem(named(Use::kClient, {endsIn(kOneDay * 15)}), kNow).message, "");
  const config::Problem soon = certificateProblem(named(Use::kClient, {endsIn(kOneDay * 13)}), kNow);
  EXPECT_EQ(soon.severity, config::Severity::kWarning);
  EXPECT_EQ(soon.object, "Backend demo/api");
  EXPECT_EQ(soon.field, "spec.tls.clientCertificateRef");
  EXPECT_EQ(soon.position.line, 7U);
  EXPECT_EQ(soon.message,
            "Secret demo/client: tls.crt: the certificate expires soon: it is valid until 2027-01-28T08:00:00.000Z");
}

TEST(CertificateProblems, AreErrorsOnceTheCertificateCannotBeUsed) {
  const config::Problem over = certificateProblem(named(Use::kClient, {endsIn(-1h)}), kNow);
  EXPECT_EQ(over.severity, config::Severity::kError);
  EXPECT_THAT(over.message, HasSubstr("the certificate expired on 2027-01-15T07:00:00.000Z, so Backends refuse it"));
  const config::Problem early = certificateProblem(named(Use::kListener, {{kNow + 1h, kNow + kOneDay * 99}}), kNow);
  EXPECT_EQ(early.severity, config::Severity::kError);
  EXPECT_THAT(early.message, HasSubstr("is not valid before 2027-01-15T09:00:00.000Z, so clients refuse to connect"));
}

TEST(CertificateProblems, WarnOfShortCertificatesInTheLastThirdOfTheirLife) {
  const NamedCertificate daily = named(Use::kListener, {{kNow, kNow + kOneDay}});
  EXPECT_EQ(certificateProblem(daily, kNow + 15h).message, "");
  EXPECT_THAT(certificateProblem(daily, kNow + 17h).message, HasSubstr("expires soon"));
  EXPECT_THAT(certificateProblem(named(Use::kListener, {{kNow - 1h, kNow + kOneDay * 5}}), kNow).message,
              HasSubstr("expires soon"));
}

TEST(CertificateProblems, OfAnIntermediateAreWarnings) {
  const auto problem = certificateProblem(named(Use::kListener, {endsIn(kOneDay * 99), endsIn(-1h)}), kNow);
  EXPECT_EQ(problem.severity, config::Severity::kWarning);
  EXPECT_THAT(problem.message, HasSubstr("tls.crt: certificate 2 of 2 expired on "));
}

TEST(CertificateProblems, OfABundleAreErrorsOnlyIfNoAuthorityIsLeft) {
  const auto some = certificateProblem(named(Use::kAuthorities, {endsIn(-1h), endsIn(kOneDay * 99)}), kNow);
  EXPECT_EQ(some.severity, config::Severity::kWarning);
  EXPECT_THAT(some.message, HasSubstr("certificate 1 of 2 expired on "));
  const auto none = certificateProblem(named(Use::kAuthorities, {endsIn(-1h), endsIn(-2h)}), kNow);
  EXPECT_EQ(none.severity, config::Severity::kError);
  EXPECT_THAT(none.message, HasSubstr(", so no certificate is accepted by it"));
  EXPECT_THAT(certificateProblem(named(Use::kAuthorities, {endsIn(-1h)}), kNow).message,
              HasSubstr("tls.crt: the authority expired on "));
}

TEST(CertificateProblems, LeaveOutCertificatesThatAreGood) {
  const std::vector<NamedCertificate> all{named(Use::kClient, {endsIn(kOneDay * 99)}),
                                          named(Use::kClient, {endsIn(-1h)})};
  EXPECT_EQ(certificateProblems(all, kNow).size(), 1U);
  EXPECT_TRUE(certificateProblems({}, kNow).empty());
}

TEST(CertificateProblems, KnowWhenTheyChange) {
  const std::vector<NamedCertificate> all{named(Use::kClient, {endsIn(kOneDay * 20)})};
  const base::WallTime soon = kNow + kOneDay * 6;
  EXPECT_EQ(nextCertificateChange(all, kNow), soon);
  EXPECT_EQ(nextCertificateChange(all, soon), kNow + kOneDay * 20);
  EXPECT_EQ(nextCertificateChange(all, kNow + kOneDay * 20), base::WallTime::max());
}

TEST(CertificateProblems, TakeTheLastRepresentableTimes) {
  const NamedCertificate endless = named(Use::kClient, {{base::WallTime::min(), base::WallTime::max()}});
  EXPECT_EQ(certificateProblem(endless, kNow).message, "");
  EXPECT_EQ(certificateProblem(named(Use::kClient, {{base::WallTime{}, base::WallTime{}}}), kNow).severity,
            config::Severity::kError);
}

}  // namespace
}  // namespace sluice::control
