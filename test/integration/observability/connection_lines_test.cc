// Tests the debug lines about connections to Backends with real origins: their content, and that they contain no
// secret.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

const std::string kOpen = "a connection to a Backend is open";
const std::string kEnded = "a connection to a Backend has ended";

class ConnectionsInTheLog : public testing::Test {
 protected:
  void start(GatewaySpec spec) {
    if (spec.options.empty()) spec.options = {"--log-level", "debug"};
    gateway_.emplace(spec);
  }
  std::string get(const std::vector<std::string>& more = {}) { return statusOf(*gateway_, "/a?token=canary", more); }
  /// Waits for the first line with that message; returns the gateway's whole log if it does not come.
  std::string line(const std::string& message) {
    if (!gateway_->process().waitUntilSaid(message, 1)) return gateway_->process().errors();
    const std::string all = gateway_->process().errors();
    const std::size_t begin = all.rfind('\n', all.find(message)) + 1;
    return all.substr(begin, all.find('\n', begin) - begin);
  }
  static std::string at(std::uint16_t port) {
    return R"("backend":"test/origin","upstream.address":"127.0.0.1:)" + std::to_string(port) + '"';
  }

  std::optional<GatewayProcess> gateway_;
};

TEST_F(ConnectionsInTheLog, NameTheBackendAndItsProtocols) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  start({.backends = {{.port = origin.port(), .ca = authority.certificate}},
         .settings = "timeouts: {upstreamIdle: 200ms}\n"});
  ASSERT_EQ(get({"-H", "Authorization: Bearer canary", "-d", "canary"}), "200");
  const std::string opened = line(kOpen);
  EXPECT_THAT(opened, HasSubstr(at(origin.port()) +
                                R"(,"network.protocol.version":"2","tls.protocol.version":"1.3","tls.resumed":false)"));
  EXPECT_THAT(opened, MatchesRegex(".*\"dial_ms\":[0-9]+[.][0-9]+,\"handshake_ms\":[0-9]+[.][0-9]+.*"));
  EXPECT_THAT(line(kEnded), HasSubstr(at(origin.port()) + R"(,"reason":"idle","requests":1)"));
  EXPECT_EQ(gateway_->process().said("canary"), 0U);
}

TEST_F(ConnectionsInTheLog, CountTheRequestsUntilTheBackendCloses) {
  const RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    for (int i = 0; i < 2; ++i) {
      self.readHead(socket);
      socket.send(kOk);
    }
  });
  start(towards(origin));
  ASSERT_EQ(get(), "200");
  ASSERT_EQ(get(), "200");
  EXPECT_THAT(line(kOpen),
              HasSubstr(at(origin.port()) + R"(,"network.protocol.version":"1.1","tls.protocol.version":"")"));
  EXPECT_THAT(line(kEnded), HasSubstr(at(origin.port()) + R"(,"reason":"peer-closed","requests":2)"));
}

TEST_F(ConnectionsInTheLog, SayThatTheBackendSentGoaway) {
  const RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    H2Client server(std::move(socket));
    server.readStream(1);
    server.send(h2::goaway(1, 0) + h2::headers(1, {{":status", "200"}}, true));
    self.waitUntilItStops();
  });
  start({.backends = {{.port = origin.port()}},
         .routes = "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: all}\n"
                   "spec:\n  parentRefs: [{name: egress}]\n  rules:\n    -\n" +
                   backendRefs()});
  ASSERT_EQ(get({"--http2-prior-knowledge", "-H", "content-type: application/grpc", "-d", ""}), "200");
  EXPECT_THAT(line(kEnded), HasSubstr(at(origin.port()) + R"(,"reason":"goaway","requests":1)"));
}

TEST_F(ConnectionsInTheLog, SayWhyABackendCouldNotBeReached) {
  const std::uint16_t nobody = freePort();
  start({.backends = {{.port = nobody}}});
  ASSERT_EQ(get(), "503");
  const std::string ended = line(kEnded);
  EXPECT_THAT(ended, HasSubstr(at(nobody) + R"(,"reason":"error","requests":0)"));
  EXPECT_THAT(ended, HasSubstr(R"("error.type":"connection_refused")"));
  EXPECT_EQ(gateway_->process().said(kOpen), 0U);
}

TEST_F(ConnectionsInTheLog, AreNotToldOfAtOtherLevels) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
  GatewaySpec spec = towards(origin);
  spec.options = {"--log-level", "info"};
  start(spec);
  ASSERT_EQ(get(), "200");
  ASSERT_EQ(run({"curl", "-sS", "-X", "PUT", "-d", "debug",
                 "http://127.0.0.1:" + std::to_string(gateway_->adminPort()) + "/log-level"})
                .exitCode,
            0);
  ASSERT_EQ(get(), "200");
  EXPECT_THAT(line(kEnded), HasSubstr(R"("reason":"connection-close","requests":1)"));
  EXPECT_TRUE(gateway_->process().waitUntilSaid(kOpen, 1));
  EXPECT_EQ(gateway_->process().said(kOpen), 1U) << "of the second connection alone";
}

}  // namespace
}  // namespace sluice::test
