// Tests both sides of every limit of settings.yaml that bounds a message or a connection: a message just inside passes
// and is not counted, one just outside is answered as documented and counted. Windows and the exchange buffer hold back
// instead of refusing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

// These are the identifiers of RFC 9113 section 6.5.2.
constexpr std::uint16_t kMaxConcurrentStreams = 3;
constexpr std::uint16_t kInitialWindowSize = 4;

/// Returns the value in the peer's SETTINGS, or 0 if they do not contain it.
std::uint32_t settingOf(const H2Client& peer, std::uint16_t id) {
  const H2Frame* settings = peer.seen().find(H2Type::kSettings, 0);
  if (settings == nullptr) return 0;
  const auto number = [settings](std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (const char byte : settings->payload.substr(at, size)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  };
  for (std::size_t at = 0; at < settings->payload.size(); at += 6) {
    if (number(at, 2) == id) return number(at + 2, 4);
  }
  return 0;
}

/// Returns the sum of the credit that the peer has given for a stream; stream 0 is the connection.
std::uint64_t windowUpdates(const H2Client& peer, std::uint32_t stream) {
  std::uint64_t sum = 0;
  for (const H2Frame& frame : peer.seen().frames()) {
    if (frame.type == H2Type::kWindowUpdate && frame.stream == stream) sum += frame.firstWord();
  }
  return sum;
}

/// Runs an echo origin behind a gateway with one limit set low.
class MessageLimits : public testing::Test {
 protected:
  EchoOrigin origin_{std::nullopt};
  GatewayProcess gatewayWith(const std::string& settings) {
    return GatewayProcess({.backends = {{.port = origin_.port()}}, .settings = limits(settings)});
  }
  static ReceivedResponse ask(const GatewayProcess& gateway, const std::string& request) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(request);
    return readResponse(client);
  }
  static std::string askH2(const GatewayProcess& gateway, const H2Lines& lines) {
    H2Client client(gateway.port());
    client.send(h2::headers(1, lines, true));
    client.readStream(1);
    return client.status(1);
  }
};

TEST_F(MessageLimits, BoundTheRequestLine) {
  const GatewayProcess gateway = gatewayWith("requestLineBytes: 256");
  const auto request = [](std::size_t size) {  // makes "GET " + target + " HTTP/1.1" that many bytes long
    return "GET /" + std::string(size - 14, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(ask(gateway, request(256)).status, 200);
  EXPECT_EQ(gateway.limitHits("requestLineBytes"), 0);
  const ReceivedResponse got = ask(gateway, request(257));
  EXPECT_EQ(got.status, 414);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(gateway.limitWasHit("requestLineBytes"));
}

TEST_F(MessageLimits, BoundThePathOverHttp2) {
  const GatewayProcess gateway = gatewayWith("requestLineBytes: 256");
  EXPECT_EQ(askH2(gateway, h2::get("/" + std::string(255, 'a'))), "200");
  EXPECT_EQ(gateway.limitHits("requestLineBytes"), 0);
  EXPECT_EQ(askH2(gateway, h2::get("/" + std::string(256, 'a'))), "414");
  EXPECT_TRUE(gateway.limitWasHit("requestLineBytes"));
}

TEST_F(MessageLimits, BoundHeaderBytesOverHttp11) {
  const GatewayProcess gateway = gatewayWith("headerBytes: 1Ki");
  const auto request = [](std::size_t size) {  // each field counts 32 bytes more than its name and value
    return "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(size - (4 + 1 + 32) - (1 + 32), 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(ask(gateway, request(1024)).status, 200);
  EXPECT_EQ(gateway.limitHits("headerBytes"), 0);
  const ReceivedResponse got = ask(gateway, request(1025));
  EXPECT_EQ(got.status, 431);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(gateway.limitWasHit("headerBytes"));
}

TEST_F(MessageLimits, BoundHeaderBytesOverHttp2) {
  const GatewayProcess gateway = gatewayWith("headerBytes: 1Ki");
  const auto request = [](std::size_t size) {
    H2Lines lines = h2::get();
    for (const auto& [name, value] : lines) size -= name.size() + value.size() + 32;
    lines.emplace_back("x", std::string(size - 33, 'x'));
    return lines;
  };
  EXPECT_EQ(askH2(gateway, request(1024)), "200");
  EXPECT_EQ(gateway.limitHits("headerBytes"), 0);
  EXPECT_EQ(askH2(gateway, request(1025)), "431");
  EXPECT_TRUE(gateway.limitWasHit("headerBytes"));
}

TEST_F(MessageLimits, BoundHeaderFieldsOverHttp11) {
  const GatewayProcess gateway = gatewayWith("headerFields: 10");
  const auto request = [](int fields) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 1; i < fields; ++i) text += "X: y\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(ask(gateway, request(10)).status, 200);
  EXPECT_EQ(gateway.limitHits("headerFields"), 0);
  EXPECT_EQ(ask(gateway, request(11)).status, 431);
  EXPECT_TRUE(gateway.limitWasHit("headerFields"));
}

TEST_F(MessageLimits, CountEachCookieCrumbAsAFieldOverHttp2) {
  const GatewayProcess gateway = gatewayWith("headerFields: 10");
  const auto request = [](int fields) {
    H2Lines lines = h2::get();
    for (int i = 0; i < fields; ++i) lines.emplace_back("cookie", "a=b");
    return lines;
  };
  EXPECT_EQ(askH2(gateway, request(10)), "200");
  EXPECT_EQ(gateway.limitHits("headerFields"), 0);
  EXPECT_EQ(askH2(gateway, request(11)), "431");
  EXPECT_TRUE(gateway.limitWasHit("headerFields"));
}

TEST_F(MessageLimits, BoundTrailerFieldsToo) {
  const GatewayProcess gateway = gatewayWith("headerFields: 10");
  const auto request = [](int trailers) {
    std::string text = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    for (int i = 0; i < trailers; ++i) text += "X: y\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(ask(gateway, request(10)).status, 200);
  EXPECT_EQ(gateway.limitHits("headerFields"), 0);
  EXPECT_EQ(ask(gateway, request(11)).status, 431);
  EXPECT_TRUE(gateway.limitWasHit("headerFields"));
}

TEST(ResponseLimits, BoundHeaderBytesAndFields) {
  for (const std::string limit : {"headerBytes", "responseFields"}) {
    const bool bytes = limit == "headerBytes";
    int fields = 0;
    RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
      while (!self.readHead(socket).empty()) {
        std::string head = "HTTP/1.1 200 OK\r\n";
        for (int i = 1; i < fields; ++i) head += bytes ? "X: " + std::string(67, 'x') + "\r\n" : "X: y\r\n";
        socket.send(head + "Content-Length: 0\r\n\r\n");
      }
    });
    // The response has ten fields of 100 bytes, Content-Length with 14 + 1 + 32, and the status line, which is counted
    // like a field.
    const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                  .settings = limits(bytes ? "headerBytes: 1092" : "responseFields: 11")});
    fields = 11;
    EXPECT_THAT(run({"curl", "-sSi", gateway.url("/")}).output, HasSubstr(" 200 ")) << limit;
    EXPECT_EQ(gateway.limitHits(limit), 0);
    fields = 12;
    const std::string refused = run({"curl", "-sSi", gateway.url("/")}).output;
    EXPECT_THAT(refused, HasSubstr(" 502 ")) << limit;
    EXPECT_THAT(refused, HasSubstr("http_protocol_error"));
    EXPECT_TRUE(gateway.limitWasHit(limit));
  }
}

TEST(ResponseLimits, BoundInformationalResponses) {
  int interims = 0;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) {
      for (int i = 0; i < interims; ++i) socket.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
      socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .settings = limits("informationalResponses: 3")});
  interims = 3;
  EXPECT_THAT(run({"curl", "-sSi", gateway.url("/")}).output, HasSubstr(" 200 "));
  EXPECT_EQ(gateway.limitHits("informationalResponses"), 0);
  interims = 4;
  const std::string refused = run({"curl", "-sSi", gateway.url("/")}).output;
  EXPECT_THAT(refused, HasSubstr(" 502 "));
  EXPECT_THAT(refused, HasSubstr("http_protocol_error"));
  EXPECT_TRUE(gateway.limitWasHit("informationalResponses"));
}

TEST_F(MessageLimits, CountChunkExtensionBytesOverTheWholeBody) {
  const GatewayProcess gateway = gatewayWith("chunkExtensionBytes: 16");
  const auto request = [](const std::string& first, const std::string& second) {
    return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1" + first + "\r\na\r\n1" + second +
           "\r\na\r\n0\r\n\r\n";
  };
  EXPECT_EQ(ask(gateway, request(";abcdefg", ";abcdefg")).status, 200);
  EXPECT_EQ(gateway.limitHits("chunkExtensionBytes"), 0);
  const ReceivedResponse got = ask(gateway, request(";abcdefg", ";abcdefgh"));
  EXPECT_EQ(got.status, 400);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(gateway.limitWasHit("chunkExtensionBytes"));
}

// --- HTTP/2
// ---------------------------------------------------------------------------------------------------------------

TEST_F(MessageLimits, BoundConcurrentStreams) {
  const GatewayProcess gateway = gatewayWith("concurrentStreams: 2");
  H2Client client(gateway.port(), h2::clientHello());  // may not have received the limit yet
  client.send(h2::headers(1, h2::post(), false) + h2::headers(3, h2::post(), false));
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(settingOf(client, kMaxConcurrentStreams), 2u);
  EXPECT_EQ(gateway.limitHits("concurrentStreams"), 0);
  client.send(h2::headers(5, h2::post(), false));
  EXPECT_TRUE(client.readFrame(H2Type::kRstStream, 5));
  EXPECT_EQ(client.seen().find(H2Type::kRstStream, 5)->errorCode(), h2error::kRefusedStream);
  EXPECT_TRUE(gateway.limitWasHit("concurrentStreams"));
  client.send(h2::data(1, "", true));
  EXPECT_TRUE(client.readStream(1));
  client.send(h2::headers(7, h2::get(), true));
  EXPECT_TRUE(client.readStream(7)) << "there is room again";
  EXPECT_EQ(client.status(7), "200");
}

TEST_F(MessageLimits, EndAConnectionThatExceedsAcknowledgedConcurrentStreams) {
  const GatewayProcess gateway = gatewayWith("concurrentStreams: 2");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false) + h2::headers(3, h2::post(), false) +
              h2::headers(5, h2::post(), false));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.goawayCode(), h2error::kProtocolError);
  EXPECT_TRUE(gateway.limitWasHit("concurrentStreams"));
}

TEST_F(MessageLimits, BoundResetsPerMinute) {
  const GatewayProcess gateway = gatewayWith("resetsPerMinute: 5");
  H2Client client(gateway.port());
  std::uint32_t stream = 1;
  const auto reset = [&] {
    client.send(h2::headers(stream, h2::post(), false) + h2::rstStream(stream, h2error::kCancel));
    stream += 2;
  };
  for (int i = 0; i < 5; ++i) reset();
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(gateway.limitHits("resetsPerMinute"), 0);
  reset();
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.goawayCode(), h2error::kEnhanceYourCalm);
  EXPECT_TRUE(gateway.limitWasHit("resetsPerMinute"));
}

TEST_F(MessageLimits, BoundControlFramesPerMinute) {
  const GatewayProcess gateway = gatewayWith("controlFramesPerMinute: 100");
  H2Client client(gateway.port());
  for (int i = 0; i < 50; ++i) client.send(h2::ping());
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(gateway.limitHits("controlFramesPerMinute"), 0);
  for (int i = 0; i < 150; ++i) client.send(h2::ping());
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.goawayCode(), h2error::kEnhanceYourCalm);
  EXPECT_TRUE(gateway.limitWasHit("controlFramesPerMinute"));
}

TEST_F(MessageLimits, BoundEmptyFrames) {
  const GatewayProcess gateway = gatewayWith("emptyFrames: 5");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false));
  for (int i = 0; i < 5; ++i) client.send(h2::data(1, "", false));
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(gateway.limitHits("emptyFrames"), 0);
  client.send(h2::data(1, "", false));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.goawayCode(), h2error::kEnhanceYourCalm);
  EXPECT_TRUE(gateway.limitWasHit("emptyFrames"));
}

TEST_F(MessageLimits, BoundQueuedControlFrames) {
  // The number of answers that wait at once depends on how the kernel splits the stream into reads, so the test stays
  // far inside and far outside.
  const GatewayProcess gateway = gatewayWith("queuedControlFrames: 50");
  H2Client client(gateway.port());
  std::string pings;
  for (int i = 0; i < 5; ++i) pings += h2::ping();
  for (int i = 0; i < 20; ++i) {  // a client that reads the answers may cause any number of them
    client.send(pings);
    ASSERT_TRUE(client.isServed());
  }
  EXPECT_EQ(gateway.limitHits("queuedControlFrames"), 0);
  for (int i = 0; i < 300; ++i) pings += h2::ping();
  client.send(pings);
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.goawayCode(), h2error::kEnhanceYourCalm);
  EXPECT_TRUE(gateway.limitWasHit("queuedControlFrames"));
}

// --- windows ------------------------------------------------------------------------------------------------------

/// The backend is never ready, so the gateway keeps the client's bytes. The clients have acknowledged the SETTINGS:
/// until then, HTTP/2's own initial windows hold (RFC 9113 section 6.5.3).
class FlowControl : public testing::Test {
 protected:
  RawOrigin origin_{[](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); }};
  GatewayProcess gatewayWith(const std::string& settings) {
    return GatewayProcess({.backends = {{.port = origin_.port(), .ca = makeAuthority().certificate}},
                           .settings = limits(settings) + "timeouts: {connect: 60s}\n"});
  }
  static void sendBody(H2Client& client, std::uint32_t stream, std::size_t size) {
    constexpr std::size_t kFrame = 16 * 1024;
    for (; size > 0; size -= std::min(size, kFrame))
      client.send(h2::data(stream, std::string(std::min(size, kFrame), 'x'), false));
  }
};

TEST_F(FlowControl, LetsAStreamSendItsWindowAndNoMore) {
  const GatewayProcess gateway = gatewayWith("streamWindow: 20Ki");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false) + h2::headers(3, h2::post(), false));
  sendBody(client, 1, 20 * 1024);
  sendBody(client, 3, 20 * 1024);
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(settingOf(client, kInitialWindowSize), 20u * 1024);
  EXPECT_EQ(windowUpdates(client, 1), 0u);
  sendBody(client, 1, 1);
  EXPECT_TRUE(client.readUntil([&] {
    return client.goawayCode() == h2error::kFlowControlError || client.seen().find(H2Type::kRstStream, 1) != nullptr;
  }));
}

TEST_F(FlowControl, BoundsTheStreamWindowByTheExchangeBuffer) {
  const GatewayProcess gateway = gatewayWith("exchangeBuffer: 16Ki");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false));
  sendBody(client, 1, 16 * 1024);
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(settingOf(client, kInitialWindowSize), 16u * 1024);
  EXPECT_EQ(windowUpdates(client, 1), 0u);
  EXPECT_EQ(client.goawayCode(), H2Client::kNoGoaway);
}

// The connection's window bounds the bytes in flight of all streams together, and is replenished as they arrive. Unread
// bytes are counted against their stream's window only, so other streams of the connection go on.
TEST_F(FlowControl, BoundsBytesInFlightByTheConnectionWindow) {
  constexpr std::size_t kWindow = 100 * 1024;
  constexpr std::size_t kInitial = 65535;  // RFC 9113 section 6.9.2
  const GatewayProcess gateway = gatewayWith("connectionWindow: 100Ki");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false));
  EXPECT_TRUE(client.readFrame(H2Type::kWindowUpdate, 0));
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(client.seen().granted(0), kWindow - kInitial);
  sendBody(client, 1, kWindow / 2);
  EXPECT_TRUE(client.isServed());
  EXPECT_EQ(client.seen().granted(0), kWindow - kInitial + kWindow / 2) << "nobody has taken it, and it is back";
  EXPECT_EQ(client.seen().granted(1), 0u);
}

/// Returns a backend of HTTP/2 without TLS.
std::string h2cBackend(std::uint16_t port) {
  return "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {namespace: test, name: h2c}\n"
         "spec:\n  type: ExternalHostname\n  externalHostname: {hostname: origin.test}\n  port: {port: " +
         std::to_string(port) +
         "}\n  protocol: H2C\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\nspec:\n"
         "  parentRefs: [{name: egress}]\n  rules:\n    - backendRefs: [{group: gateway.networking.x-k8s.io, kind: "
         "XBackend, name: h2c, port: " +
         std::to_string(port) + "}]\n";
}

TEST(HeldResponses, AreBoundedByWindowsAndTheExchangeBuffer) {
  constexpr std::size_t kBuffer = 16 * 1024;
  std::atomic<bool> held = false;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    H2Client peer(std::move(socket));
    peer.readFrame(H2Type::kHeaders, 1);
    peer.send(h2::settingsAck() + h2::headers(1, {{":status", "200"}}, false) +
              h2::data(1, std::string(kBuffer, 'x'), false));
    held = peer.isServed() && settingOf(peer, kInitialWindowSize) == kBuffer && windowUpdates(peer, 1) == 0;
    self.waitUntilItStops();
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = limits("exchangeBuffer: 16Ki"),
                                .routes = h2cBackend(origin.port())});
  H2Client client(gateway.port(),
                  std::string(h2::preface()) + h2::settings({{kInitialWindowSize, 0}}));  // a window of 0
  client.send(h2::headers(1, h2::get(), true));
  EXPECT_TRUE(client.readFrame(H2Type::kHeaders, 1));
  EXPECT_EQ(client.status(1), "200");
  EXPECT_TRUE(eventually([&] { return held.load(); }));
}

}  // namespace
}  // namespace sluice::test
