// Tests that /exchanges names what a request waits for, with real peers that keep it waiting.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/full_listener.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

// Nothing ends by itself while a test looks, and nothing waits longer than that.
const std::string kPatientSettings =
    "timeouts: {connect: 1h, request: 1h, bodyIdle: 1h, streamIdle: 1h, responseIdle: 1h, processor: 1h}\n"
    "drainTimeout: 100ms\n";
constexpr std::size_t kMuch = std::size_t{64} * 1024 * 1024;  // this is more than the buffers of any socket hold

/// Returns the members of an exchange on the page that waits for this.
std::string waitsFor(const std::string& what, const std::string& at = {}) {
  return R"("waitingFor":")" + what + R"(","waitingAt":)" + (at.empty() ? "null" : '"' + at + '"') + ",";
}

std::string addressOf(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

RawOrigin::Script silent() {
  return [](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); };
}

class RequestsThatWait : public testing::Test {
 protected:
  /// Starts a gateway that sends everything to this port.
  void start(std::uint16_t port) { start({.backends = {{.port = port}}}); }
  void start(GatewaySpec spec) {
    spec.settings += kPatientSettings;
    gateway_.emplace(spec);
  }
  BlockingSocket begin(const std::string& head = kGet) const {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(head);
    return client;
  }
  std::string page() const { return gateway_->adminGet("/exchanges"); }
  /// Polls the page until `times` exchanges wait for that; the failure shows the last page if they never do.
  void expectListed(const std::string& what, std::size_t times = 1) const {
    std::string last;
    const bool listed = eventually([&] {
      last = page();
      return countOf(last, what) == times;
    });
    EXPECT_TRUE(listed) << what << " is not " << times << " times in " << last;
  }

  std::optional<GatewayProcess> gateway_;
};

TEST_F(RequestsThatWait, ForANameServerThatDoesNotAnswer) {
  const ScriptedNameServer names([](const DnsQuestion&) { return std::vector<ScriptedNameServer::Datagram>(); });
  start({.backends = {{.hostname = "origin.test", .port = 80, .addresses = ""}},
         .dns = "servers: [\"" + names.address() + "\"], timeout: 1h"});
  const BlockingSocket client = begin();
  expectListed(waitsFor("resolver", "origin.test"));
}

TEST_F(RequestsThatWait, ForABackendThatDoesNotAccept) {
  const FullListener origin;
  start(origin.port());
  const BlockingSocket client = begin();
  expectListed(waitsFor("dial", addressOf(origin.port())));
}

TEST_F(RequestsThatWait, ForABackendThatNeverShakesHands) {
  const RawOrigin origin(silent());
  start({.backends = {{.port = origin.port(), .ca = makeAuthority().certificate}}});
  const BlockingSocket client = begin();
  expectListed(waitsFor("tls-handshake", addressOf(origin.port())));
}

TEST_F(RequestsThatWait, ForAConnectionThatOthersHave) {
  const RawOrigin origin(silent());
  GatewaySpec spec = towards(origin);
  spec.settings = limits("backendConnections: 1");
  start(spec);
  const BlockingSocket first = begin();
  expectListed(waitsFor("response-head"));
  const BlockingSocket second = begin();
  const BlockingSocket third = begin();
  expectListed(waitsFor("connection"), 2);
  expectListed(waitsFor("response-head"));
}

TEST_F(RequestsThatWait, ForAStepThatAsksAServer) {
  const RawOrigin asked(silent());
  const std::string ask =
      "{name: ask, type: 'acme.test/Ask:v1', phase: request-headers, config: {port: " + std::to_string(asked.port()) +
      ", protocol: 'http/1.1', path: '/'}}";
  start({.backends = {{.port = asked.port()}},
         .routes = routeOfRules("    - filters: [" + inlined(ask) + "]\n" + backendRefs()),
         .program = "sluice-asking"});
  const BlockingSocket client = begin();
  expectListed(waitsFor("processor") + R"("step":"ask","phase":"request-headers")");
}

TEST_F(RequestsThatWait, ForAClientThatStopsInTheMiddleOfItsBody) {
  const RawOrigin origin(silent());
  start(origin.port());
  const BlockingSocket client = begin("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nfirst");
  expectListed(waitsFor("request-body"));
}

TEST_F(RequestsThatWait, ForABackendThatReadsNothing) {
  const RawOrigin origin(silent());
  start(origin.port());
  BlockingSocket client = begin("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(kMuch) + "\r\n\r\n");
  EXPECT_LT(client.sendSome(std::string(kMuch, 'x'), std::chrono::milliseconds(200)), kMuch);
  expectListed(waitsFor("backend-credit"));
}

TEST_F(RequestsThatWait, ForAClientThatReadsNothing) {
  const RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kMuch) + "\r\n\r\n" + std::string(kMuch, 'x'));
    self.waitUntilItStops();
  });
  start(origin.port());
  const BlockingSocket client = begin();
  expectListed(waitsFor("client-credit"));
}

TEST_F(RequestsThatWait, ForAnHttp2ClientThatOpensNoWindow) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
  start(origin.port());
  H2Client client(gateway_->port(), std::string(h2::preface()) + h2::settings({{4, 0}}) + h2::settingsAck());
  client.send(h2::headers(1, h2::get("/"), true));
  expectListed(waitsFor("client-credit"));
}

TEST_F(RequestsThatWait, ForTheRestOfAResponse) {
  const RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst");
    self.waitUntilItStops();
  });
  start(origin.port());
  BlockingSocket client = begin();
  client.readUntil("first");
  expectListed(waitsFor("response-body"));
}

TEST_F(RequestsThatWait, ForTheirNextAttempt) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
  start({.backends = {{.port = origin.port()}},
         .routes = routeOfRules("    - retry: {codes: [503], attempts: 2, backoff: 10m}\n" + backendRefs())});
  const BlockingSocket client = begin();
  expectListed(waitsFor("backoff"));
}

TEST_F(RequestsThatWait, ForEitherEndOfAWebSocket) {
  const RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
    self.waitUntilItStops();
  });
  start(origin.port());
  BlockingSocket client = begin(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  client.readUntil("\r\n\r\n");
  expectListed(waitsFor("tunnel"));
}

}  // namespace
}  // namespace sluice::test
