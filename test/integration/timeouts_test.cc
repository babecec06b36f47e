// Tests both sides of every timeout of settings.yaml: exchanges beyond it end and are counted, those within it are not.
//
// A timeout of milliseconds may expire at any moment, so it is used only if no other event must come before. All other
// timeouts are kLong, and the test moves the gateway's clock by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <string>
#include <vector>

#include "test/integration/support/full_listener.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::chrono::seconds kLong{100};   // "100s" in the settings
constexpr std::chrono::seconds kWithin{60};  // within kLong once, but not twice

std::string timeouts(const std::string& text) { return "timeouts: {" + text + "}\n"; }

RawOrigin::Script silence() {
  return [](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  };
}

/// Sends `piece` again and again until an answer has come or the peer has ended.
ReceivedResponse drip(BlockingSocket& client, const std::string& piece) {
  std::string text;
  while (!client.closed() && text.empty()) {
    client.sendSome(piece, kPatience);
    text = client.readUntil("\r\n\r\n", milliseconds(50));
  }
  return {text.size() > 12 ? std::stoi(text.substr(9, 3)) : 0, text, client.readAll()};
}

class GatewayTimeouts : public testing::Test {
 protected:
  EchoOrigin origin_{std::nullopt};
  GatewayProcess gatewayWith(const std::string& settings) {
    return GatewayProcess({.backends = {{.port = origin_.port()}}, .settings = timeouts(settings)});
  }
  /// Returns a gateway whose time is moved by hand.
  GatewaySpec timed(const std::string& settings, std::uint16_t origin) const {
    return {.backends = {{.port = origin}}, .settings = onlyTimeouts(settings), .startedBy = time_.startedBy()};
  }
  GatewaySpec timed(const std::string& settings) const { return timed(settings, origin_.port()); }

  PassedTime time_;
};

// --- requestHeader
// ----------------------------------------------------------------------------------------------------

TEST_F(GatewayTimeouts, RequestHeaderEndsAHeadThatDrips) {
  const GatewayProcess gateway = gatewayWith("requestHeader: 300ms");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n");
  const ReceivedResponse got = drip(client, "X-Drip: a\r\n");
  EXPECT_EQ(got.status, 408);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(GatewayTimeouts, RequestHeaderRunsFromTheFirstByte) {
  const GatewayProcess gateway = gatewayWith("requestHeader: 300ms");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("P");  // too short to detect the version
  EXPECT_EQ(readResponse(client).status, 408);
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(GatewayTimeouts, RequestHeaderEndsAnHttp2HeadThatIsNotCompleted) {
  const GatewayProcess gateway = gatewayWith("requestHeader: 300ms");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::block(h2::get()), true, false));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(GatewayTimeouts, RequestHeaderLetsAHeadInPiecesPass) {
  const GatewayProcess gateway(timed("requestHeader: 100s"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (const std::string piece : {"G", "ET / HT", "TP/1.1\r\nHos", "t: a\r\n\r", "\n"}) {
    client.send(piece);
    ASSERT_TRUE(client.waitUntilRead());
    time_.pass(gateway, kLong / 6);
  }
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(gateway.limitHits("requestHeader"), 0);
}

TEST_F(GatewayTimeouts, RequestHeaderBoundsEachHeadSeparately) {
  const GatewayProcess gateway(timed("requestHeader: 100s"));
  H2Client client(gateway.port());
  const auto request = [](std::uint32_t stream) { return h2::headers(stream, h2::get(), true); };
  client.send(request(1).substr(0, 15));
  // This takes longer than the timeout, and half a head is pending at any time.
  for (std::uint32_t stream = 1; stream < 30; stream += 2) {
    ASSERT_TRUE(client.waitUntilRead());
    time_.pass(gateway, kWithin);
    client.send(request(stream).substr(15) + request(stream + 2).substr(0, 15));
    ASSERT_TRUE(client.readStream(stream)) << stream;
  }
  EXPECT_EQ(gateway.limitHits("requestHeader"), 0);
}

// --- bodyIdle
// -----------------------------------------------------------------------------------------------------------

TEST_F(GatewayTimeouts, BodyIdleEndsABodyThatDoesNotCome) {
  const GatewayProcess gateway = gatewayWith("bodyIdle: 300ms");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 408);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(gateway.limitWasHit("bodyIdle"));
}

TEST_F(GatewayTimeouts, BodyIdleEndsABodyThatDrips) {
  const GatewayProcess gateway = gatewayWith("bodyIdle: 300ms");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  EXPECT_EQ(drip(client, "x").status, 408);
  EXPECT_TRUE(gateway.limitWasHit("bodyIdle"));
}

TEST_F(GatewayTimeouts, BodyIdleAnswersAnHttp2StreamAndLetsTheOthersGoOn) {
  const GatewayProcess gateway = gatewayWith("bodyIdle: 300ms");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false) + h2::data(1, "abc", false));
  EXPECT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "408");
  client.send(h2::headers(3, h2::get(), true));
  EXPECT_TRUE(client.readStream(3));
  EXPECT_EQ(client.status(3), "200");
  EXPECT_TRUE(gateway.limitWasHit("bodyIdle"));
}

TEST_F(GatewayTimeouts, BodyIdleLetsASteadyBodyTakeLonger) {
  const GatewayProcess gateway(timed("bodyIdle: 100s"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n");
  for (int i = 0; i < 15; ++i) {
    client.send(std::string(2000, 'x'));
    ASSERT_TRUE(client.waitUntilRead());
    time_.pass(gateway, kWithin);
  }
  EXPECT_THAT(readResponse(client).body, HasSubstr("\"body_bytes\": 30000"));
  EXPECT_EQ(gateway.limitHits("bodyIdle"), 0);
}

// --- clientIdle
// ---------------------------------------------------------------------------------------------------------

TEST_F(GatewayTimeouts, ClientIdleEndsASilentConnection) {
  const GatewayProcess gateway = gatewayWith("clientIdle: 300ms");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("clientIdle"));
}

TEST_F(GatewayTimeouts, ClientIdleIsStatedToAClientThatAsks) {
  const GatewayProcess gateway = gatewayWith("clientIdle: 100s");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\nKeep-Alive: timeout=5\r\n\r\n");
  EXPECT_EQ(readResponse(client).field("keep-alive"), "timeout=100");
  client.send(kGet);
  EXPECT_EQ(readResponse(client).field("keep-alive"), std::nullopt);
}

TEST_F(GatewayTimeouts, ClientIdleEndsAConnectionAfterItsLastResponse) {
  const GatewayProcess gateway(timed("clientIdle: 100s"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  EXPECT_EQ(readResponse(client).status, 200);
  time_.pass(gateway, kLong);
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("clientIdle"));
}

TEST_F(GatewayTimeouts, ClientIdleSendsGoawayOverHttp2AlsoIfTheClientPings) {
  for (const bool pings : {false, true}) {
    const GatewayProcess gateway(timed("clientIdle: 100s"));
    H2Client client(gateway.port());
    client.send(h2::headers(1, h2::get(), true));
    EXPECT_TRUE(client.readStream(1));
    for (int i = 0; i < 3; ++i) {
      time_.pass(gateway, kWithin);
      if (pings) client.send(h2::ping());
    }
    EXPECT_TRUE(client.readFrame(H2Type::kGoaway, 0));
    time_.pass(gateway, kLong);  // the client has as long again to close
    EXPECT_TRUE(client.readToEnd());
    EXPECT_EQ(client.status(1), "200");
    EXPECT_EQ(client.goawayCode(), h2error::kNoError);
    EXPECT_TRUE(gateway.limitWasHit("clientIdle"));
  }
}

TEST_F(GatewayTimeouts, ClientIdleDoesNotCountTheTimeOfAnExchange) {
  HeldOrigin origin;
  const GatewayProcess gateway(timed("clientIdle: 100s", origin.port()));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time_.pass(gateway, 10 * kLong);
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST_F(GatewayTimeouts, ClientIdleKeepsAConnectionThatComesBack) {
  const GatewayProcess gateway(timed("clientIdle: 100s"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(askRaw(client).status, 200);
    time_.pass(gateway, kWithin);
  }
  EXPECT_EQ(gateway.limitHits("clientIdle"), 0);
}

// --- tlsHandshake
// -------------------------------------------------------------------------------------------------------

TEST_F(GatewayTimeouts, TlsHandshakeEndsAClientThatNeverFinishesIt) {
  const GatewayProcess gateway({.backends = {{.port = origin_.port()}},
                                .settings = timeouts("tlsHandshake: 300ms"),
                                .tls = issueServer(makeAuthority(), "listener.test")});
  for (const std::string& begun : {std::string(), std::string("\x16\x03\x01\x02", 4)}) {
    BlockingSocket client = BlockingSocket::connect(gateway.tlsPort());
    client.send(begun);
    EXPECT_EQ(client.readAll(), "");
    EXPECT_TRUE(client.closed());
  }
  EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"tlsHandshake\"}", 2));
}

TEST_F(GatewayTimeouts, TlsHandshakeEndsWithTheHandshake) {
  HeldOrigin origin;
  GatewaySpec spec = timed("tlsHandshake: 100s", origin.port());
  spec.tls = issueServer(makeAuthority(), "listener.test");
  const GatewayProcess gateway(spec);
  ChildProcess curl({"curl", "-sSik", "https://127.0.0.1:" + std::to_string(gateway.tlsPort()) + "/"});
  ASSERT_TRUE(origin.wasAsked());
  time_.pass(gateway, 10 * kLong);
  origin.answer();
  EXPECT_EQ(curl.wait(), 0) << curl.errors();
  EXPECT_THAT(curl.output(), HasSubstr(" 200"));
  EXPECT_EQ(gateway.limitHits("tlsHandshake"), 0);
}

// --- connect
// ------------------------------------------------------------------------------------------------------------

TEST(ConnectTimeout, EndsAConnectionThatIsNotAccepted) {
  const FullListener origin;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("connect: 300ms")});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("connection_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("connect"));
}

TEST(ConnectTimeout, BoundsTheTlsHandshakeWithTheBackendToo) {
  RawOrigin origin([](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); });
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = makeAuthority().certificate}},
                                .settings = timeouts("connect: 300ms")});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("connection_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("connect"));
}

TEST(ConnectTimeout, DoesNotApplyAfterTheConnect) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}},
                                .settings = onlyTimeouts("connect: 100s"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nfirst");
  ASSERT_TRUE(gateway.reaches("sluice_upstream_tls_handshakes_total{result=\"success\"", 1));
  time.pass(gateway, 10 * kLong);
  client.send("again");
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(gateway.limitHits("connect"), 0);
}

// --- streamIdle and request
// -----------------------------------------------------------------------------------------------

TEST(StreamIdle, EndsWaitingForASilentBackend) {
  RawOrigin origin(silence());
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("streamIdle: 300ms")});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

TEST(StreamIdle, CutsAResponseThatStopsInTheMiddle) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    if (!self.readHead(socket).empty())
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    self.waitUntilItStops();
  });
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("streamIdle: 100s"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  EXPECT_THAT(client.readUntil("abc\r\n"), EndsWith("abc\r\n"));
  time.pass(gateway, kLong);
  EXPECT_EQ(client.readAll(), "") << "no last chunk";
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

TEST_F(GatewayTimeouts, StreamIdleCutsAClientThatReadsNothing) {
  const GatewayProcess gateway(timed("streamIdle: 100s"));
  H2Client client(gateway.port(), std::string(h2::preface()) + h2::settings({{4, 0}}));  // a window of 0
  client.send(h2::headers(1, h2::get("/bytes/1000"), true));
  EXPECT_TRUE(client.readFrame(H2Type::kHeaders, 1));
  EXPECT_EQ(client.status(1), "200");
  time_.pass(gateway, kLong);
  EXPECT_TRUE(client.readFrame(H2Type::kRstStream, 1));
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

/// Sends `text` to its one client on command.
class Dictated {
 public:
  Dictated(std::string head, std::string text) : head_(std::move(head)), text_(std::move(text)) {}
  ~Dictated() {
    over_ = true;
    say();
  }
  Dictated(const Dictated&) = delete;
  Dictated& operator=(const Dictated&) = delete;

  std::uint16_t port() const { return origin_.port(); }
  void say() { due_.release(); }

 private:
  const std::string head_;
  const std::string text_;
  std::atomic<bool> over_ = false;
  std::counting_semaphore<> due_{0};
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) {
    if (self.readHead(socket).empty()) return;
    socket.send(head_);
    while (due_.try_acquire_for(kPatience) && !over_) socket.send(text_);
  }};
};

TEST(StreamIdle, LetsASteadyResponseTakeLonger) {
  Dictated origin("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n", "x");
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("streamIdle: 100s"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  EXPECT_THAT(client.readUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  for (int i = 0; i < 15; ++i) {
    time.pass(gateway, kWithin);
    origin.say();
    ASSERT_EQ(client.readExactly(1), "x");
  }
  EXPECT_EQ(gateway.limitHits("streamIdle"), 0);
}

TEST(RequestTimeout, EndsAnExchangeThatIsStillActive) {
  Dictated origin("", "HTTP/1.1 103 Early Hints\r\n\r\n");
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("request: 100s"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  for (int i = 0; i < 3; ++i) {
    origin.say();
    ASSERT_EQ(readResponse(client).status, 103);
    time.pass(gateway, kLong / 4);
  }
  origin.say();
  ASSERT_EQ(readResponse(client).status, 103);
  time.pass(gateway, kLong / 4);
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("request"));
}

TEST_F(GatewayTimeouts, RequestLetsAnExchangeWithinItPass) {
  HeldOrigin origin;
  const GatewayProcess gateway(timed("request: 100s", origin.port()));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time_.pass(gateway, kWithin);
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(gateway.limitHits("request"), 0);
}

// --- upstreamIdle
// -----------------------------------------------------------------------------------------------------------

TEST(UpstreamIdle, ClosesAnUnusedConnection) {
  std::atomic<bool> ended = false;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send(kOk);
    ended = socket.closed() && !self.stopping();
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("upstreamIdle: 300ms")});
  EXPECT_EQ(run({"curl", "-sS", gateway.url("/")}).output, "ok");
  EXPECT_TRUE(gateway.limitWasHit("upstreamIdle"));
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(run({"curl", "-sS", gateway.url("/")}).output, "ok") << "by another one";
  EXPECT_EQ(origin.connections(), 2);
}

TEST(UpstreamIdle, KeepsAConnectionThatIsUsedAgainInTime) {
  RawOrigin origin(RawOrigin::answering(kOk));
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("upstreamIdle: 100s"),
                                .startedBy = time.startedBy()});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run({"curl", "-sS", gateway.url("/")}).output, "ok");
    time.pass(gateway, kWithin);
  }
  EXPECT_EQ(origin.connections(), 1);
  EXPECT_EQ(gateway.limitHits("upstreamIdle"), 0);
}

TEST(UpstreamIdle, DoesNotCountTheTimeOfAnExchange) {
  HeldOrigin origin;
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("upstreamIdle: 100s"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time.pass(gateway, 10 * kLong);
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
}

}  // namespace
}  // namespace sluice::test
