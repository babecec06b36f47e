// Two ends agree in the handshake on ALPN, SNI and certificates by name; contexts refuse settings that they cannot
// use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

using ::testing::HasSubstr;
using Names = std::vector<std::string>;

class TlsHandshake : public ::testing::Test {
 protected:
  const TlsServerContext& server(const Names& alpn = {}) {
    return harness.server({{test::serverIdentity(leaf)}, alpn});
  }
  TlsClientContext& client(const Names& alpn = {}, const std::string& name = "api.test") {
    TlsClientSettings settings;
    settings.serverName = name;
    settings.trust = test::trustOf(root.certificate);
    settings.alpn = alpn;
    return harness.client(settings);
  }

  test::CertifiedKey root = test::makeAuthority();
  test::CertifiedKey leaf = test::issueServer(root, "api.test");
  test::TlsHarness harness;
};

TEST_F(TlsHandshake, OpensBothEndsAndCarriesBytesBothWays) {
  auto& ours = client();
  auto& theirs = server();
  auto [near, far] = harness.pair(ours, theirs);
  EXPECT_EQ(near.transport->tls(), nullptr);
  harness.until([&] { return near.opened && far.opened; });
  harness.send(near, "ping");
  harness.send(far, "pong");
  harness.until([&] { return near.received == "pong" && far.received == "ping"; });
  EXPECT_EQ(far.transport->tls()->sni, "api.test");
  EXPECT_EQ(near.transport->tls()->alpn, "");
  EXPECT_EQ(near.transport->tls()->version, "1.3");
  EXPECT_EQ(far.transport->tls()->version, "1.3");
  EXPECT_FALSE(near.transport->tls()->resumed);
  EXPECT_FALSE(near.transport->pending());
}

TEST_F(TlsHandshake, SpeaksTls13IfBothCan) {
  auto& ours = client();
  std::string version;
  test::RawTlsServer peer(leaf, nullptr, [&](SSL* ssl, int) { version = SSL_get_version(ssl); });
  auto& near = harness.connect(peer.address(), ours);
  harness.until([&] { return near.over(); });
  EXPECT_EQ(version, "TLSv1.3");
}

TEST_F(TlsHandshake, RefusesVersionsBefore12) {
  auto& ours = client();
  test::RawTlsServer peer(
      leaf,
      [](SSL_CTX* context) {
        SSL_CTX_set_security_level(context, 0);
        SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
        SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
      },
      [](SSL*, int accepted) { EXPECT_NE(accepted, 1); });
  auto& near = harness.connect(peer.address(), ours);
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_protocol_error");
}

struct AlpnCase {
  Names client;
  Names server;
  std::string chosen;
};

class TlsAlpn : public TlsHandshake, public ::testing::WithParamInterface<AlpnCase> {};

TEST_P(TlsAlpn, IsChosenByTheServersPreference) {
  auto& ours = client(GetParam().client);
  auto& theirs = server(GetParam().server);
  auto [near, far] = harness.pair(ours, theirs);
  harness.until([&near = near, &far = far] { return near.opened && far.opened; });
  EXPECT_EQ(near.transport->tls()->alpn, GetParam().chosen);
  EXPECT_EQ(far.transport->tls()->alpn, GetParam().chosen);
}

INSTANTIATE_TEST_SUITE_P(Table, TlsAlpn,
                         ::testing::Values(AlpnCase{{"h2", "http/1.1"}, {"h2", "http/1.1"}, "h2"},
                                           AlpnCase{{"http/1.1", "h2"}, {"h2", "http/1.1"}, "h2"},
                                           AlpnCase{{"http/1.1"}, {"h2", "http/1.1"}, "http/1.1"},
                                           AlpnCase{{}, {"h2", "http/1.1"}, ""}, AlpnCase{{"h2"}, {}, ""}));

TEST_F(TlsHandshake, EndsByAlertWhenTheClientOffersNoSupportedProtocol) {
  auto& ours = client({"spdy/3"});
  auto& theirs = server({"h2", "http/1.1"});
  auto [near, far] = harness.pair(ours, theirs);
  harness.until([&near = near, &far = far] { return near.over() && far.over(); });
  EXPECT_EQ(near.failure(), "tls_protocol_error");
  EXPECT_THAT(near.detail(), HasSubstr("no application protocol"));
  EXPECT_EQ(near.failed->origin, base::ErrorOrigin::kUpstream);
  EXPECT_EQ(far.failure(), "tls_protocol_error");
  EXPECT_EQ(far.failed->origin, base::ErrorOrigin::kDownstream);
}

TEST_F(TlsHandshake, ChoosesTheCertificateByServerName) {
  const auto other = test::issueServer(root, "*.other.test");
  auto& theirs = harness.server({{test::serverIdentity(leaf), test::serverIdentity(other)}, {"h2"}});
  for (const char* name : {"api.test", "www.other.test", "WWW.Other.Test"}) {
    auto& ours = client({"h2"}, name);
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near, &far = far] { return (near.opened && far.opened) || near.over(); });
    EXPECT_EQ(near.detail(), "");
    EXPECT_EQ(near.transport->tls()->alpn, "h2");
  }
  auto& stranger = client({}, "nobody.test");
  auto [near, far] = harness.pair(stranger, theirs);
  harness.until([&near = near] { return near.over(); });
  EXPECT_THAT(near.detail(), HasSubstr("hostname mismatch")) << "the first certificate, for want of a better one";
  EXPECT_FALSE(far.opened);
}

TEST_F(TlsHandshake, SendsIntermediatesAndNeedsThem) {
  test::CertificateSpec spec;
  spec.commonName = "intermediate";
  spec.authority = true;
  const auto intermediate = test::issue(root, spec);
  const auto deep = test::issueServer(intermediate, "api.test");
  auto& ours = client();
  for (const bool whole : {true, false}) {
    const std::string behind = whole ? intermediate.certificate : "";
    auto& theirs = harness.server({{test::serverIdentity(deep, behind)}, {}});
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near] { return near.opened || near.over(); });
    EXPECT_EQ(near.opened, whole);
    EXPECT_EQ(near.failure(), whole ? "" : "tls_certificate_error");
  }
}

TEST_F(TlsHandshake, HoldsBackBytesThatArriveBeforeTheOwnerReads) {
  auto& ours = client();
  test::RawTlsServer peer(leaf, nullptr, [](SSL* ssl, int) {
    SSL_write(ssl, "early", 5);
    SSL_shutdown(ssl);
    char byte = 0;
    EXPECT_EQ(SSL_read(ssl, &byte, 1), 0);
  });
  auto& near = harness.connect(peer.address(), ours);
  near.budget = 0;
  harness.until([&] { return near.opened; });
  EXPECT_EQ(near.received, "");
  near.budget = 1;
  harness.until([&] { return near.ended.has_value(); });
  EXPECT_EQ(near.received, "early");
  EXPECT_EQ(near.ended, true);
  harness.finish(near);
}

TEST(TlsContext, RefusesSettingsThatCannotWork) {
  const auto root = test::makeAuthority();
  const auto leaf = test::issueServer(root, "api.test");
  const auto trust = test::trustOf(root.certificate);
  const auto refused = [](const TlsClientSettings& settings) {
    const auto context = TlsClientContext::make(settings);
    EXPECT_EQ(ERR_peek_error(), 0u);
    return context.ok() ? std::string() : context.error().detail;
  };
  TlsClientSettings good;
  good.serverName = "api.test";
  good.trust = trust;
  EXPECT_EQ(refused(good), "");

  TlsClientSettings bad = good;
  bad.trust = nullptr;
  EXPECT_THAT(refused(bad), HasSubstr("no authorities"));
  bad = good;
  bad.serverName = "";
  EXPECT_THAT(refused(bad), HasSubstr("a name to verify"));
  bad = good;
  bad.serverName = ".test";
  EXPECT_THAT(refused(bad), HasSubstr("a name to verify"));
  bad = good;
  bad.clientCertificate = test::chainOf(leaf.certificate);
  EXPECT_THAT(refused(bad), HasSubstr("needs its key"));
  bad.clientKey = test::keyOf(root);
  EXPECT_THAT(refused(bad), HasSubstr("does not belong"));
  bad = good;
  bad.alpn = {""};
  EXPECT_THAT(refused(bad), HasSubstr("ALPN"));
  bad.alpn = {std::string(256, 'a')};
  EXPECT_THAT(refused(bad), HasSubstr("ALPN"));
  bad.alpn = {std::string(255, 'a')};
  EXPECT_EQ(refused(bad), "");

  EXPECT_FALSE(TlsServerContext::make({}).ok());
  EXPECT_FALSE(TlsServerContext::make({{{test::chainOf(leaf.certificate), test::keyOf(root)}}, {}}).ok());
  EXPECT_EQ(ERR_peek_error(), 0u);
}

}  // namespace
}  // namespace sluice::net
