// A listener asks its clients for a certificate, refuses the wrong ones with the right alert, and never resumes a
// connection that it has a demand for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/net/tls/tls_context.h"
#include "proxy/pki/client_rules.h"
#include "test/net/raw_tls_client.h"
#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TlsDemand : public ::testing::TestWithParam<int> {
 protected:
  static bool is13() { return GetParam() == TLS1_3_VERSION; }

  std::shared_ptr<const TlsClientDemand> demand(bool required = true, bool refuses = true) {
    auto rules = std::make_shared<pki::ClientRules>();
    rules->trust = std::make_shared<const pki::TrustStore>(
        pki::TrustStore::parse(clients.certificate + furtherAuthorities, lists).value());
    return std::make_shared<const TlsClientDemand>(
        TlsClientDemand{.rules = std::move(rules), .required = required, .refuses = refuses});
  }
  TlsServerIdentity identity(const std::string& name, std::shared_ptr<const TlsClientDemand> demanded) {
    TlsServerIdentity made = test::serverIdentity(test::issueServer(root, name));
    made.clients = std::move(demanded);
    return made;
  }
  const TlsServerContext& demanding(bool required = true, bool refuses = true) {
    return harness.server({{identity("api.test", demand(required, refuses))}, {}});
  }
  /// Returns a client that shows a certificate, or none if there is none.
  TlsClientContext& client(const std::optional<test::CertifiedKey>& shown, const std::string& name = "api.test") {
    TlsClientSettings settings;
    settings.serverName = name;
    settings.subjectAltNames = {"api.test", "open.test"};
    settings.trust = test::trustOf(root.certificate);
    if (is13()) settings.minVersion = "1.3";
    if (!is13()) settings.cipherSuites = {"ECDHE-ECDSA-AES128-GCM-SHA256"};
    if (shown) {
      settings.clientCertificate = test::chainOf(shown->certificate);
      settings.clientKey = test::keyOf(*shown);
    }
    return harness.client(settings);
  }
  std::pair<test::TlsEnd&, test::TlsEnd&> opened(TlsClientContext& ours, const TlsServerContext& theirs) {
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near, &far = far] { return (near.opened && far.opened) || near.over() || far.over(); });
    EXPECT_TRUE(near.opened && far.opened) << near.detail() << "; " << far.detail();
    EXPECT_EQ(far.transport->tls()->version, is13() ? "1.3" : "1.2");
    return {near, far};
  }
  /// Tries a handshake that the server must refuse. Returns its reason, and in brackets the alert that the client gets.
  std::string refusal(const std::optional<test::CertifiedKey>& shown, const TlsServerContext& theirs) {
    auto [near, far] = harness.pair(client(shown), theirs);
    harness.until([&near = near, &far = far] { return near.over() && far.over(); });
    EXPECT_FALSE(far.opened);
    EXPECT_EQ(far.failure(), "tls_certificate_error");
    EXPECT_EQ(near.failure(), "tls_certificate_error") << near.detail();
    if (!far.failed) return "";
    EXPECT_EQ(far.failed->origin, base::ErrorOrigin::kDownstream);
    const std::string alert = "TLS alert: ";
    const std::size_t at = near.detail().find(alert);
    return far.detail() + " [" + (at == std::string::npos ? "" : near.detail().substr(at + alert.size()));
  }
  static std::string refused(const std::string& rule, const std::string& alert) {
    return "the client's certificate is refused: " + rule + " [" + alert + ")";
  }

  test::CertifiedKey root = test::makeAuthority();
  test::CertifiedKey clients = test::makeAuthority("Clients");
  std::string furtherAuthorities;
  std::string lists;
  test::TlsHarness harness;
};

TEST_P(TlsDemand, AdmitsTheRightCertificate) {
  const auto middle = test::makeIntermediate(clients);
  const auto mine = test::issueWorkload(middle, "spiffe://cluster.local/ns/a/sa/b");
  auto [near, far] = opened(client(test::withChain(mine, middle)), demanding());
  EXPECT_EQ(near.transport->clientChain(), nullptr) << "the peer is a server";
  const auto chain = far.transport->clientChain();
  ASSERT_NE(chain, nullptr);
  EXPECT_THAT(chain->uris(), ElementsAre("spiffe://cluster.local/ns/a/sa/b"));
  EXPECT_EQ(chain->others().size(), 1U) << "the authority in between, as the client has shown it";
  harness.send(near, "ping");
  harness.until([&far = far] { return far.received == "ping"; });
  harness.destroy(far);
  EXPECT_EQ(chain->uris().size(), 1U) << "after the connection";
}

TEST_P(TlsDemand, RefusesTheWrongOnesWithTheirAlerts) {
  const auto good = test::issueClient(clients, "good");
  const auto revoked = test::issueClient(clients, "revoked");
  lists = test::revocationList(clients, {revoked});
  const TlsServerContext& theirs = demanding();
  test::CertificateSpec spec;
  spec.extendedKeyUsage = "clientAuth";
  EXPECT_EQ(refusal(test::selfSigned(spec), theirs), refused("untrusted issuer", "unknown CA"));
  EXPECT_EQ(refusal(test::issueClient(test::makeAuthority("Clients"), "a"), theirs),
            refused("untrusted issuer", "unknown CA"));
  EXPECT_EQ(refusal(test::issueClient(test::makeIntermediate(clients), "a"), theirs),
            refused("untrusted issuer", "unknown CA"));
  EXPECT_EQ(refusal(revoked, theirs), refused("revoked", "certificate revoked"));
  EXPECT_EQ(refusal(test::issueServer(clients, "a.test"), theirs),
            refused("its extendedKeyUsage is not that of a client", "unsupported certificate"));
  spec.notAfter = std::chrono::seconds(-1);
  EXPECT_EQ(refusal(test::issue(clients, spec), theirs), refused("expired", "certificate expired"));
  spec.notBefore = std::chrono::hours(1);
  spec.notAfter = std::chrono::hours(2);
  EXPECT_EQ(refusal(test::issue(clients, spec), theirs), refused("not yet valid", "bad certificate"));
  opened(client(good), theirs);
}

TEST_P(TlsDemand, RefusesByKeysAndNamesToo) {
  const auto mine = test::issueClient(clients, "a");
  auto rules = std::make_shared<pki::ClientRules>(*demand()->rules);
  rules->names = {{pki::AdmittedName::Kind::kUri, pki::AdmittedName::Match::kExact, "urn:a"}};
  const auto named = std::make_shared<const TlsClientDemand>(TlsClientDemand{.rules = rules});
  EXPECT_EQ(refusal(mine, harness.server({{identity("api.test", named)}, {}})),
            refused("none of its names is admitted", "bad certificate"));
  rules = std::make_shared<pki::ClientRules>(*demand()->rules);
  rules->keys = {pki::parseSpkiPin(test::spkiPin(clients)).value()};
  const auto keyed = std::make_shared<const TlsClientDemand>(TlsClientDemand{.rules = rules});
  EXPECT_EQ(refusal(mine, harness.server({{identity("api.test", keyed)}, {}})),
            refused("neither its key nor the certificate is one of those admitted", "bad certificate"));
}

TEST_P(TlsDemand, GoesByTheWorkersClock) {
  const auto mine = test::issueClient(clients, "a");
  const TlsServerContext& theirs = demanding();
  opened(client(mine), theirs);
  harness.clock.ahead = std::chrono::hours(25);
  EXPECT_EQ(refusal(mine, theirs), refused("expired", "certificate expired"));
}

TEST_P(TlsDemand, RefusesAClientWithoutACertificate) {
  EXPECT_EQ(refusal(std::nullopt, demanding()), std::string("the client shows no certificate [") +
                                                    (is13() ? "certificate required)" : "handshake failure)"));
}

TEST_P(TlsDemand, AdmitsAClientWithoutACertificateIfItIsOptional) {
  const TlsServerContext& theirs = demanding(false);
  EXPECT_EQ(opened(client(std::nullopt), theirs).second.transport->clientChain(), nullptr);
  EXPECT_NE(opened(client(test::issueClient(clients, "a")), theirs).second.transport->clientChain(), nullptr);
  EXPECT_EQ(refusal(test::issueClient(root, "a"), theirs), refused("untrusted issuer", "unknown CA"));
}

TEST_P(TlsDemand, AdmitsAnyClientIfItRefusesNone) {
  for (const bool required : {true, false}) {
    const TlsServerContext& theirs = demanding(required, false);
    EXPECT_EQ(opened(client(std::nullopt), theirs).second.transport->clientChain(), nullptr);
    const auto chain = opened(client(test::issueClient(root, "wrong")), theirs).second.transport->clientChain();
    ASSERT_NE(chain, nullptr);
    EXPECT_EQ(chain->subject(), "CN=wrong");
    EXPECT_FALSE(demand()->rules->verify(*chain, harness.clock.wallNow()).ok());
  }
}

TEST_P(TlsDemand, DependsOnTheServerName) {
  const auto mine = test::issueClient(clients, "a");
  for (const bool demandingFirst : {true, false}) {
    std::vector<TlsServerIdentity> identities = {identity("api.test", demand()), identity("open.test", nullptr)};
    if (!demandingFirst) std::swap(identities[0], identities[1]);
    const TlsServerContext& theirs = harness.server({identities, {}});
    EXPECT_THAT(refusal(std::nullopt, theirs), HasSubstr("shows no certificate"));
    EXPECT_NE(opened(client(mine), theirs).second.transport->clientChain(), nullptr);
    EXPECT_EQ(opened(client(std::nullopt, "open.test"), theirs).second.transport->clientChain(), nullptr);
    EXPECT_EQ(opened(client(mine, "open.test"), theirs).second.transport->clientChain(), nullptr) << "not asked for";
    // No server name, and one that no certificate has: the first identity is used, and its demand.
    for (const char* other : {"127.0.0.1", "nobody.test"}) {
      auto [near, far] = harness.pair(client(std::nullopt, other), theirs);
      harness.until([&far = far] { return far.opened || far.over(); });
      EXPECT_EQ(far.opened, !demandingFirst) << other << ": " << far.detail();
      harness.until([&near = near] { return near.opened || near.over(); });
      auto& shown = opened(client(mine, other), theirs).second;
      EXPECT_EQ(shown.transport->clientChain() != nullptr, demandingFirst) << other;
    }
  }
}

TEST_P(TlsDemand, OfOneNameIsNotThatOfAnother) {
  const auto others = test::makeAuthority("Others");
  const auto mine = test::issueClient(clients, "a");
  const auto theirs = test::issueClient(others, "b");
  const auto ofApi = demand();
  clients = others;
  const TlsServerContext& both = harness.server({{identity("open.test", demand()), identity("api.test", ofApi)}, {}});
  opened(client(mine), both);
  opened(client(theirs, "open.test"), both);
  EXPECT_EQ(refusal(theirs, both), refused("untrusted issuer", "unknown CA"));
}

TEST_P(TlsDemand, IsNeverMetByAResumedSession) {
  for (const bool refuses : {true, false}) {
    auto& ours = client(test::issueClient(clients, "a"));
    const TlsServerContext& theirs = demanding(true, refuses);
    for (int i = 0; i < 3; ++i) {
      auto [near, far] = opened(ours, theirs);
      harness.send(far, "tickets would come before this");
      harness.until([&near = near] { return !near.received.empty(); });
      EXPECT_FALSE(near.transport->tls()->resumed);
      EXPECT_NE(far.transport->clientChain(), nullptr);
      harness.destroy(near);
      harness.destroy(far);
    }
  }
}

/// The result of a raw client.
struct RawVisit {
  int connected = 0;
  bool resumed = false;
  SSL_SESSION* session = nullptr;
  int authorities = 0;
};

class TlsDemandOfRawClients : public TlsDemand {
 protected:
  ~TlsDemandOfRawClients() override {
    for (SSL_SESSION* each : sessions) SSL_SESSION_free(each);
  }
  /// Makes a connection for a name, with a session and a certificate if they are given.
  RawVisit visit(const TlsServerContext& theirs, const std::string& name, SSL_SESSION* session = nullptr,
                 const std::optional<test::CertifiedKey>& shown = std::nullopt) {
    RawVisit seen;
    test::RawTlsClient peer(
        harness.listener.address(), GetParam(),
        [&](SSL* ssl) {
          test::RawTlsClient::askFor(ssl, name);
          if (session != nullptr) SSL_set_session(ssl, session);
          if (shown) test::RawTlsClient::show(ssl, *shown);
        },
        [&seen](SSL* ssl, int connected) {
          char byte = 0;
          seen.connected = connected == 1 && SSL_read(ssl, &byte, 1) == 1 ? 1 : 0;
          seen.resumed = SSL_session_reused(ssl) == 1;
          seen.session = SSL_get1_session(ssl);
          seen.authorities = sk_X509_NAME_num(SSL_get0_peer_CA_list(ssl));
        });
    test::TlsEnd& far = harness.adopt(harness.listener.accept(), theirs);
    harness.until([&far] { return far.opened || far.over(); });
    if (far.opened) harness.send(far, "x");
    peer.join();
    sessions.push_back(seen.session);
    EXPECT_EQ(far.opened, seen.connected == 1);
    return seen;
  }

  std::vector<SSL_SESSION*> sessions;
};

TEST_P(TlsDemandOfRawClients, IsNotMetByASessionOfANameWithoutOne) {
  const auto mine = test::issueClient(clients, "a");
  for (const bool demandingFirst : {true, false}) {
    std::vector<TlsServerIdentity> identities = {identity("api.test", demand()), identity("open.test", nullptr)};
    if (!demandingFirst) std::swap(identities[0], identities[1]);
    const TlsServerContext& theirs = harness.server({identities, {}});
    const RawVisit open = visit(theirs, "open.test");
    EXPECT_EQ(open.connected, 1);
    EXPECT_EQ(SSL_SESSION_is_resumable(open.session), 1) << "the other name has tickets as ever";
    SSL_SESSION* const copy = SSL_SESSION_dup(open.session);
    sessions.push_back(copy);
    EXPECT_TRUE(visit(theirs, "open.test", copy).resumed);

    for (SSL_SESSION* session : {open.session, copy}) {
      SSL_SESSION* const once = SSL_SESSION_dup(session);
      sessions.push_back(once);
      EXPECT_EQ(visit(theirs, "api.test", once).connected, 0) << "it has shown no certificate";
      SSL_SESSION* const again = SSL_SESSION_dup(session);
      sessions.push_back(again);
      const RawVisit shown = visit(theirs, "api.test", again, mine);
      EXPECT_EQ(shown.connected, 1);
      EXPECT_FALSE(shown.resumed);
      EXPECT_EQ(SSL_SESSION_is_resumable(shown.session), 0) << "no ticket is given";
    }
  }
}

TEST_P(TlsDemandOfRawClients, SendsTheNamesOfItsAuthoritiesOrNone) {
  const auto mine = test::issueClient(clients, "a");
  const auto other = test::makeAuthority("Other");
  furtherAuthorities = other.certificate;
  EXPECT_EQ(visit(demanding(), "api.test", nullptr, mine).authorities, 2);
  const std::string padding(50, 'x');
  for (int i = 0; i < 250; ++i) {
    furtherAuthorities += test::makeAuthority(padding + std::to_string(i)).certificate;
  }
  const RawVisit seen = visit(demanding(), "api.test", nullptr, mine);
  EXPECT_LE(seen.authorities, 0) << "too many for each handshake";
  EXPECT_EQ(seen.connected, 1);
}

/// Asks for another name, or for none, in the second hello. Called with each message of a handshake.
void changeName(int sent, int /*version*/, int type, const void* bytes, size_t /*size*/, SSL* ssl, void* name) {
  constexpr unsigned char kServerHello = 2;
  if (sent != 0 || type != SSL3_RT_HANDSHAKE || *static_cast<const unsigned char*>(bytes) != kServerHello) return;
  auto& second = *static_cast<std::optional<std::string>*>(name);
  if (second) SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, second->data());
  second.reset();
}

class TlsSecondHello : public TlsDemandOfRawClients {};

// The server asks for a second hello, because the client has guessed the wrong group.
TEST_P(TlsSecondHello, DecidesOnTheDemandByItsName) {
  for (const bool demandingFirst : {true, false}) {
    std::vector<TlsServerIdentity> identities = {identity("api.test", demand()), identity("open.test", nullptr)};
    if (!demandingFirst) std::swap(identities[0], identities[1]);
    const TlsServerContext& theirs = harness.server({identities, {}});
    for (const auto& each : theirs.state().certificates) {
      EXPECT_EQ(SSL_CTX_ctrl(each.context.get(), SSL_CTRL_SET_GROUPS_LIST, 0, const_cast<char*>("P-256")), 1);
    }
    for (const auto& [first, last] : std::vector<std::pair<std::string, std::string>>{
             {"open.test", "api.test"}, {"api.test", "open.test"}, {"open.test", ""}, {"api.test", ""}}) {
      std::optional<std::string> second = last;
      test::RawTlsClient peer(
          harness.listener.address(), GetParam(),
          [&](SSL* ssl) {
            test::RawTlsClient::askFor(ssl, first);
            SSL_ctrl(ssl, SSL_CTRL_SET_GROUPS_LIST, 0, const_cast<char*>("X25519:P-256"));
            SSL_set_msg_callback(ssl, changeName);
            SSL_set_msg_callback_arg(ssl, &second);
          },
          [](SSL* ssl, int) {
            char byte = 0;
            SSL_read(ssl, &byte, 1);
          });
      test::TlsEnd& far = harness.adopt(harness.listener.accept(), theirs);
      harness.until([&far] { return far.opened || far.over(); });
      const bool demanded = last == "api.test" || (last.empty() && demandingFirst);
      EXPECT_EQ(far.opened, !demanded) << first << " and then " << last;
      if (far.opened) {
        EXPECT_EQ(far.transport->tls()->sni, last);
        harness.send(far, "x");
      }
      peer.join();
      EXPECT_FALSE(second.has_value()) << "there was a second hello";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Version, TlsSecondHello, ::testing::Values(TLS1_3_VERSION));
INSTANTIATE_TEST_SUITE_P(Versions, TlsDemand, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));
INSTANTIATE_TEST_SUITE_P(Versions, TlsDemandOfRawClients, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

}  // namespace
}  // namespace sluice::net
