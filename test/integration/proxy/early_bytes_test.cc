// Tests bytes that a client sends behind CONNECT before the tunnel is open: they never reach a destination that is
// refused, and are never taken for a request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"
#include "test/support/client_hello.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class EarlyBytes : public testing::Test {
 protected:
  std::string at(const std::string& host) const { return host + ":" + std::to_string(origin_.port()); }
  /// Returns a request that a proxy would serve, if it took it for one.
  std::string smuggled() const { return "GET http://" + at("a.test") + "/ HTTP/1.1\r\nHost: a\r\n\r\n"; }
  void start(const std::string& rules) {
    proxy_.allow(rules);
    proxy_.start();
  }
  /// Sends CONNECT and the bytes behind it in one piece, and returns the status of the one answer.
  int refused(const std::string& authority, const std::string& early) {
    BlockingSocket client = proxy_.client();
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\n" + early);
    const int status = readResponse(client).status;
    EXPECT_EQ(client.readAll(), "") << "there is no second answer";
    EXPECT_TRUE(client.closed());
    return status;
  }
  int refusedOverHttp2(const std::string& authority, const std::string& early) {
    H2Client client(proxy_.port);
    client.send(h2::headers(1, {{":method", "CONNECT"}, {":authority", authority}}, false) + h2::data(1, early, false));
    client.readUntil([&] { return client.isSettled(1); });
    client.send(
        h2::headers(3, {{":method", "GET"}, {":scheme", "http"}, {":authority", "routed.test"}, {":path", "/"}}, true));
    EXPECT_TRUE(client.readStream(3));
    EXPECT_EQ(client.status(3), "302") << "the connection serves its other streams";
    return client.status(1).empty() ? 0 : std::stoi(client.status(1));
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  ForwardProxy proxy_;
};

TEST_F(EarlyBytes, OfADeniedTunnelGoNowhere) {
  start(allowingHost("b", "b.test", origin_.port()));
  EXPECT_EQ(refused(at("a.test"), smuggled()), 403);
  EXPECT_EQ(refusedOverHttp2(at("a.test"), smuggled()), 403);
  EXPECT_EQ(refused(at("inner.test"), smuggled()), 403);
  EXPECT_EQ(refusedOverHttp2(at("inner.test"), smuggled()), 403);
  EXPECT_EQ(origin_.connections(), 0);
}

TEST_F(EarlyBytes, OfATunnelWhoseDestinationRefusesGoNowhere) {
  start(allowingHost("a", "a.test", origin_.port()) + ", " + allowingHost("dead", "a.test", 1));
  EXPECT_EQ(refused("a.test:1", smuggled()), 503);
  EXPECT_EQ(refusedOverHttp2("a.test:1", smuggled()), 503);
  EXPECT_EQ(origin_.connections(), 0);
}

TEST_F(EarlyBytes, OfATunnelBeyondTheBoundGoNowhere) {
  proxy_.spec.settings = limits("tunnels: 1");
  start(allowingHost("a", "a.test", origin_.port()));
  BlockingSocket only = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(only, at("a.test")).status, 200);
  EXPECT_EQ(refused(at("a.test"), smuggled()), 503);
  EXPECT_EQ(refusedOverHttp2(at("a.test"), smuggled()), 503);
  only.send("GET /own HTTP/1.1\r\nHost: a.test\r\n\r\n");
  only.readUntil("served");
  EXPECT_EQ(origin_.heads().size(), 1U) << "the tunnel's own request";
  EXPECT_EQ(origin_.connections(), 1);
}

TEST_F(EarlyBytes, OfAClientThatIsUnknownGoNowhere) {
  proxy_.spec.routes +=
      secretOf("users", ".htpasswd: \"" + std::string(kAnn) + "\"") +
      egressPolicy("p", kGatewayTarget, "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}}");
  proxy_.start();
  EXPECT_EQ(refused(at("a.test"), smuggled()), 407);
  EXPECT_EQ(origin_.connections(), 0);
}

// The bytes are there before the 200, and what is refused after it must not have reached the destination.
TEST_F(EarlyBytes, OfTlsForAnotherNameAreSeenByNobody) {
  std::atomic<int> tunnels = 0;
  std::atomic<std::size_t> seen = 0;
  const RawOrigin listening([&](BlockingSocket& socket, RawOrigin&) {
    seen += socket.readAll().size();
    ++tunnels;
  });
  start(allowingHost("a", "a.test", listening.port()));
  const std::string authority = "a.test:" + std::to_string(listening.port());
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, authority, clientHello("evil.test")).status, 200);
  EXPECT_EQ(client.readAll(), kAccessDenied);
  H2Client second(proxy_.port);
  second.send(h2::headers(1, {{":method", "CONNECT"}, {":authority", authority}}, false) +
              h2::data(1, clientHello("evil.test"), false));
  ASSERT_TRUE(second.readStream(1));
  EXPECT_EQ(second.status(1), "200");
  EXPECT_EQ(second.seen().body(1), kAccessDenied);
  EXPECT_TRUE(eventually([&] { return tunnels == 2; }));
  EXPECT_EQ(seen, 0U);
}

TEST_F(EarlyBytes, ArriveWholeOnceTheTunnelIsOpen) {
  start(allowingHost("a", "a.test", origin_.port()));
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, at("a.test"), kGet).status, 200);
  EXPECT_EQ(readResponse(client).body, "served");
  H2Client second(proxy_.port);
  second.send(h2::headers(1, {{":method", "CONNECT"}, {":authority", at("a.test")}}, false) + h2::data(1, kGet, false));
  ASSERT_TRUE(second.readUntil([&] { return second.seen().body(1).ends_with("served"); }));
  EXPECT_EQ(second.status(1), "200");
}

}  // namespace
}  // namespace sluice::test
