// Tests which certificates the gateway accepts from an origin, and its local replies for those that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Returns the answer through a gateway that trusts `ca`, from an origin that presents `identity`.
std::string askOrigin(const CertifiedKey& identity, const std::string& ca, const std::string& sni = {}) {
  const EchoOrigin origin(identity);
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = ca, .sni = sni}}});
  return run({"curl", "-sS", "-i", "--max-time", "20", gateway.url("/")}).output;
}

void expectRefused(const std::string& answer, const std::string& code) {
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 502 "));
  EXPECT_THAT(answer, HasSubstr("\"" + code + "\""));
}

class OriginCertificates : public testing::Test {
 protected:
  CertifiedKey authority_ = makeAuthority();
};

TEST_F(OriginCertificates, AreAcceptedIfTheyAreGood) {
  EXPECT_THAT(askOrigin(issueServer(authority_, "origin.test"), authority_.certificate), HasSubstr(" 200 "));
}

TEST_F(OriginCertificates, AreCheckedAgainstTheSni) {
  const std::string answer = askOrigin(issueServer(authority_, "other.test"), authority_.certificate, "other.test");
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_EQ(echoed(answer, "sni"), "other.test");
}

TEST_F(OriginCertificates, AreRefusedIfTheyHaveExpired) {
  CertificateSpec expired;
  expired.dnsNames = {"origin.test"};
  expired.notBefore = std::chrono::hours(-48);
  expired.notAfter = std::chrono::hours(-24);
  expectRefused(askOrigin(issue(authority_, expired), authority_.certificate), "tls_certificate_error");
}

TEST_F(OriginCertificates, AreRefusedIfTheirNameIsWrong) {
  expectRefused(askOrigin(issueServer(authority_, "wrong.test"), authority_.certificate), "tls_certificate_error");
}

TEST_F(OriginCertificates, AreRefusedIfTheirAuthorityIsNotTrusted) {
  expectRefused(askOrigin(issueServer(makeAuthority("Other"), "origin.test"), authority_.certificate),
                "tls_certificate_error");
}

TEST_F(OriginCertificates, AreRefusedIfTheyAreSelfSigned) {
  CertificateSpec spec;
  spec.dnsNames = {"origin.test"};
  expectRefused(askOrigin(selfSigned(spec), authority_.certificate), "tls_certificate_error");
}

TEST_F(OriginCertificates, AreRefusedIfOnlyTheCommonNameMatches) {
  CertificateSpec nameless;
  nameless.commonName = "origin.test";
  expectRefused(askOrigin(issue(authority_, nameless), authority_.certificate), "tls_certificate_error");
}

TEST_F(OriginCertificates, AreRequiredOfEveryOrigin) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority_.certificate}}});
  expectRefused(run({"curl", "-sS", "-i", "--max-time", "20", gateway.url("/")}).output, "tls_protocol_error");
}

/// Runs openssl s_server, which ends the handshake of a client without a certificate.
class MutualTls : public OriginCertificates {
 protected:
  void SetUp() override {
    const CertifiedKey server = issueServer(authority_, "origin.test");
    origin_ = std::make_unique<ChildProcess>(std::vector<std::string>{
        "openssl", "s_server", "-accept", "127.0.0.1:" + std::to_string(port_), "-cert",
        folder_.write("origin.crt", server.certificate), "-key", folder_.write("origin.key", server.key), "-CAfile",
        folder_.write("ca.crt", authority_.certificate), "-Verify", "1", "-verify_return_error", "-www"});
    ASSERT_TRUE(waitForPort(port_)) << origin_->errors();
  }

  std::string ask(const std::optional<CertifiedKey>& client) {
    const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate, .client = client}}});
    return run({"curl", "-sS", "-i", "--max-time", "20", gateway.url("/")}).output;
  }

  TempDir folder_;
  std::uint16_t port_ = freePort();
  std::unique_ptr<ChildProcess> origin_;
};

TEST_F(MutualTls, TheClientCertificateIsPresented) {
  const std::string answer = ask(issueClient(authority_, "tenant-one"));
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_THAT(answer, HasSubstr("tenant-one"));
}

TEST_F(MutualTls, AMissingClientCertificateIsReported) { expectRefused(ask(std::nullopt), "tls_certificate_error"); }

TEST_F(MutualTls, AnUntrustedClientCertificateIsReported) {
  expectRefused(ask(issueClient(makeAuthority("Other"), "stranger")), "tls_certificate_error");
}

}  // namespace
}  // namespace sluice::test
