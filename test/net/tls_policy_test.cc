// Tests the demands on a Backend's TLS beyond a good certificate: it is not revoked, a key is pinned, and only some
// versions and suites are allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

using ::testing::HasSubstr;

class TlsClientPolicy : public ::testing::Test {
 protected:
  TlsClientPolicy() {
    settings.serverName = "api.test";
    settings.trust = test::trustOf(root.certificate);
  }
  void trust(const std::string& lists, const std::string& authorities = "") {
    settings.trust = std::make_shared<const pki::TrustStore>(
        pki::TrustStore::parse(authorities.empty() ? root.certificate : authorities, lists).value());
  }

  /// Tries a handshake. Returns the detail of the refusal, or "" if both ends have opened.
  std::string refusal(const std::string& intermediates = "") {
    auto& ours = harness.client(settings);
    auto& theirs = harness.server({{test::serverIdentity(leaf, intermediates)}, {}});
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near, &far = far] { return (near.opened || near.over()) && (far.opened || far.over()); });
    if (near.opened) return "";
    EXPECT_EQ(near.failure(), "tls_certificate_error");
    EXPECT_FALSE(far.opened);
    return near.detail();
  }

  test::CertifiedKey root = test::makeAuthority();
  test::CertifiedKey leaf = test::issueServer(root, "api.test");
  TlsClientSettings settings;
  test::TlsHarness harness;
};

class TlsRevocation : public TlsClientPolicy {
 protected:
  TlsRevocation() {
    test::CertificateSpec spec;
    spec.commonName = "intermediate";
    spec.authority = true;
    middle = test::issue(root, spec);
  }
  test::CertifiedKey middle;
};

TEST_F(TlsRevocation, ACertificateThatTheListDoesNotNameIsAccepted) {
  trust(test::revocationList(root, {test::issueServer(root, "other.test")}));
  EXPECT_EQ(refusal(), "");
}

TEST_F(TlsRevocation, ARevokedCertificateIsRefused) {
  trust(test::revocationList(root, {leaf}));
  EXPECT_THAT(refusal(), HasSubstr("it has been revoked"));
}

TEST_F(TlsRevocation, AnExpiredListRefusesEveryCertificate) {
  trust(test::revocationList(root, {}, std::chrono::seconds(-1)));
  EXPECT_THAT(refusal(), HasSubstr("the revocation list has expired"));
}

TEST_F(TlsRevocation, ANewerListReplacesAnExpiredOne) {
  trust(test::revocationList(root, {}, std::chrono::seconds(-1)) + test::revocationList(root, {}));
  EXPECT_EQ(refusal(), "");
}

TEST_F(TlsRevocation, WithoutAListOfItsIssuerACertificateIsRefused) {
  const auto other = test::makeAuthority("Other");
  trust(test::revocationList(other, {}), root.certificate + other.certificate);
  EXPECT_THAT(refusal(), HasSubstr("there is no revocation list of its issuer"));
}

TEST_F(TlsRevocation, AListThatTheIssuerHasNotSignedIsIgnored) {
  trust(test::revocationList(test::makeAuthority(), {}));
  EXPECT_NE(refusal(), "");
}

TEST_F(TlsRevocation, AListOfTheIssuingAuthorityAloneIsEnough) {
  leaf = test::issueServer(middle, "api.test");
  trust(test::revocationList(middle, {}));
  EXPECT_EQ(refusal(middle.certificate), "");
  trust(test::revocationList(middle, {leaf}));
  EXPECT_THAT(refusal(middle.certificate), HasSubstr("it has been revoked"));
}

TEST_F(TlsRevocation, AnIntermediateAuthorityIsCheckedAgainstTheListOfItsOwnIssuer) {
  leaf = test::issueServer(middle, "api.test");
  trust(test::revocationList(middle, {}) + test::revocationList(root, {}));
  EXPECT_EQ(refusal(middle.certificate), "");
  trust(test::revocationList(middle, {}) + test::revocationList(root, {middle}));
  EXPECT_THAT(refusal(middle.certificate), HasSubstr("it has been revoked"));
  trust(test::revocationList(middle, {}) + test::revocationList(root, {}, std::chrono::seconds(-1)));
  EXPECT_THAT(refusal(middle.certificate), HasSubstr("the revocation list has expired"));
}

TEST_F(TlsRevocation, AListOfTheRootAloneIsNotEnough) {
  leaf = test::issueServer(middle, "api.test");
  trust(test::revocationList(root, {}));
  EXPECT_THAT(refusal(middle.certificate), HasSubstr("there is no revocation list of its issuer"));
}

TEST_F(TlsRevocation, AnIntermediateMayBeTrustedWithItsListAndWithoutItsRoot) {
  leaf = test::issueServer(middle, "api.test");
  trust(test::revocationList(middle, {}), middle.certificate);
  EXPECT_EQ(refusal(), "");
}

TEST_F(TlsRevocation, NoSessionIsResumedOnceTheListHasExpired) {
  trust(test::revocationList(root, {}, std::chrono::hours(1)));
  auto& ours = harness.client(settings);
  auto& theirs = harness.server({{test::serverIdentity(leaf)}, {}});
  const auto isResumed = [&] {
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near, &far = far] { return near.opened && far.opened; });
    harness.send(far, "tickets come before this");
    harness.until([&near = near] { return !near.received.empty(); });
    return near.transport->tls()->resumed;
  };
  EXPECT_FALSE(isResumed());
  EXPECT_TRUE(isResumed());
  harness.clock.ahead = std::chrono::minutes(59);
  EXPECT_TRUE(isResumed());
  harness.clock.ahead = std::chrono::minutes(60);
  EXPECT_FALSE(isResumed());
}

TEST_F(TlsClientPolicy, APinOfAnyCertificateOfTheChainIsEnough) {
  test::CertificateSpec spec;
  spec.commonName = "intermediate";
  spec.authority = true;
  const auto middle = test::issue(root, spec);
  leaf = test::issueServer(middle, "api.test");
  const std::string other = test::spkiPin(test::makeAuthority());
  for (const auto& pinned : {leaf, middle, root}) {
    settings.spkiPins = {other, test::spkiPin(pinned)};
    EXPECT_EQ(refusal(middle.certificate), "");
  }
}

TEST_F(TlsClientPolicy, WithoutAPinnedKeyAGoodChainIsRefused) {
  settings.spkiPins = {test::spkiPin(test::makeAuthority())};
  EXPECT_THAT(refusal(), HasSubstr("no certificate of the chain matches a pin"));
}

TEST_F(TlsClientPolicy, ACertificateThatIsSentButNotPartOfTheChainCountsForNoPin) {
  const auto stranger = test::makeAuthority("Stranger");
  settings.spkiPins = {test::spkiPin(stranger)};
  EXPECT_THAT(refusal(stranger.certificate), HasSubstr("no certificate of the chain matches a pin"));
}

TEST_F(TlsClientPolicy, APinDoesNotMakeABadChainGood) {
  leaf = test::issueServer(test::makeAuthority("Somebody Else"), "api.test");
  settings.spkiPins = {test::spkiPin(leaf)};
  EXPECT_THAT(refusal(), HasSubstr("unable to get local issuer certificate"));
}

class TlsClientVersions : public TlsClientPolicy {
 protected:
  /// Returns the version and suite that were agreed on with a server that supports versions up to `maximum`, or the
  /// error.
  std::string agreed(int maximum = TLS1_3_VERSION) {
    std::string result;
    test::RawTlsServer peer(
        leaf, [&](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, maximum); },
        [&](SSL* ssl, int accepted) {
          if (accepted == 1) result = std::string(SSL_get_version(ssl)) + " " + SSL_get_cipher_name(ssl);
          SSL_shutdown(ssl);
        });
    auto& near = harness.connect(peer.address(), harness.client(settings));
    harness.until([&] { return near.over(); });
    harness.destroy(near);
    return near.failed && !near.opened ? near.failure() + ": " + near.detail() : result;
  }
  std::string configError() const {
    const auto made = TlsClientContext::make(settings);
    EXPECT_EQ(ERR_peek_error(), 0u);
    if (made.ok()) return "";
    EXPECT_EQ(made.error().origin, base::ErrorOrigin::kConfig);
    return made.error().detail;
  }
};

TEST_F(TlsClientVersions, TheLowestVersionIsEnforced) {
  settings.minVersion = "1.3";
  EXPECT_THAT(agreed(), HasSubstr("TLSv1.3 "));
  EXPECT_THAT(agreed(TLS1_2_VERSION), HasSubstr("tls_protocol_error: "));
  settings.minVersion = "1.2";
  EXPECT_THAT(agreed(TLS1_2_VERSION), HasSubstr("TLSv1.2 "));
}

TEST_F(TlsClientVersions, SuitesOfBothVersionsMayBeNamedTogether) {
  settings.cipherSuites = {"TLS_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"};
  EXPECT_EQ(agreed(), "TLSv1.3 TLS_CHACHA20_POLY1305_SHA256");
  EXPECT_EQ(agreed(TLS1_2_VERSION), "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384");
}

TEST_F(TlsClientVersions, ASuiteOfTls12MayBeNamedAsIanaDoes) {
  settings.cipherSuites = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"};
  EXPECT_EQ(agreed(TLS1_2_VERSION), "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256");
}

TEST_F(TlsClientVersions, AVersionWithoutASuiteIsNotSpoken) {
  settings.cipherSuites = {"ECDHE-ECDSA-AES128-GCM-SHA256"};
  EXPECT_EQ(agreed(), "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256");
  settings.cipherSuites = {"TLS_AES_128_GCM_SHA256"};
  EXPECT_THAT(agreed(TLS1_2_VERSION), HasSubstr("tls_protocol_error: "));
  EXPECT_EQ(agreed(), "TLSv1.3 TLS_AES_128_GCM_SHA256");
}

TEST_F(TlsClientVersions, AnUnknownSuiteIsLeftOut) {
  settings.cipherSuites = {"TLS_FUTURE", "TLS_AES_256_GCM_SHA384"};
  EXPECT_EQ(agreed(), "TLSv1.3 TLS_AES_256_GCM_SHA384");
}

TEST_F(TlsClientVersions, InsecureSuitesAndOpensslKeywordsAreUnknown) {
  for (const char* name : {"ALL", "DEFAULT", "@SECLEVEL=0", "eNULL", "NULL-SHA256", "ADH-AES128-SHA256", "", "PSK",
                           "TLS_AES_128_GCM_SHA256:ALL", "ALL:eNULL", "tls_aes_128_gcm_sha256"}) {
    settings.cipherSuites = {name};
    EXPECT_EQ(configError(), "none of the cipher suites is known") << name;
  }
}

TEST_F(TlsClientVersions, SettingsThatLeaveNoSuiteAreRefused) {
  settings.minVersion = "1.3";
  settings.cipherSuites = {"ECDHE-ECDSA-AES128-GCM-SHA256"};
  EXPECT_EQ(configError(), "TLS 1.3 is asked for, but none of its cipher suites");
  settings.cipherSuites = {};
  for (const char* version : {"", "1.1", "1.4", "TLS1.3"}) {
    settings.minVersion = version;
    EXPECT_EQ(configError(), "the lowest TLS version is neither 1.2 nor 1.3") << version;
  }
}

TEST_F(TlsClientVersions, InvalidAndUselessPinsAreRefused) {
  settings.spkiPins = {"abc"};
  EXPECT_EQ(configError(), "'abc' is not the base64 of a SHA-256 digest");
  settings.spkiPins = {test::spkiPin(root)};
  EXPECT_EQ(configError(), "");
  settings.insecureSkipVerify = true;
  EXPECT_EQ(configError(), "pins say nothing about a peer that is not verified");
}

}  // namespace
}  // namespace sluice::net
