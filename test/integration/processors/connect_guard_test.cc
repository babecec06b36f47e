// Tests steps of connect that judge addresses and certificates, with real connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kCertifiedHost = "www.example.test";

/// Returns the list of extensions of a Backend with one guard.
std::string guarded(const std::string& config) {
  return "[{name: guard, type: 'sluice.dev/ConnectGuard:v1', config: {" + config + "}}]";
}

GatewaySpec guardedOrigin(std::uint16_t port, const std::string& config, const std::string& addresses = "127.0.0.1") {
  return {.backends = {{.port = port, .addresses = addresses, .extensions = guarded(config)}}};
}

TEST(ConnectGuards, DenyAddressesAndPorts) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  const std::string port = std::to_string(origin.port());
  for (const auto& [config, status] : {std::pair("allow: [{cidrs: [127.0.0.0/8], ports: [" + port + "]}]", "200"),
                                       std::pair(std::string("allow: [{cidrs: [10.0.0.0/8]}]"), "403"),
                                       std::pair("deny: [{ports: [" + port + "]}]", "403")}) {
    const int before = origin.connections();
    const GatewayProcess gateway(guardedOrigin(origin.port(), config));
    const std::string answer = ask(gateway, "/");
    EXPECT_THAT(answer, StartsWith(std::string("HTTP/1.1 ") + status)) << config;
    if (std::string(status) == "200") continue;
    EXPECT_THAT(answer, HasSubstr("http_request_denied"));
    EXPECT_EQ(origin.connections(), before) << "it is denied before it is connected";
  }
}

/// Nothing listens at the first address.
TEST(ConnectGuards, NarrowTheChoice) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  const std::string addresses = "127.0.0.2, 127.0.0.1";
  EXPECT_EQ(statusOf(GatewayProcess(guardedOrigin(origin.port(), "deny: [{cidrs: [127.0.0.2]}]", addresses)), "/"),
            "200");
  EXPECT_EQ(statusOf(GatewayProcess(guardedOrigin(origin.port(), "allow: [{cidrs: [127.0.0.2]}]", addresses)), "/"),
            "503");
}

/// Two origins with certificates of their own, at two addresses with one port.
class CertifiedOrigins : public testing::Test {
 protected:
  static std::string digits(const CertifiedKey& identity) { return certificateDigest(identity); }
  GatewaySpec spec(const std::string& config, const std::string& addresses = "127.0.0.1") const {
    return {.backends = {{.port = first_.port(),
                          .ca = root_.certificate,
                          .sni = kCertifiedHost,
                          .addresses = addresses,
                          .extensions = guarded(config)}}};
  }
  std::string fingerprints(const CertifiedKey& identity) const {
    return "{fingerprints: ['" + digits(identity) + "']}";
  }

  const CertifiedKey root_ = makeAuthority();
  const CertifiedKey one_ = issueServer(root_, kCertifiedHost);
  const CertifiedKey two_ = issueServer(root_, kCertifiedHost);
  EchoOrigin first_{one_};
  EchoOrigin second_{two_, {"--listen", "127.0.0.2:" + std::to_string(first_.port())}};
};

TEST_F(CertifiedOrigins, AreTakenByTheNameThatTlsAsksFor) {
  EXPECT_EQ(statusOf(GatewayProcess(spec("allow: [{sni: ['*.example.test']}]")), "/"), "200");
  EXPECT_EQ(statusOf(GatewayProcess(spec("deny: [{sni: ['*.example.test']}]")), "/"), "403");
}

TEST_F(CertifiedOrigins, AreTakenByTheirCertificate) {
  const GatewayProcess allowed(spec("allow: [" + fingerprints(one_) + "]"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf(allowed, "/"), "200") << "the connection is judged each time";
  for (const std::string& config : {"allow: [" + fingerprints(two_) + "]", "deny: [" + fingerprints(one_) + "]"}) {
    const GatewayProcess denied(spec(config));
    for (int i = 0; i < 3; ++i)
      EXPECT_THAT(ask(denied, "/"), AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("http_request_denied")));
  }
}

TEST_F(CertifiedOrigins, AreLeftOutIfAnotherAddressHasTheRightOne) {
  for (const auto& identity : {one_, two_}) {
    const GatewayProcess gateway(spec("allow: [" + fingerprints(identity) + "]", "127.0.0.1, 127.0.0.2"));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(statusOf(gateway, "/"), "200");
    EXPECT_EQ(statusOf(gateway, "/", {"--data-binary", std::string(100'000, 'a')}), "200") << "with a body";
  }
  const GatewayProcess none(
      spec("deny: [" + fingerprints(one_) + ", " + fingerprints(two_) + "]", "127.0.0.1, 127.0.0.2"));
  EXPECT_EQ(statusOf(none, "/"), "403");
}

/// A reload keeps the connections of the Backend, and the new rules judge them too.
TEST_F(CertifiedOrigins, AreJudgedAgainAfterAReload) {
  GatewayProcess gateway(spec("allow: [" + fingerprints(one_) + "]"));
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  gateway.reload(spec("deny: [" + fingerprints(one_) + "]"));
  EXPECT_EQ(statusOf(gateway, "/"), "403");
}

TEST_F(CertifiedOrigins, AreJudgedForMirrorsToo) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  GatewaySpec mirrored = spec("deny: [" + fingerprints(one_) + "]");
  mirrored.backends.front().name = "copy";
  mirrored.backends.front().hostname = "copy.test";
  mirrored.backends.push_back({.port = origin.port()});
  mirrored.routes =
      routeOfRules("    - filters: [{type: RequestMirror, requestMirror: {backendRef: " + backendRef("copy") + "}}]\n" +
                   backendRefs());
  const GatewayProcess gateway(mirrored);
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  const std::string series =
      R"(http_client_request_duration_seconds_count{gateway="test/egress",route="test/all",backend="test/copy")";
  ASSERT_TRUE(gateway.reaches(
      R"(sluice_processor_duration_seconds_count{type="sluice.dev/ConnectGuard:v1",phase="connect")", 2))
      << "once for its address, and once for its certificate";
  EXPECT_EQ(gateway.metric(series), 0) << "it was not sent, so it was no attempt";
}

/// The gateway makes no handshake in a tunnel, so there is no certificate, and the name is that of CONNECT.
TEST(ConnectGuards, JudgeTunnels) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  const std::string authority = "a.test:" + std::to_string(origin.port());
  for (const auto& [config, status] :
       {std::pair("allow: [{sni: [a.test], cidrs: [127.0.0.1]}]", 200), std::pair("allow: [{sni: [b.test]}]", 403),
        std::pair("deny: [{cidrs: [127.0.0.0/8]}]", 403),
        std::pair("allow: [{fingerprints: ['00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF']}]",
                  403)}) {
    ForwardProxy proxy;
    proxy.spec.routes =
        "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: p}\nspec: "
        "{targetRef: " +
        kGatewayTarget + ", processors: " + guarded(config) + "}\n" +
        egressPolicy("all", kGatewayTarget, "default: Allow");
    proxy.start();
    BlockingSocket client = proxy.client();
    EXPECT_EQ(ForwardProxy::connect(client, authority).status, status) << config;
  }
}

}  // namespace
}  // namespace sluice::test
