// Tests clients that try to have a TLS session, an open connection or another listener vouch for them when their
// certificate no longer does. A client with a good certificate is served meanwhile.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/identity/caller_stage.h"
#include "test/integration/identity/openssl_client.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/wall_clock.h"

namespace sluice::test {
namespace {

struct SessionAttack {
  const char* name;
  const char* version;  // an option of openssl s_client
};

class StolenIdentities : public testing::TestWithParam<SessionAttack> {
 protected:
  void start() {
    stage_.spec.startedBy = clock_.startedBy();
    for (const std::string& word : passed_.startedBy()) stage_.spec.startedBy.push_back(word);
    stage_.start();
    attack_.emplace(*stage_.gateway, [this] { return stage_.status(stage_.secure, victim_) == 200; });
  }
  bool isServed(std::uint16_t port, std::vector<std::string> options) const {
    options.emplace_back(GetParam().version);
    return askByOpenssl(port, options).find("HTTP/1.1 200") != std::string::npos;
  }
  std::vector<std::string> with(const CertifiedKey& client, std::vector<std::string> options) const {
    options.insert(options.end(), {"-cert", folder_.write("client.crt", client.certificate), "-key",
                                   folder_.write("client.key", client.key)});
    return options;
  }
  /// Returns the options that offer the session in the file, if the gateway has given one.
  static std::vector<std::string> resuming(const std::string& file) {
    return readFile(file).empty() ? std::vector<std::string>() : std::vector<std::string>{"-sess_in", file};
  }
  void moveClock(std::chrono::seconds by) {
    clock_.setOff(by);
    passed_.pass(*stage_.gateway, std::chrono::seconds(2));
  }
  CertifiedKey shortLived() const {
    CertificateSpec spec;
    spec.notAfter = std::chrono::hours(1);
    return clientOf(stage_.authority, {spiffeId("shop", "cart")}, spec);
  }

  WallClock clock_;
  PassedTime passed_;
  CallerStage stage_;
  const CertifiedKey victim_ = stage_.account("shop", "victim");
  const TempDir folder_;
  const std::string session_ = folder_.path() + "/session.pem";
  std::optional<Attack> attack_;  // ends before the gateway
};

TEST_P(StolenIdentities, AreNotResumedAfterTheirCertificateHasExpired) {
  start();
  const CertifiedKey client = shortLived();
  EXPECT_TRUE(isServed(stage_.secure, with(client, {"-sess_out", session_})));
  moveClock(std::chrono::hours(2));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(isServed(stage_.secure, with(client, resuming(session_))));
    EXPECT_FALSE(isServed(stage_.secure, resuming(session_)));
  }
  attack_->stands();
}

TEST_P(StolenIdentities, AreNotResumedAfterTheirCertificateWasRevoked) {
  start();
  const CertifiedKey client = stage_.account("shop", "cart");
  EXPECT_TRUE(isServed(stage_.secure, with(client, {"-sess_out", session_})));
  stage_.revoked = revocationList(stage_.authority, {client});
  stage_.reload();
  EXPECT_FALSE(isServed(stage_.secure, with(client, resuming(session_))));
  EXPECT_FALSE(isServed(stage_.secure, resuming(session_)));
  attack_->stands();
}

// A client that may connect to a listener without a certificate gets a session of it, which must not open another one.
TEST_P(StolenIdentities, AreNotGivenByASessionOfAnotherListener) {
  start();
  ASSERT_TRUE(isServed(stage_.unasked, {"-sess_out", session_}));
  ASSERT_FALSE(readFile(session_).empty());
  EXPECT_TRUE(isServed(stage_.unasked, resuming(session_)));
  EXPECT_FALSE(isServed(stage_.secure, resuming(session_)));
  attack_->stands();
}

TEST_P(StolenIdentities, AreNotGivenByASessionFromBeforeCertificatesWereAskedFor) {
  start();
  ASSERT_TRUE(isServed(stage_.unasked, {"-sess_out", session_}));
  ASSERT_FALSE(readFile(session_).empty());
  stage_.asksEverywhere = true;
  stage_.makeListeners();
  stage_.reload();
  EXPECT_FALSE(isServed(stage_.unasked, resuming(session_)));
  EXPECT_TRUE(isServed(stage_.unasked, with(stage_.account("shop", "cart"), resuming(session_))));
  attack_->stands();
}

INSTANTIATE_TEST_SUITE_P(Versions, StolenIdentities,
                         testing::Values(SessionAttack{"Tls12", "-tls1_2"}, SessionAttack{"Tls13", "-tls1_3"}),
                         [](const auto& given) { return given.param.name; });

// The connection was open before the certificate expired. Whatever is sent on it afterwards reaches nobody.
TEST(ExpiredCallers, ReachNothingOnTheirOpenConnections) {
  WallClock clock;
  PassedTime passed;
  CallerStage stage;
  stage.spec.startedBy = clock.startedBy();
  for (const std::string& word : passed.startedBy()) stage.spec.startedBy.push_back(word);
  stage.start();
  const CertifiedKey victim = stage.account("shop", "victim");
  Attack attack(*stage.gateway, [&] { return stage.status(stage.secure, victim) == 200; });
  CertificateSpec spec;
  spec.notAfter = std::chrono::hours(1);
  const CertifiedKey client = clientOf(stage.authority, {spiffeId("shop", "cart")}, spec);
  const TlsDoor door = stage.door(stage.secure, client);
  std::vector<BlockingSocket> connections;
  for (int i = 0; i < inThisRun(20, 200); ++i) {
    connections.push_back(BlockingSocket::connect(door.port()));
    EXPECT_EQ(askRaw(connections.back()).status, 200);
  }
  clock.setOff(std::chrono::hours(2));
  passed.pass(*stage.gateway, std::chrono::seconds(2));
  const std::string secret = "GET /expired HTTP/1.1\r\nHost: a\r\n\r\n";
  for (BlockingSocket& each : connections) {
    EXPECT_EQ(askRaw(each, secret).status, 401);
    each.readAll();
    EXPECT_TRUE(each.closed());
  }
  attack.stands();
  for (const std::string& head : stage.origin.heads()) EXPECT_EQ(head.find("/expired"), std::string::npos) << head;
}

}  // namespace
}  // namespace sluice::test
