// Tests tunnels by CONNECT through the binary: HTTP/1.1 and HTTP/2, what reaches the destination and when, refusals
// before and behind the 2xx, half-close, timeouts and bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"
#include "test/support/client_hello.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// An origin that says what it is, and then returns each byte, until the peer ends its way.
void greetAndEcho(BlockingSocket& socket, RawOrigin& /*origin*/) {
  socket.send("hello\n");
  while (true) {
    const std::string byte = socket.readExactly(1);
    if (byte.empty()) break;
    socket.send(byte);
  }
  socket.send("bye\n");
}

class Tunnels : public testing::Test {
 protected:
  std::string at(const std::string& host) const { return host + ":" + std::to_string(origin_.port()); }
  void allowOrigin(const std::string& more = "") {
    proxy_.allow(allowingHost("a", "a.test", origin_.port(), more));
    proxy_.start();
  }

  const RawOrigin origin_{greetAndEcho};
  ForwardProxy proxy_;
};

TEST_F(Tunnels, MoveBytesBothWaysAndEndEachByItself) {
  allowOrigin();
  BlockingSocket client = proxy_.client();
  const ReceivedResponse opened = ForwardProxy::connect(client, at("a.test"));
  EXPECT_EQ(opened.status, 200);
  EXPECT_EQ(opened.head.find("ontent-"), std::string::npos) << opened.head;
  EXPECT_EQ(opened.head.find("ransfer-"), std::string::npos) << opened.head;
  EXPECT_EQ(client.readUntil("\n"), "hello\n") << "the server may speak first";
  client.send("ping");
  EXPECT_EQ(client.readExactly(4), "ping");
  client.shutdownWrite();
  EXPECT_EQ(client.readAll(), "bye\n") << "the other way goes on";
  const std::string line = proxy_.gateway->accessLog(1).front();
  EXPECT_THAT(line, HasSubstr("\"way\":\"connect\""));
  EXPECT_THAT(line, HasSubstr("\"http.request.method\":\"CONNECT\""));
  EXPECT_THAT(line, HasSubstr("\"http.response.status_code\":200"));
  EXPECT_THAT(line, HasSubstr("\"server.address\":\"" + at("a.test") + "\""));
  EXPECT_THAT(line, HasSubstr("\"network.protocol.name\":\"tcp\""));
  EXPECT_THAT(line, HasSubstr("\"tunnel.end\":\"client\""));
}

TEST_F(Tunnels, AreOpenedOverHttp2Too) {
  allowOrigin();
  H2Client client(proxy_.port);
  client.send(h2::headers(1, {{":method", "CONNECT"}, {":authority", at("a.test")}}, false));
  ASSERT_TRUE(client.readFrame(H2Type::kHeaders, 1));
  EXPECT_EQ(client.status(1), "200");
  client.send(h2::data(1, "ping", true));
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.seen().body(1), "hello\npingbye\n");
}

TEST_F(Tunnels, AreRefusedWithAnAnswerBeforeThe2xx) {
  proxy_.allow(allowingHost("a", "'*.test'", origin_.port()) + ", " + allowingHost("dead", "'*.test'", 1));
  proxy_.start();
  const auto refusal = [&](const std::string& authority) {
    BlockingSocket client = proxy_.client();
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return readResponse(client);
  };
  EXPECT_EQ(refusal("a.test:2").status, 403);
  EXPECT_EQ(refusal("127.0.0.1:" + std::to_string(origin_.port())).status, 403);
  EXPECT_THAT(refusal(at("inner.test")).body, HasSubstr("destination_ip_prohibited"));
  EXPECT_EQ(refusal("a.test:1").status, 503) << "nothing listens there";
  EXPECT_EQ(refusal(at("none.test")).status, 503) << "there is no such name";
  EXPECT_EQ(refusal("a.test").status, 400);
  EXPECT_EQ(refusal("a.test:0").status, 400);
  EXPECT_EQ(refusal("http://a.test/").status, 400);
  EXPECT_EQ(origin_.connections(), 0);
}

TEST_F(Tunnels, DropTheConnectionWhoseEarlyBytesWereRefused) {
  proxy_.start();
  BlockingSocket client = proxy_.client();
  client.send("CONNECT " + at("a.test") +
              " HTTP/1.1\r\nHost: x\r\n\r\nGET http://routed.test/ HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(readResponse(client).status, 403);
  EXPECT_EQ(client.readAll(), "") << "the bytes behind it are no request";
  EXPECT_TRUE(client.closed());
}

TEST_F(Tunnels, HoldEarlyBytesUntilTheyAreOpen) {
  allowOrigin();
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, at("a.test"), "early").status, 200);
  EXPECT_EQ(client.readExactly(11), "hello\nearly");
}

TEST_F(Tunnels, AreJudgedByTheNameOfTls) {
  allowOrigin();
  BlockingSocket right = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(right, at("a.test")).status, 200);
  const std::string hello = clientHello("A.test");
  right.send(hello.substr(0, 20));
  right.send(hello.substr(20));
  EXPECT_EQ(right.readExactly(6 + hello.size()), "hello\n" + hello);

  for (const std::string name : {"evil.test", ""}) {
    BlockingSocket wrong = proxy_.client();
    EXPECT_EQ(ForwardProxy::connect(wrong, at("a.test")).status, 200);
    EXPECT_EQ(wrong.readUntil("\n"), "hello\n");
    wrong.send(clientHello(name));
    EXPECT_EQ(wrong.readAll(), kAccessDenied) << name;
  }
  EXPECT_TRUE(proxy_.gateway->reaches(decisionsOf("p", "default", "denied"), 2));
  EXPECT_TRUE(proxy_.gateway->reaches(decisionsOf("p", "a", "allowed"), 0));
}

TEST_F(Tunnels, WithoutTlsEndWhereARuleAsksForIt) {
  allowOrigin(", tls: {mode: Required}");
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, at("a.test")).status, 200);
  EXPECT_EQ(client.readUntil("\n"), "hello\n");
  client.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.wasReset());
}

TEST_F(Tunnels, GiveTheirPlaceBackWhenTheyAreRefused) {
  proxy_.spec.settings = limits("tunnels: 1");
  allowOrigin(", tls: {mode: Required}");
  int refused = 0;
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), clientHello("evil.test")}) {
    BlockingSocket client;
    ASSERT_TRUE(eventually([&] {
      client = proxy_.client();
      return ForwardProxy::connect(client, at("a.test")).status == 200;
    })) << "the place of the one before is free";
    EXPECT_EQ(client.readUntil("\n"), "hello\n");
    client.send(bytes);
    client.readAll();
    EXPECT_TRUE(proxy_.gateway->reaches(tunnelSeries("tunnels_total", ",way=\"connect\",end=\"policy\""), ++refused));
    EXPECT_EQ(proxy_.gateway->metric(tunnelSeries("tunnel_bytes_total", ",direction=\"receive\"")), 0);
    EXPECT_EQ(proxy_.gateway->metric(tunnelSeries("tunnel_bytes_total", ",direction=\"transmit\"")), 6 * refused)
        << "nothing but the greeting has passed";
    EXPECT_EQ(proxy_.gateway->metric(tunnelSeries("tunnels", ",way=\"connect\"")), 0);
  }
}

TEST_F(Tunnels, WhoseHelloCannotBeReadAreDeniedWhereARuleDeniesNames) {
  proxy_.spec.settings = "timeouts: {tunnelSniff: 100ms}\n";
  proxy_.spec.routes += egressPolicy(
      "p", kGatewayTarget, "default: Allow, rules: [" + denying("evil", "to: {hostnames: [evil.test]}") + "]");
  proxy_.start();
  const std::string hello = clientHello("evil.test");
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, at("a.test")).status, 200);
  EXPECT_EQ(client.readUntil("\n"), "hello\n");
  client.send(hello.substr(0, 20));
  EXPECT_EQ(client.readAll(), kAccessDenied) << "the rest could name a server that the rule denies";
  BlockingSocket other = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(other, at("a.test")).status, 200);
  other.send(clientHello(""));
  EXPECT_EQ(other.readExactly(6 + clientHello("").size()), "hello\n" + clientHello("")) << "it names no server";
}

TEST_F(Tunnels, AreTakenByRulesOfTheirMethodAlone) {
  const std::string backend =
      "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\n"
      "spec: {destination: {type: Dynamic, dynamic: {hostnames: ['*.test'], ports: [{number: " +
      std::to_string(origin_.port()) + "}]}}}\n";
  proxy_.spec.routes = ForwardProxy::routed(
                           "    - matches: [{method: CONNECT}]\n"
                           "      backendRefs: [{group: sluice.dev, kind: Backend, name: any}]\n"
                           "    - filters: [{type: RequestRedirect, requestRedirect: {hostname: elsewhere.test}}]\n",
                           "'*.test'") +
                       backend;
  proxy_.start();
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, at("a.test")).status, 200) << "the Backend has the names";
  EXPECT_EQ(client.readUntil("\n"), "hello\n");
  BlockingSocket other = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(other, "a.test:1").status, 403);
  EXPECT_EQ(askRaw(proxy_.port, "GET http://a.test/ HTTP/1.1\r\nHost: a\r\n\r\n").status, 302);
}

TEST_F(Tunnels, AreBounded) {
  proxy_.spec.settings = limits("tunnels: 2");
  allowOrigin();
  std::vector<BlockingSocket> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(proxy_.client());
    EXPECT_EQ(ForwardProxy::connect(open.back(), at("a.test")).status, 200);
  }
  BlockingSocket third = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(third, at("a.test")).status, 503);
  EXPECT_TRUE(proxy_.gateway->limitWasHit("tunnels"));
  open.front().reset();
  EXPECT_TRUE(eventually([&] {
    BlockingSocket next = proxy_.client();
    return ForwardProxy::connect(next, at("a.test")).status == 200;
  }));
}

TEST_F(Tunnels, AreBoundedForEachAddress) {
  proxy_.spec.settings = limits("tunnelsPerAddress: 1");
  allowOrigin();
  BlockingSocket first = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(first, at("a.test")).status, 200);
  BlockingSocket second = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(second, at("a.test")).status, 503);
  BlockingSocket other = BlockingSocket::connect(proxy_.port, 0, "127.0.0.2");
  EXPECT_EQ(ForwardProxy::connect(other, at("a.test")).status, 200);
  EXPECT_TRUE(proxy_.gateway->limitWasHit("tunnelsPerAddress"));
}

TEST_F(Tunnels, EndWhenNothingMovesAndWhenTheyHaveLastedLongEnough) {
  for (const std::string timeout : {"tunnelIdle", "tunnel"}) {
    ForwardProxy proxy;
    proxy.spec.settings = "timeouts: {" + timeout + ": 300ms}\n";
    proxy.allow(allowingHost("a", "a.test", origin_.port()));
    proxy.start();
    BlockingSocket client = proxy.client();
    EXPECT_EQ(ForwardProxy::connect(client, at("a.test")).status, 200);
    EXPECT_EQ(client.readAll(), "hello\n");
    EXPECT_TRUE(client.closed());
    EXPECT_TRUE(proxy.gateway->limitWasHit(timeout));
    EXPECT_THAT(proxy.gateway->accessLog(1).front(),
                HasSubstr(std::string("\"tunnel.end\":\"") + (timeout == "tunnel" ? "total" : "idle") + "\""));
  }
}

TEST_F(Tunnels, JudgeAnIncompleteHelloWhenItTakesTooLong) {
  proxy_.spec.settings = "timeouts: {tunnelSniff: 100ms}\n";
  allowOrigin();
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(ForwardProxy::connect(client, at("a.test")).status, 200);
  EXPECT_EQ(client.readUntil("\n"), "hello\n");
  client.send(clientHello("a.test").substr(0, 20));
  EXPECT_EQ(client.readAll(), kAccessDenied);
  EXPECT_TRUE(proxy_.gateway->limitWasHit("tunnelSniff"));
}

TEST_F(Tunnels, AreForForwardProxiesAlone) {
  proxy_.start();
  BlockingSocket client = BlockingSocket::connect(proxy_.gateway->port());
  const ReceivedResponse refused = ForwardProxy::connect(client, at("a.test"));
  EXPECT_EQ(refused.status, 405);
  EXPECT_THAT(refused.head, HasSubstr("llow: "));
  EXPECT_THAT(client.readAll(), HasSubstr("use a listener of the protocol sluice.dev/HTTPPROXY"));
}

}  // namespace
}  // namespace sluice::test
