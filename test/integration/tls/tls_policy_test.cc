// Tests what a Backend may require of its origin beyond a valid certificate: that it is not revoked, a pinned key, and
// TLS versions and cipher suites.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class BackendTlsRules : public testing::Test {
 protected:
  /// Returns the answer of an origin with certificate `leaf_`, or the gateway's local reply.
  std::string ask(BackendSpec backend) {
    const EchoOrigin origin(leaf_);
    backend.port = origin.port();
    return askPort(std::move(backend));
  }
  std::string askPort(BackendSpec backend) {
    backend.ca = authority_.certificate;
    const GatewayProcess gateway({.backends = {std::move(backend)}});
    return run({"curl", "-sS", "-i", "--max-time", "20", gateway.url("/")}).output;
  }
  static void expectRefused(const std::string& answer, const std::string& why) {
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 502 "));
    EXPECT_THAT(answer, HasSubstr("\"tls_certificate_error\""));
    EXPECT_THAT(answer, HasSubstr(why));
  }
  static std::string pins(const CertifiedKey& identity) {
    return "sluice.dev/spki-pins: \"" + spkiPin(identity) + "\"";
  }

  CertifiedKey authority_ = makeAuthority();
  CertifiedKey leaf_ = issueServer(authority_, "origin.test");
};

TEST_F(BackendTlsRules, AcceptsACertificateOutsideTheRevocationList) {
  EXPECT_THAT(ask({.crl = revocationList(authority_, {})}), HasSubstr(" 200 "));
}

TEST_F(BackendTlsRules, RefusesARevokedCertificate) {
  expectRefused(ask({.crl = revocationList(authority_, {leaf_})}), "it has been revoked");
}

TEST_F(BackendTlsRules, RefusesEveryCertificateByAnExpiredRevocationList) {
  expectRefused(ask({.crl = revocationList(authority_, {}, std::chrono::seconds(-1))}),
                "the revocation list has expired");
}

TEST_F(BackendTlsRules, AcceptsAPinnedKey) {
  EXPECT_THAT(ask({.tlsOptions = pins(leaf_)}), HasSubstr(" 200 "));
  EXPECT_THAT(ask({.tlsOptions = pins(authority_)}), HasSubstr(" 200 "));
}

TEST_F(BackendTlsRules, RefusesAChainWithoutAPinnedKey) {
  expectRefused(ask({.tlsOptions = pins(makeAuthority())}), "no certificate of the chain matches a pin");
}

/// Runs openssl s_server, whose TLS versions and cipher suites can be chosen.
class TlsVersion : public BackendTlsRules {
 protected:
  std::string askServer(const std::vector<std::string>& arguments, const std::string& options) {
    const std::uint16_t port = freePort();
    std::vector<std::string> argv = {"openssl", "s_server",
                                     "-accept", "127.0.0.1:" + std::to_string(port),
                                     "-cert",   folder_.write("origin.crt", leaf_.certificate),
                                     "-key",    folder_.write("origin.key", leaf_.key),
                                     "-www"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const ChildProcess origin(argv);
    EXPECT_TRUE(waitForPort(port)) << origin.errors();
    return askPort({.port = port, .tlsOptions = options});
  }
  TempDir folder_;
};

TEST_F(TlsVersion, IsRefusedIfTheOriginsIsLower) {
  const std::string options = "sluice.dev/min-tls-version: \"1.3\"";
  const std::string refused = askServer({"-tls1_2"}, options);
  EXPECT_THAT(refused, HasSubstr("HTTP/1.1 502 "));
  EXPECT_THAT(refused, HasSubstr("\"tls_protocol_error\""));
  EXPECT_THAT(askServer({}, options), HasSubstr(" 200 "));
}

TEST_F(TlsVersion, UsesTheConfiguredCipherSuites) {
  const std::string options = "sluice.dev/cipher-suites: TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES256-GCM-SHA384";
  EXPECT_THAT(askServer({}, options), HasSubstr("New, TLSv1.3, Cipher is TLS_CHACHA20_POLY1305_SHA256"));
  EXPECT_THAT(askServer({"-tls1_2"}, options), HasSubstr("Cipher is ECDHE-ECDSA-AES256-GCM-SHA384"));
  EXPECT_THAT(askServer({"-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"}, options),
              HasSubstr("\"tls_protocol_error\""));
}

}  // namespace
}  // namespace sluice::test
