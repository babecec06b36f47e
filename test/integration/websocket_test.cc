// Tests WebSockets through the binary: with a third-party client and server, and with raw peers for the cases that
// those never produce.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/node/node_origin.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kAsk =
    "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const std::string kAgree =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Runs the server of the npm package "ws".
class WsOrigin : public NodeOrigin {
 public:
  explicit WsOrigin(const std::optional<CertifiedKey>& identity = std::nullopt)
      : NodeOrigin("websocket_origin.mjs", identity) {}
};

void expectRealClientIsHappy(const std::string& url, const std::vector<std::string>& more = {}) {
  std::vector<std::string> argv = {"node", std::string(kClients) + "websocket.mjs", url};
  argv.insert(argv.end(), more.begin(), more.end());
  const ProgramOutcome got = run(argv);
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(WebSocket, WorksBetweenARealClientAndARealServer) {
  WsOrigin origin;
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  expectRealClientIsHappy("ws://127.0.0.1:" + std::to_string(gateway.port()));
  // Whichever side broke off, the server saw a clean close.
  EXPECT_TRUE(origin.process().waitForLine("closed 1000 done"));
  EXPECT_TRUE(origin.process().waitForLine("closed 4001 as told"));
  EXPECT_TRUE(origin.process().waitForLine("closed 1006"));
  EXPECT_TRUE(gateway.reaches("http_server_active_requests", 0));
}

TEST(WebSocket, WorksForAClientOfHttp2) {
  const CertifiedKey authority = makeAuthority();
  WsOrigin origin;
  const TempDir folder;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .tls = issueServer(authority, "localhost")});
  const std::string script = std::string(kClients) + "websocket_h2.mjs";
  const ProgramOutcome plain = run({"node", script, gateway.url("")});
  EXPECT_EQ(plain.exitCode, 0) << plain.output << plain.errors;
  const ProgramOutcome tls = run({"node", script, "https://localhost:" + std::to_string(gateway.tlsPort()),
                                  folder.write("ca.crt", authority.certificate)});
  EXPECT_EQ(tls.exitCode, 0) << tls.output << tls.errors;
  EXPECT_TRUE(origin.process().waitForLine("closed 1000"));
}

// A client of HTTP/2 takes every 2xx for an open tunnel (RFC 8441 section 5).
TEST(WebSocket, IsAnErrorOverHttp2IfTheOriginDeclines) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  H2Client client(gateway.port());
  client.send(h2::headers(1,
                          {{":method", "CONNECT"},
                           {":protocol", "websocket"},
                           {":scheme", "http"},
                           {":path", "/chat"},
                           {":authority", "a"},
                           {"sec-websocket-version", "13"}},
                          false));
  client.send(h2::data(1, "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n", false));
  EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
  EXPECT_EQ(client.status(1), "502");
  ASSERT_EQ(origin.heads().size(), 1U);
  EXPECT_THAT(origin.heads()[0], HasSubstr("sec-websocket-key: "));
}

/// Returns a gateway whose only route leads to a Service with that protocol.
GatewaySpec serviceThatSpeaks(const std::string& appProtocol, const NodeOrigin& origin) {
  GatewaySpec spec;
  spec.routes =
      "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: chat}\n"
      "spec: {ports: [{name: ws, port: 80, appProtocol: " +
      appProtocol +
      "}]}\n---\n"
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
      "metadata: {namespace: test, name: chat-1, labels: {kubernetes.io/service-name: chat}}\n"
      "addressType: IPv4\nports: [{name: ws, port: " +
      std::to_string(origin.port()) +
      "}]\nendpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\n"
      "spec: {parentRefs: [{name: egress}], rules: [{backendRefs: [{name: chat, port: 80}]}]}\n";
  return spec;
}

TEST(WebSocket, WorksTowardsAServiceWhoseAppProtocolNamesIt) {
  WsOrigin origin;
  const GatewayProcess gateway(serviceThatSpeaks("kubernetes.io/ws", origin));
  expectRealClientIsHappy("ws://127.0.0.1:" + std::to_string(gateway.port()));
  EXPECT_TRUE(origin.process().waitForLine("closed 1000 done"));
}

// RFC 8441.
TEST(WebSocket, WorksTowardsAServerOfHttp2ForClientsOfEitherVersion) {
  NodeOrigin origin("websocket_h2_origin.mjs");
  GatewayProcess gateway(serviceThatSpeaks("kubernetes.io/h2c", origin));
  expectRealClientIsHappy("ws://127.0.0.1:" + std::to_string(gateway.port()));
  EXPECT_TRUE(origin.process().waitForLine("closed 1000 done"));
  EXPECT_TRUE(origin.process().waitForLine("closed 4001 as told"));
  EXPECT_TRUE(origin.process().waitForLine("closed 1006"));
  const ProgramOutcome http2 = run({"node", std::string(kClients) + "websocket_h2.mjs", gateway.url("")});
  EXPECT_EQ(http2.exitCode, 0) << http2.output << http2.errors;
  EXPECT_TRUE(gateway.reaches("http_server_active_requests", 0));
}

// ALPN would choose HTTP/2 for both, which has no upgrade.
TEST(WebSocket, WorksOverTlsOnBothSides) {
  const CertifiedKey authority = makeAuthority();
  const WsOrigin origin(issueServer(authority, "origin.test"));
  const TempDir folder;
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port(), .ca = authority.certificate}}, .tls = issueServer(authority, "localhost")});
  expectRealClientIsHappy("wss://localhost:" + std::to_string(gateway.tlsPort()),
                          {folder.write("ca.crt", authority.certificate)});
}

TEST(WebSocket, TakesHttp11FromABackendThatPrefersHttp2) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}}});
  const ProgramOutcome plain = run({"curl", "-sS", gateway.url("/")});
  EXPECT_EQ(echoed(plain.output, "version"), "2") << plain.output;
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 200) << "the origin knows no WebSockets";
  EXPECT_EQ(echoed(got.body, "version"), "1.1") << got.body;
}

TEST(WebSocket, HasRoomThatAnIdleConnectionOfHttp2LeavesToIt) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}},
                                .settings = "limits: {backendConnections: 1}\n"});
  for (int i = 0; i < 2; ++i) {
    const ProgramOutcome plain = run({"curl", "-sS", gateway.url("/")});
    EXPECT_EQ(echoed(plain.output, "version"), "2") << plain.output;
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(kAsk);
    const ReceivedResponse got = readResponse(client);
    EXPECT_EQ(echoed(got.body, "version"), "1.1") << got.body;
  }
}

// --- raw

TEST(WebSocket, IsInTheAccessLogWithItsBytes) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(kAgree + "hello");
    socket.readExactly(7);
    socket.send("!");
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  EXPECT_THAT(client.readUntil("\r\n\r\n"), StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_EQ(client.readExactly(5), "hello");
  client.send("goodbye");
  EXPECT_EQ(client.readAll(), "!");
  client.close();
  const auto lines = gateway.accessLog(1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("\"http.response.status_code\":101,\"error.type\":null"));
  EXPECT_THAT(lines[0], HasSubstr("\"request_bytes\":7,\"response_bytes\":6"));
}

// If the upgrade is not agreed, the bytes after the request are the next request, and are routed as such.
TEST(WebSocket, IsNoTunnelIfTheOriginDeclines) {
  for (const char* status : {"200 OK", "426 Upgrade Required"}) {
    RawOrigin origin(RawOrigin::answering("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 2\r\n\r\nno"));
    const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(kAsk + "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(readResponse(client).status, std::stoi(status));
    EXPECT_EQ(readResponse(client).status, std::stoi(status));
    ASSERT_EQ(origin.heads().size(), 2U);
    EXPECT_THAT(origin.heads()[0], HasSubstr("upgrade: websocket"));
    EXPECT_THAT(origin.heads()[1], StartsWith("GET /admin HTTP/1.1\r\n"));
    EXPECT_THAT(origin.heads()[1], HasSubstr("via: 1.1 sluice-"));
  }
}

// The origin refuses the version, while the client behaves as if it had not.
TEST(WebSocket, IsNoTunnelWithABadVersion) {
  RawOrigin origin(
      RawOrigin::answering("HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  std::string ask = kAsk;
  client.send(ask.replace(ask.find("Version: 13"), 11, "Version: 99"));
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 426);
  EXPECT_EQ(got.field("sec-websocket-version"), "13");
  client.send("\x81\x05hello");
  EXPECT_EQ(readResponse(client).status, 400) << "bytes that are no request";
  EXPECT_EQ(origin.heads().size(), 1U);
}

TEST(WebSocket, IsAnErrorIfTheOriginSwitchesToAnotherProtocol) {
  const auto answerTo = [](const std::string& ask, const std::string& switched) {
    RawOrigin origin(RawOrigin::answering(switched + "GET / HTTP/1.1\r\n\r\n"));
    const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(ask);
    return readResponse(client);
  };
  EXPECT_EQ(answerTo("GET / HTTP/1.1\r\nHost: a\r\n\r\n", kAgree).status, 502) << "nobody asked";
  EXPECT_EQ(answerTo("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                     "HTTP2-Settings: AAMAAABk\r\n\r\n",
                     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
                .status,
            502);
  std::string wrong = kAgree;
  EXPECT_EQ(answerTo(kAsk, wrong.replace(wrong.find("s3pP"), 4, "AAAA")).status, 502);
}

TEST(WebSocket, EndsOneSideAfterTheOther) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(kAgree);
    const std::string all = socket.readAll();  // reads until the client's end
    socket.send("got " + all);
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  client.readUntil("\r\n\r\n");
  client.send("everything");
  client.shutdownWrite();
  EXPECT_EQ(client.readAll(), "got everything");
  EXPECT_FALSE(client.wasReset());
}

TEST(WebSocket, IsCutForTheClientIfTheOriginIsLost) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(kAgree);
    socket.readExactly(2);
    socket.reset();
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  client.readUntil("\r\n\r\n");
  client.send("go");
  client.readAll();
  EXPECT_TRUE(client.wasReset());
}

TEST(WebSocket, IsCutForTheOriginIfTheClientIsLost) {
  std::atomic<bool> lost = false;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(kAgree);
    socket.readAll();
    lost = socket.wasReset();
    lost.notify_all();
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  client.readUntil("\r\n\r\n");
  client.reset();
  gateway.accessLog(1);
  lost.wait(false);
  EXPECT_TRUE(lost);
}

TEST(WebSocket, IsNotEndedByTheTimeoutOfItsRequestButByIdleness) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(kAgree);
    while (!socket.closed()) socket.send(socket.readExactly(1));
  });
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("request: 50s, streamIdle: 200s"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  EXPECT_THAT(client.readUntil("\r\n\r\n"), HasSubstr(" 101 "));
  time.pass(gateway, std::chrono::seconds(100));
  client.send("x");
  EXPECT_EQ(client.readExactly(1), "x") << "later than its request may take";
  time.pass(gateway, std::chrono::seconds(200));
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

TEST(WebSocket, KeepsADrainingGatewayUntilItsTimeout) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(kAgree);
    while (!socket.closed()) socket.send(socket.readExactly(1));
  });
  PassedTime time;
  GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .settings = "drainTimeout: 100s\n", .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kAsk);
  client.readUntil("\r\n\r\n");
  gateway.beginToDrain();
  client.send("x");
  EXPECT_EQ(client.readExactly(1), "x") << "it serves on";
  time.moveOn(std::chrono::seconds(100));
  gateway.adminGet("/");  // makes the gateway read its clock
  EXPECT_EQ(gateway.process().wait(), 0);
  client.readAll();
  EXPECT_TRUE(client.closed());
}

}  // namespace
}  // namespace sluice::test
