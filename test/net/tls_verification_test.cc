// Both sides accept good certificates and refuse the others with the right error type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

using ::testing::HasSubstr;

class TlsVerification : public ::testing::Test {
 protected:
  TlsVerification() {
    settings.serverName = "api.test";
    settings.trust = test::trustOf(root.certificate);
    spec.dnsNames = {"api.test"};
    spec.extendedKeyUsage = "serverAuth";
  }

  /// Tries a handshake. Returns the detail of the refusal, or "" if the client has opened.
  std::string refusalOf(const test::CertifiedKey& server) {
    note = "";
    auto& ours = harness.client(settings);
    auto& theirs = harness.server({{test::serverIdentity(server)}, {}});
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near, &far = far] { return (near.opened || near.over()) && (far.opened || far.over()); });
    if (near.opened) return "";
    EXPECT_EQ(near.failure(), "tls_certificate_error");
    EXPECT_EQ(near.failed->origin, base::ErrorOrigin::kUpstream);
    EXPECT_EQ(far.failure(), "tls_certificate_error") << "told by alert: " << far.detail();
    note = near.failed->note;
    return near.detail();
  }
  std::string refusalOfSpec() { return refusalOf(test::issue(root, spec)); }

  test::CertifiedKey root = test::makeAuthority();
  test::CertificateSpec spec;
  TlsClientSettings settings;
  std::string note;  // of the last refusal
  test::TlsHarness harness;
};

TEST_F(TlsVerification, AcceptsAGoodCertificate) { EXPECT_EQ(refusalOfSpec(), ""); }

TEST_F(TlsVerification, RefusesAnExpiredCertificate) {
  spec.notBefore = std::chrono::hours(-48);
  spec.notAfter = std::chrono::hours(-24);
  EXPECT_THAT(refusalOfSpec(), HasSubstr("certificate has expired"));
}

TEST_F(TlsVerification, RefusesACertificateThatIsNotYetValid) {
  spec.notBefore = std::chrono::hours(24);
  spec.notAfter = std::chrono::hours(48);
  EXPECT_THAT(refusalOfSpec(), HasSubstr("certificate is not yet valid"));
}

TEST_F(TlsVerification, RefusesAnotherName) {
  spec.dnsNames = {"other.test"};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch"));
}

TEST_F(TlsVerification, NamesBothNamesOfAMismatch) {
  spec.dnsNames = {"other.test"};
  refusalOfSpec();
  EXPECT_EQ(note, "expected api.test, but the certificate is for other.test");
  spec.dnsNames = {"a.test", "b.test"};
  spec.ipAddresses = {"192.0.2.1", "2001:db8::1"};
  spec.uris = {"spiffe://corp.test/ns/a/sa/b"};
  settings.subjectAltNames = {"one.test", "two.test"};
  refusalOfSpec();
  EXPECT_EQ(note, "expected one.test, two.test, but the certificate is for a.test, b.test, 192.0.2.1 and 2 more");
  spec = test::CertificateSpec();
  spec.extendedKeyUsage = "serverAuth";
  refusalOfSpec();
  EXPECT_EQ(note, "expected one.test, two.test, but the certificate has no name that counts");
  spec.dnsNames = {std::string("a\0\n\xff.test", 9), std::string(200, 'x')};
  refusalOfSpec();
  EXPECT_EQ(note, "expected one.test, two.test, but the certificate is for a???.test, " + std::string(100, 'x'));
}

TEST_F(TlsVerification, RefusesAnUnknownAuthority) {
  root = test::makeAuthority("Somebody Else");
  EXPECT_THAT(refusalOfSpec(), HasSubstr("unable to get local issuer certificate"));
  EXPECT_EQ(note, "") << "its names do not count";
}

TEST_F(TlsVerification, RefusesAnAuthorityOfTheSameNameWithAnotherKey) {
  root = test::makeAuthority();
  EXPECT_NE(refusalOfSpec(), "");
}

TEST_F(TlsVerification, RefusesASelfSignedCertificateUnlessItIsPinned) {
  const auto alone = test::selfSigned(spec);
  EXPECT_THAT(refusalOf(alone), HasSubstr("self-signed certificate"));
  settings.trust = test::trustOf(alone.certificate);
  EXPECT_EQ(refusalOf(alone), "");
}

TEST_F(TlsVerification, NeverLooksAtTheCommonName) {
  spec.commonName = "api.test";
  spec.dnsNames = {};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch"));
}

TEST_F(TlsVerification, MatchesAWildcardForAWholeLabelOnly) {
  settings.serverName = "www.example.test";
  spec.dnsNames = {"*.example.test"};
  EXPECT_EQ(refusalOfSpec(), "");
  for (const char* partial : {"w*.example.test", "*w.example.test", "w*w.example.test", "*.*.test", "*.test", "*"}) {
    spec.dnsNames = {partial};
    EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch")) << partial;
  }
  settings.serverName = "a.b.example.test";
  spec.dnsNames = {"*.example.test"};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch"));
}

TEST_F(TlsVerification, MatchesAnUnderscoreByAWildcardForItsLabelOnly) {
  settings.serverName = "My_app.example.test";
  spec.dnsNames = {"other.test", "*.Example.test"};
  EXPECT_EQ(refusalOfSpec(), "");
  spec.dnsNames = {"my_app.example.test"};
  EXPECT_EQ(refusalOfSpec(), "") << "the name itself";
  for (const char* wrong : {"*_app.example.test", "my_*.example.test", "my?app.example.test", "myxapp.example.test",
                            "*.*.test", "*.test", "*", "*.my_app.example.test", "*.example.test.evil.test"}) {
    spec.dnsNames = {wrong};
    EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch")) << wrong;
  }
  spec.dnsNames = {std::string("*.example.test\0.evil.test", 25)};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch")) << "NUL";
  spec.commonName = "*.example.test";
  spec.dnsNames = {};
  spec.uris = {"*.example.test"};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch")) << "other names";
  spec.uris = {};
  spec.dnsNames = {"*.example.test"};
  settings.serverName = "a.my_app.example.test";
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch")) << "two labels";
}

TEST_F(TlsVerification, RefusesANameBehindANul) {
  spec.dnsNames = {std::string("api.test\0.evil.test", 19)};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch"));
}

TEST_F(TlsVerification, MatchesAnAddressByIpNameOnly) {
  settings.serverName = "127.0.0.1";
  spec.ipAddresses = {"127.0.0.1"};
  EXPECT_EQ(refusalOfSpec(), "");
  spec.ipAddresses = {"127.0.0.2"};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("IP address mismatch"));
  spec.ipAddresses = {};
  spec.dnsNames = {"127.0.0.1"};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("IP address mismatch")) << "type confusion";
}

TEST_F(TlsVerification, SendsNoServerNameForAnAddress) {
  settings.serverName = "127.0.0.1";
  spec.ipAddresses = {"127.0.0.1"};
  auto [near, far] =
      harness.pair(harness.client(settings), harness.server({{test::serverIdentity(test::issue(root, spec))}, {}}));
  harness.until([&near = near, &far = far] { return near.opened && far.opened; });
  EXPECT_EQ(far.transport->tls()->sni, "");
}

TEST_F(TlsVerification, AcceptsAnyOfTheSubjectAltNamesInsteadOfTheServerName) {
  settings.subjectAltNames = {"one.test", "spiffe://cluster.local/ns/a/sa/b"};
  EXPECT_THAT(refusalOfSpec(), HasSubstr("hostname mismatch")) << "serverName does not count any more";
  spec.dnsNames = {"one.test"};
  EXPECT_EQ(refusalOfSpec(), "");
  spec.dnsNames = {};
  spec.uris = {"spiffe://cluster.local/ns/a/sa/b"};
  EXPECT_EQ(refusalOfSpec(), "");
  spec.uris = {"spiffe://cluster.local/ns/a/sa/bc", "spiffe://cluster.local/ns/a/sa/B"};
  EXPECT_NE(refusalOfSpec(), "");
  spec.uris = {std::string("spiffe://cluster.local/ns/a/sa/b\0c", 34)};
  EXPECT_NE(refusalOfSpec(), "");
}

TEST_F(TlsVerification, RefusesACertificateForAnotherPurpose) {
  spec.extendedKeyUsage = "clientAuth";
  EXPECT_THAT(refusalOfSpec(), HasSubstr("unsuitable certificate purpose"));
  spec.extendedKeyUsage = "";
  EXPECT_EQ(refusalOfSpec(), "");
}

TEST_F(TlsVerification, RefusesAnIssuerThatIsNoAuthority) {
  const auto notAnAuthority = test::issueServer(root, "leaf.test");
  auto& ours = harness.client(settings);
  auto& theirs =
      harness.server({{test::serverIdentity(test::issue(notAnAuthority, spec), notAnAuthority.certificate)}, {}});
  auto [near, far] = harness.pair(ours, theirs);
  harness.until([&near = near] { return near.opened || near.over(); });
  EXPECT_EQ(near.failure(), "tls_certificate_error");
  EXPECT_FALSE(far.opened);
}

TEST_F(TlsVerification, RespectsNameConstraints) {
  test::CertificateSpec constrained;
  constrained.authority = true;
  constrained.extensions = {{"nameConstraints", "critical,permitted;DNS:example.test"}};
  root = test::selfSigned(constrained);
  settings.trust = test::trustOf(root.certificate);
  EXPECT_THAT(refusalOfSpec(), HasSubstr("permitted subtree violation"));
  settings.serverName = "www.example.test";
  spec.dnsNames = {"www.example.test"};
  EXPECT_EQ(refusalOfSpec(), "");
}

TEST_F(TlsVerification, ChecksNothingWithInsecureSkipVerify) {
  settings.insecureSkipVerify = true;
  settings.trust = nullptr;
  spec.dnsNames = {"other.test"};
  spec.notAfter = std::chrono::seconds(-1);
  EXPECT_EQ(refusalOf(test::selfSigned(spec)), "");
}

class TlsClientCertificate : public ::testing::TestWithParam<int> {
 protected:
  /// Configures a server that requires a client certificate of `root`, in the version of the parameter.
  test::RawTlsServer::Configure demanding() {
    return [this](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, GetParam());
      SSL_CTX_set1_cert_store(context, trust->get());
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    };
  }
  TlsClientSettings settings() const {
    TlsClientSettings result;
    result.serverName = "api.test";
    result.trust = trust;
    return result;
  }

  test::CertifiedKey root = test::makeAuthority();
  std::shared_ptr<const pki::TrustStore> trust = test::trustOf(root.certificate);
  test::CertifiedKey leaf = test::issueServer(root, "api.test");
  test::TlsHarness harness;
};

TEST_P(TlsClientCertificate, IsPresented) {
  const auto mine = test::issueClient(root, "workload");
  TlsClientSettings with = settings();
  with.clientCertificate = test::chainOf(mine.certificate);
  with.clientKey = test::keyOf(mine);
  test::RawTlsServer peer(leaf, demanding(), [](SSL* ssl, int accepted) {
    EXPECT_EQ(accepted, 1);
    EXPECT_NE(SSL_get0_peer_certificate(ssl), nullptr);
    SSL_write(ssl, "hello", 5);
    SSL_shutdown(ssl);
  });
  auto& near = harness.connect(peer.address(), harness.client(with));
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.received, "hello");
  EXPECT_EQ(near.ended, true) << near.detail();
}

TEST_P(TlsClientCertificate, CausesAnErrorOfItsOwnIfItIsMissing) {
  test::RawTlsServer peer(leaf, demanding(), [](SSL*, int accepted) { EXPECT_NE(accepted, 1); });
  auto& near = harness.connect(peer.address(), harness.client(settings()));
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_certificate_error");
  EXPECT_THAT(near.detail(), HasSubstr("demands a client certificate"));
}

TEST_P(TlsClientCertificate, IsReportedAsMissingEvenIfARequestIsOnItsWay) {
  test::RawTlsServer peer(leaf, demanding(), [](SSL*, int accepted) { EXPECT_NE(accepted, 1); });
  auto& near = harness.connect(peer.address(), harness.client(settings()));
  harness.until([&] { return near.opened || near.over(); });
  if (near.opened) harness.send(near, std::string(1000, 'x'));
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_certificate_error") << near.detail();
}

TEST_P(TlsClientCertificate, IsRefusedByTheBackendIfItsAuthorityIsUnknown) {
  const auto mine = test::issueClient(test::makeAuthority("Somebody Else"), "workload");
  TlsClientSettings with = settings();
  with.clientCertificate = test::chainOf(mine.certificate);
  with.clientKey = test::keyOf(mine);
  test::RawTlsServer peer(leaf, demanding(), [](SSL*, int accepted) { EXPECT_NE(accepted, 1); });
  auto& near = harness.connect(peer.address(), harness.client(with));
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_certificate_error");
  EXPECT_THAT(near.detail(), HasSubstr("unknown CA"));
}

TEST_P(TlsClientCertificate, IsNotSentToAnUnverifiedServer) {
  const auto mine = test::issueClient(root, "workload");
  TlsClientSettings with = settings();
  with.serverName = "other.test";
  with.subjectAltNames = {"spiffe://other"};
  with.clientCertificate = test::chainOf(mine.certificate);
  with.clientKey = test::keyOf(mine);
  test::RawTlsServer peer(leaf, demanding(), [](SSL* ssl, int accepted) {
    EXPECT_NE(accepted, 1);
    EXPECT_EQ(SSL_get0_peer_certificate(ssl), nullptr);
  });
  auto& near = harness.connect(peer.address(), harness.client(with));
  harness.until([&] { return near.over(); });
  EXPECT_THAT(near.detail(), HasSubstr("hostname mismatch"));
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsClientCertificate, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

}  // namespace
}  // namespace sluice::net
