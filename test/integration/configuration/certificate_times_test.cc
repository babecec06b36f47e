// Tests the reports about certificates that have expired or soon will: none of them keeps a configuration from being
// served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

CertifiedKey validFor(std::chrono::hours left) {
  CertificateSpec spec;
  spec.dnsNames = {"localhost"};
  spec.notBefore = -24h * 60;
  spec.notAfter = left;
  return selfSigned(spec);
}

class ReportedCertificates : public testing::Test {
 protected:
  /// Returns a gateway with these certificates, and a Backend that nobody can verify.
  GatewaySpec with(const CertifiedKey& listener, const CertifiedKey& client, const std::string& authority) const {
    GatewaySpec spec;
    spec.backends = {{.name = "plain", .hostname = "plain.test", .port = origin_.port()},
                     {.port = 443, .ca = authority, .client = client}};
    spec.tls = listener;
    return spec;
  }

  const RawOrigin origin_{RawOrigin::answering(kOk)};
};

TEST_F(ReportedCertificates, AreErrorsOfValidateOnceTheyHaveExpired) {
  GatewayProcess gateway(with(validFor(-1h), validFor(-2h), validFor(-3h).certificate));
  const TempDir folder;
  const ProgramOutcome outcome = sluice({"validate", folder.write("all.yaml", gateway.configuration()), "-q"});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("error: Gateway test/egress: spec.listeners[1].tls.certificateRefs[0]: Secret "
                              "test/listener: tls.crt: the certificate expired on "),
                    HasSubstr("error: Backend test/origin: spec.tls.clientCertificateRef: Secret test/origin-client: "
                              "tls.crt: the certificate expired on "),
                    HasSubstr("error: Backend test/origin: spec.tls.caBundleRef: ConfigMap test/origin-ca: ca.crt: the "
                              "authority expired on ")));
  EXPECT_THAT(gateway.adminGet("/status"),
              AllOf(HasSubstr(R"("state":"InSync")"), HasSubstr(", so Backends refuse it")));
  EXPECT_THAT(gateway.adminGet("/events"),
              HasSubstr(R"("reason":"CertificateExpires","object":"Backend test/origin")"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).status, 200) << "it is served";
}

TEST_F(ReportedCertificates, AreWarnedOfTwoWeeksBefore) {
  const CertifiedKey good = validFor(24h * 90);
  GatewayProcess gateway(with(validFor(24h * 13), good, good.certificate));
  const TempDir folder;
  const ProgramOutcome outcome = sluice({"validate", folder.write("all.yaml", gateway.configuration()), "-q"});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("warning: Gateway test/egress: spec.listeners[1].tls.certificateRefs[0]"),
                                    HasSubstr("the certificate expires soon: it is valid until "),
                                    Not(HasSubstr("Backend test/origin: spec.tls"))));
}

TEST_F(ReportedCertificates, HaveKeysThatBelongToThem) {
  const CertifiedKey good = validFor(24h * 90);
  GatewaySpec spec = with(good, {good.certificate, validFor(24h).key}, good.certificate);
  GatewayProcess gateway(spec);
  const TempDir folder;
  const ProgramOutcome outcome = sluice({"validate", folder.write("all.yaml", gateway.configuration()), "-q"});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(
      outcome.output,
      HasSubstr("spec.tls.clientCertificateRef: Secret test/origin-client: tls.key does not belong to tls.crt"));
}

TEST_F(ReportedCertificates, ThatExpireWhileTheyAreServedAreReportedWithoutAReload) {
  CertificateSpec brief;
  brief.dnsNames = {"localhost"};
  brief.notAfter = 5s;
  const CertifiedKey good = validFor(24h * 90);
  const GatewayProcess gateway(with(good, selfSigned(brief), good.certificate));
  EXPECT_TRUE(eventually([&] { return gateway.adminGet("/status").find("expired on") != std::string::npos; }));
  EXPECT_TRUE(gateway.reaches("sluice_config_degraded", 1));
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr(R"("kind":"Backend","namespace":"test","name":"origin","reason":"Invalid")"));
}

}  // namespace
}  // namespace sluice::test
