// No other client's request may come on a Backend's connection that a client has logged in.
#include <gtest/gtest.h>

#include "test/exchange/rig_options.h"

namespace sluice::exchange {
namespace {

using http::Version;
using test::BackendPeer;
using test::ClientPeer;

class PinnedConnections : public ::testing::TestWithParam<Version> {
 protected:
  void start(bool refuse = false, std::uint64_t maxConnections = 1024) {
    test::RigOptions options = speaking(GetParam());
    options.maxConnections = maxConnections;
    rig_.emplace(options);
    rig_->exchanges.refuseConnectionAuth(refuse);
    alice_ = &rig_->connect(Version::kHttp11);
    mallory_ = &rig_->connect(Version::kHttp11);
  }
  std::size_t ask(ClientPeer& client, test::FieldList fields = {}) {
    const std::size_t index = client.ask({.target = "/ok", .fields = std::move(fields)});
    EXPECT_TRUE(rig_->settle());
    while (rig_->backends.size() < rig_->dialled()) rig_->accept(rig_->backends.size(), GetParam());
    return index;
  }
  /// Answers the request that is not answered yet. Returns the number of the connection that it came on.
  std::size_t answered(std::uint16_t status = 200, test::FieldList fields = {}) {
    for (std::size_t wire = 0; wire < rig_->backends.size(); ++wire) {
      BackendPeer& backend = *rig_->backends[wire];
      for (std::size_t i = 0; i < backend.requests(); ++i) {
        if (backend.request(i).response.end() != http::PipeEnd::kOpen || backend.request(i).reset) continue;
        backend.request(i).response.bytes.append("ok");
        backend.request(i).response.finish();
        backend.head(i, {.fields = std::move(fields), .body = http::Body::kLength, .length = 2, .status = status});
        EXPECT_TRUE(rig_->settle());
        return wire;
      }
    }
    ADD_FAILURE() << "no request came";
    return 0;
  }
  std::uint16_t statusOf(ClientPeer& client, std::size_t index) { return client.answer(index).message.head.status; }

  static inline const test::FieldList kChallenge = {{"www-authenticate", "NTLM"}};
  static inline const test::FieldList kCredentials = {{"authorization", "NTLM TlRMTVNTUAAB"}};

  std::optional<test::Rig> rig_;
  ClientPeer* alice_ = nullptr;
  ClientPeer* mallory_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(, PinnedConnections, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(PinnedConnections, AChallengeKeepsTheConnectionToTheClientThatGotIt) {
  start();
  ask(*alice_);
  const std::size_t own = answered(401, kChallenge);
  ask(*mallory_);
  EXPECT_NE(answered(), own);
  ask(*alice_);
  EXPECT_EQ(answered(), own) << "her handshake goes on where it began";
  ask(*mallory_);
  EXPECT_NE(answered(), own);
}

TEST_P(PinnedConnections, CredentialsKeepTheConnectionToTheClientThatSentThem) {
  start();
  ask(*mallory_);
  const std::size_t shared = answered();
  ask(*alice_, kCredentials);
  EXPECT_EQ(answered(), shared);
  ask(*mallory_);
  EXPECT_NE(answered(), shared);
  ask(*alice_);
  EXPECT_EQ(answered(), shared);
}

TEST_P(PinnedConnections, AConnectionGoesWithTheClientItBelongsTo) {
  start();
  ask(*alice_, kCredentials);
  const std::size_t own = answered();
  EXPECT_EQ(rig_->budget().connections.count(), 1U);
  alice_->wire().reset();
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(rig_->budget().connections.count(), 0U);
  ask(*mallory_);
  EXPECT_NE(answered(), own);
}

TEST_P(PinnedConnections, IdleConnectionsMakeRoomForOtherClients) {
  start(false, 1);
  ask(*alice_, kCredentials);
  answered();
  const std::size_t index = ask(*mallory_);
  rig_->advance(std::chrono::milliseconds(1));
  while (rig_->backends.size() < rig_->dialled()) rig_->accept(rig_->backends.size(), GetParam());
  answered();
  EXPECT_EQ(statusOf(*mallory_, index), 200);
}

TEST_P(PinnedConnections, ABusyConnectionThatEndsMakesRoomForAWaitingClient) {
  start(false, 1);
  const std::size_t own = ask(*alice_, kCredentials);
  const std::size_t index = ask(*mallory_);
  EXPECT_EQ(rig_->dialled(), 1U);
  answered();
  EXPECT_EQ(statusOf(*alice_, own), 200);
  while (rig_->backends.size() < rig_->dialled()) rig_->accept(rig_->backends.size(), GetParam());
  EXPECT_EQ(answered(), 1U);
  EXPECT_EQ(statusOf(*mallory_, index), 200);
}

TEST_P(PinnedConnections, OneClientKeepsFewIdleConnections) {
  start();
  ClientPeer& many = rig_->connect(Version::kHttp2);
  constexpr std::size_t kMany = 3 * upstream::Pins::kMostIdle;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < kMany; ++i) asked.push_back(ask(many, kCredentials));
  for (std::size_t i = 0; i < kMany; ++i) answered();
  EXPECT_LE(rig_->budget().connections.count(), upstream::Pins::kMostIdle);
}

TEST_P(PinnedConnections, OtherSchemesPinNothing) {
  start();
  ask(*alice_, {{"authorization", "Bearer x"}});
  const std::size_t shared = answered(401, {{"www-authenticate", "Basic realm=\"NTLM\""}});
  ask(*mallory_);
  EXPECT_EQ(answered(), shared);
}

TEST_P(PinnedConnections, RefusedSchemesReachNeitherBackendNorClient) {
  start(true);
  const std::size_t refused = ask(*alice_, kCredentials);
  EXPECT_EQ(statusOf(*alice_, refused), 403);
  EXPECT_TRUE(rig_->backends.empty());
  const std::size_t index = ask(*alice_);
  const std::size_t shared = answered(401, {{"www-authenticate", "NTLM"}, {"www-authenticate", "Basic realm=\"a\""}});
  const http::Headers& seen = alice_->answer(index).message.head.headers;
  ASSERT_NE(seen.find("www-authenticate"), nullptr);
  EXPECT_EQ(seen.find("www-authenticate")->value, "Basic realm=\"a\"");
  ask(*mallory_);
  EXPECT_EQ(answered(), shared);
}

/// HTTP/1.1 has one request at a time on a connection.
class PinnedSharedConnections : public PinnedConnections {};
INSTANTIATE_TEST_SUITE_P(, PinnedSharedConnections, ::testing::Values(Version::kHttp2));

// Both clients had sent their requests before either was challenged.
TEST_P(PinnedSharedConnections, ServeOneClientAfterTwoWereChallengedOnThem) {
  start();
  ask(*alice_);
  ask(*mallory_);
  ASSERT_EQ(rig_->dialled(), 1U);
  answered(401, kChallenge);
  answered(401, kChallenge);
  ask(*alice_, kCredentials);
  const std::size_t own = answered();
  ask(*mallory_, kCredentials);
  EXPECT_NE(answered(), own);
  ask(*mallory_);
  EXPECT_NE(answered(), own);
}

}  // namespace
}  // namespace sluice::exchange
