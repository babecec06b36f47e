// Tests Secrets of which one part is replaced before the other, as people and slow tools do it: the last good pair
// serves on, as long as the Secret is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class HalfRotatedSecrets : public testing::Test {
 protected:
  /// Serves the configuration without that Secret, which has this pair.
  static void removeSecret(GatewayProcess& gateway, const std::string& name, const CertifiedKey& pair) {
    std::string text = gateway.configuration();
    const std::string secret = tlsSecretOf(name, pair);
    const std::size_t at = text.find(secret);
    ASSERT_NE(at, std::string::npos);
    gateway.reloadText(text.erase(at, secret.size()), "success");
  }

  const CertifiedKey root_ = makeAuthority();
  TempDir folder_;
  const std::string ca_ = folder_.write("ca.crt", root_.certificate);
};

class HalfRotatedListenerCertificate : public HalfRotatedSecrets {
 protected:
  HalfRotatedListenerCertificate() { spec_.tls = first_; }

  /// Returns the body of the answer to a client that wants a certificate with this name; empty if it got none.
  std::string ask(const GatewayProcess& gateway, const std::string& name) const {
    const std::string at = name + ":" + std::to_string(gateway.tlsPort());
    return run({"curl", "-sS", "--cacert", ca_, "--resolve", at + ":127.0.0.1", "https://" + at + "/"}).output;
  }

  RawOrigin origin_{RawOrigin::answering(saying("served"))};
  const CertifiedKey first_ = issueServer(root_, "first.test");
  const CertifiedKey second_ = issueServer(root_, "second.test");
  GatewaySpec spec_ = towards(origin_);
};

TEST_F(HalfRotatedListenerCertificate, ServesOnUntilTheKeyIsReplacedToo) {
  GatewayProcess gateway(spec_);
  EXPECT_EQ(ask(gateway, "first.test"), "served");
  spec_.tls = CertifiedKey{second_.certificate, first_.key};
  gateway.reload(spec_);
  EXPECT_EQ(ask(gateway, "first.test"), "served");
  const std::string status = gateway.adminGet("/status");
  EXPECT_THAT(status, HasSubstr("tls.key does not belong to tls.crt; the last good pair serves on until 20"));
  EXPECT_THAT(status, HasSubstr(R"("type":"Degraded","status":"True","reason":"InvalidCertificateRef")"));
  gateway.reload(spec_, "unchanged");
  EXPECT_EQ(ask(gateway, "first.test"), "served");

  spec_.tls = second_;
  gateway.reload(spec_);
  EXPECT_EQ(ask(gateway, "second.test"), "served");
  EXPECT_EQ(ask(gateway, "first.test"), "") << "that certificate is gone";
  EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("serves on")));
}

TEST_F(HalfRotatedListenerCertificate, ClosesWithItsSecret) {
  GatewayProcess gateway(spec_);
  const CertifiedKey half{second_.certificate, first_.key};
  spec_.tls = half;
  gateway.reload(spec_);
  EXPECT_EQ(ask(gateway, "first.test"), "served");
  removeSecret(gateway, "listener", half);
  EXPECT_TRUE(eventually([&] { return !BlockingSocket::connect(gateway.tlsPort()).ok(); }));
  gateway.reload(spec_);
  EXPECT_FALSE(BlockingSocket::connect(gateway.tlsPort()).ok()) << "the pair does not come back";
}

TEST_F(HalfRotatedListenerCertificate, SurvivesTheProcessInTheStateFolderAlone) {
  const TempDir state;
  for (const bool keeps : {true, false}) {
    GatewaySpec spec = towards(origin_);
    spec.tls = first_;
    if (keeps) spec.options = {"--state-dir", state.path() + "/state"};
    GatewayProcess gateway(spec);
    spec.tls = CertifiedKey{second_.certificate, first_.key};
    gateway.reload(spec);
    EXPECT_EQ(ask(gateway, "first.test"), "served");
    gateway.reload(spec, "unchanged");  // what is served was stored before it is read again
    gateway.kill();
    gateway.startAgain();
    EXPECT_EQ(ask(gateway, "first.test"), keeps ? "served" : "");
  }
}

TEST_F(HalfRotatedSecrets, OfABackendLetItsClientCertificateServeOn) {
  const std::uint16_t port = freePort();
  const CertifiedKey server = issueServer(root_, "origin.test");
  ChildProcess origin({"openssl", "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-www", "-cert",
                       folder_.write("origin.crt", server.certificate), "-key", folder_.write("origin.key", server.key),
                       "-CAfile", ca_, "-Verify", "1", "-verify_return_error"});
  ASSERT_TRUE(waitForPort(port)) << origin.errors();
  const CertifiedKey first = issueClient(root_, "tenant-one");
  const CertifiedKey second = issueClient(root_, "tenant-two");
  GatewaySpec spec;
  spec.backends = {{.port = port, .ca = root_.certificate, .client = first}};
  GatewayProcess gateway(spec);
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("tenant-one"));
  spec.backends[0].client = CertifiedKey{second.certificate, first.key};
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("tenant-one"));
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr(R"("type":"Degraded","status":"True","reason":"InvalidClientCertificateRef")"));
  spec.backends[0].client = second;
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("tenant-two"));
  spec.backends[0].client = CertifiedKey{first.certificate, second.key};
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("tenant-two"));
  removeSecret(gateway, "origin-client", *spec.backends[0].client);
  EXPECT_EQ(statusOf(gateway, "/"), "500");
}

}  // namespace
}  // namespace sluice::test
