// Sessions are resumed within a context, never across contexts, and no more of them are kept than the bound.
#include <gtest/gtest.h>

#include "proxy/net/tls/tls_tickets.h"
#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

class TlsResumption : public ::testing::TestWithParam<int> {
 protected:
  static constexpr int kConnections = 4;

  TlsClientContext& context(const std::string& furtherAuthorities = {}) {
    TlsClientSettings settings;
    settings.serverName = "api.test";
    settings.trust = test::trustOf(root.certificate + furtherAuthorities);
    return harness.client(settings);
  }
  /// Makes one connection to its end. Returns true if it was resumed.
  bool resumes(const Address& to, TlsClientContext& with) {
    auto& near = harness.connect(to, with);
    harness.until([&] { return near.over(); });
    EXPECT_EQ(near.received, "hello") << near.detail();
    const bool resumed = near.transport->tls() != nullptr && near.transport->tls()->resumed;
    harness.destroy(near);
    return resumed;
  }
  std::unique_ptr<test::RawTlsServer> server(int connections) {
    const auto limit = [](SSL_CTX* raw) { SSL_CTX_set_max_proto_version(raw, GetParam()); };
    const auto greet = [](SSL* ssl, int accepted) {
      EXPECT_EQ(accepted, 1);
      SSL_write(ssl, "hello", 5);
      SSL_shutdown(ssl);
    };
    return std::make_unique<test::RawTlsServer>(leaf, limit, greet, connections);
  }

  test::CertifiedKey root = test::makeAuthority();
  test::CertifiedKey leaf = test::issueServer(root, "api.test");
  test::TlsHarness harness;
};

TEST_P(TlsResumption, WorksFromTheSecondConnectionOn) {
  const auto peer = server(4);
  auto& ours = context();
  EXPECT_FALSE(resumes(peer->address(), ours));
  EXPECT_TRUE(resumes(peer->address(), ours));
  EXPECT_TRUE(resumes(peer->address(), ours));
  EXPECT_TRUE(resumes(peer->address(), ours));
}

TEST_P(TlsResumption, NeverCrossesContexts) {
  const auto peer = server(3);
  auto& one = context();
  auto& other = context();
  EXPECT_FALSE(resumes(peer->address(), one));
  EXPECT_FALSE(resumes(peer->address(), other));
  EXPECT_TRUE(resumes(peer->address(), one));
}

// A full handshake would refuse these peers, so their sessions are not resumed either.
TEST_P(TlsResumption, EndsWithTheFirstCertificateOfTheChain) {
  test::CertificateSpec spec;
  spec.commonName = "intermediate";
  spec.authority = true;
  spec.notAfter = std::chrono::hours(2);
  const auto middle = test::issue(root, spec);
  leaf = test::issueServer(middle, "api.test");
  const auto peer = server(4);
  auto& ours = context(middle.certificate);
  EXPECT_FALSE(resumes(peer->address(), ours));
  harness.clock.ahead = std::chrono::minutes(119);
  EXPECT_TRUE(resumes(peer->address(), ours));
  EXPECT_TRUE(resumes(peer->address(), ours)) << "by a ticket of the resumed connection";
  harness.clock.ahead = std::chrono::minutes(121);
  EXPECT_FALSE(resumes(peer->address(), ours));
}

TEST_P(TlsResumption, EndsIfTheClockGoesBackBehindTheChain) {
  const auto peer = server(2);
  auto& ours = context();
  EXPECT_FALSE(resumes(peer->address(), ours));
  harness.clock.ahead = -std::chrono::hours(48);
  EXPECT_FALSE(resumes(peer->address(), ours));
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsResumption, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST(TlsServerResumption, IsGrantedByTheGatewaysServer) {
  const auto root = test::makeAuthority();
  TlsClientSettings settings;
  settings.serverName = "api.test";
  settings.trust = test::trustOf(root.certificate);
  test::TlsHarness harness;
  auto& ours = harness.client(settings);
  auto& theirs = harness.server({{test::serverIdentity(test::issueServer(root, "api.test"))}, {}});
  for (const bool expected : {false, true, true}) {
    auto [near, far] = harness.pair(ours, theirs);
    harness.until([&near = near, &far = far] { return near.opened && far.opened; });
    harness.send(far, "tickets come before this");
    harness.until([&near = near] { return !near.received.empty(); });
    EXPECT_EQ(near.transport->tls()->resumed, expected);
    EXPECT_EQ(far.transport->tls()->resumed, expected);
    EXPECT_EQ(far.transport->tls()->sni, "api.test");
    EXPECT_GT(near.transport->tls()->peerEnds, base::WallTime{}) << "a resumed session has the certificate, too";
    EXPECT_EQ(far.transport->tls()->peerEnds, base::WallTime{});
    harness.destroy(near);
    harness.destroy(far);
  }
}

TEST(TlsTickets, KeepTheYoungestUpToTheirBound) {
  TlsTickets tickets;
  const base::WallTime now{};
  EXPECT_EQ(tickets.take(now).session, nullptr);
  const auto add = [&tickets](int version, unsigned char id) {
    SslSession session(SSL_SESSION_new());
    SSL_SESSION_set_protocol_version(session.get(), version);
    SSL_SESSION_set1_id(session.get(), &id, 1);
    SSL_SESSION* raw = session.get();
    tickets.store({std::move(session), {}});
    return raw;
  };
  SSL_SESSION* const reusable = add(TLS1_2_VERSION, 200);
  for (std::size_t i = 0; i <= TlsTickets::kMaxTickets; ++i) add(TLS1_3_VERSION, static_cast<unsigned char>(i));
  EXPECT_EQ(tickets.size(), TlsTickets::kMaxTickets);
  for (std::size_t i = TlsTickets::kMaxTickets; i > 0; --i) {
    const SslSession session = tickets.take(now).session;
    unsigned int size = 0;
    EXPECT_EQ(*SSL_SESSION_get_id(session.get(), &size), i) << "youngest first, once each; the oldest fell out";
  }
  EXPECT_EQ(tickets.take(now).session.get(), reusable);
  EXPECT_EQ(tickets.take(now).session.get(), reusable) << "a session of TLS 1.2 may be used again";
}

}  // namespace
}  // namespace sluice::net
