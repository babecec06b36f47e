// A request for a WebSocket that the backend agrees to becomes a tunnel of bytes both ways. Any other answer leaves an
// ordinary exchange behind.
#include "proxy/exchange/tunnel.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proxy/base/base64.h"
#include "proxy/http/tunnel.h"
#include "test/support/exchange_rig.h"
#include "test/support/h2_frames.h"

namespace sluice::exchange {
namespace {

using http::Body;
using std::chrono::seconds;
using test::BackendPeer;
using test::ClientPeer;
using test::HeadSpec;
using test::Rig;
using test::RigOptions;

RigOptions options() {
  RigOptions made;
  made.timeouts.request = seconds(10);
  made.timeouts.bodyIdle = seconds(3);
  made.timeouts.streamIdle = seconds(60);
  return made;
}

// The example of RFC 6455 section 1.3.
TEST(TunnelHandshake, ComputesTheAcceptValueOfTheClientsKey) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  base::Random random(1);
  http::RequestHead head;
  head.body = Body::kTunnel;
  head.tunnel = http::Tunnel::kWebSocket;
  head.headers.add(arena, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
  openHandshake(arena, random, head);
  EXPECT_EQ(http::webSocketKey(head.headers), "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_EQ(head.tunnelProof, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(TunnelHandshake, MakesAKeyForAClientThatSentNone) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  base::Random random(1);
  std::set<std::string> keys;
  for (int i = 0; i < 2; ++i) {
    http::RequestHead head;
    head.body = Body::kTunnel;
    head.tunnel = http::Tunnel::kWebSocket;
    head.version = http::Version::kHttp2;
    openHandshake(arena, random, head);
    const std::string key(http::webSocketKey(head.headers));
    EXPECT_EQ(base::decodeBase64(key).value_or("").size(), 16U) << key;
    EXPECT_EQ(head.tunnelProof.size(), 28U);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 2U);
}

class WebSocketTunnel : public ::testing::Test {
 protected:
  explicit WebSocketTunnel(const RigOptions& made = options()) : rig_(made), client_(rig_.connect()) {}

  void ask() {
    index_ =
        client_.ask({.target = "/ok/chat",
                     .fields = {{"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}, {"sec-websocket-version", "13"}},
                     .body = Body::kTunnel});
    EXPECT_TRUE(rig_.settle());
    if (rig_.dialled() == 1 && rig_.backends.empty()) accept();
  }
  void agree() {
    backend().head(
        0,
        {.fields = {{"sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}}, .body = Body::kTunnel, .status = 101});
    EXPECT_TRUE(rig_.settle());
  }
  void open() {
    ask();
    agree();
    EXPECT_TRUE(answer().answered);
    EXPECT_EQ(answer().message.head.status, 101);
  }
  void say(std::string_view bytes) {
    client_.body(index_, bytes);
    EXPECT_TRUE(rig_.settle());
  }
  void reply(std::string_view bytes) {
    backend().body(0, bytes);
    EXPECT_TRUE(rig_.settle());
  }
  virtual void accept() { rig_.accept(0); }
  BackendPeer& backend() { return *rig_.backends.at(0); }
  test::RecordingServerSink::RecordedRequest& heard() { return backend().request(0); }
  test::RecordingClientSink::RecordedResponse& answer() { return client_.answer(index_); }
  void expectClean() {
    EXPECT_TRUE(rig_.quiet());
    EXPECT_EQ(rig_.exchanges.size(), 0U);
    EXPECT_EQ(rig_.told.size(), 1U);
    EXPECT_EQ(rig_.budget().requests.count(), 0U);
    rig_.close();
    EXPECT_EQ(rig_.budget().connections.count(), 0U);
    EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
  }

  Rig rig_;
  ClientPeer& client_;
  std::size_t index_ = 0;
};

TEST_F(WebSocketTunnel, MovesBytesBothWays) {
  open();
  EXPECT_EQ(heard().message.head.body, Body::kTunnel);
  EXPECT_NE(heard().message.head.headers.find("sec-websocket-version"), nullptr);
  std::string up;
  std::string down;
  for (int i = 0; i < 100; ++i) {
    up += std::to_string(i) + ";";
    down += std::to_string(i) + ",";
    say(std::to_string(i) + ";");
    reply(std::to_string(i) + ",");
    EXPECT_EQ(heard().body, up) << "nothing is held back";
    EXPECT_EQ(answer().body, down);
  }
  client_.wire().end();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(heard().ended);
  backend().finish(0);
  EXPECT_TRUE(rig_.settle());
  ASSERT_EQ(rig_.told.size(), 1U);
  EXPECT_EQ(rig_.told[0].status, 101);
  EXPECT_EQ(rig_.told[0].requestBytes, up.size());
  EXPECT_EQ(rig_.told[0].responseBytes, down.size());
  EXPECT_FALSE(rig_.told[0].error);
  EXPECT_EQ(rig_.openConnections(), 0U) << "the connection goes with its tunnel";
  expectClean();
}

TEST_F(WebSocketTunnel, CountsAgainstTheBackendsLimitsForAsLongAsItLives) {
  open();
  reply("hello");
  EXPECT_EQ(rig_.budget().connections.count(), 1U);
  EXPECT_EQ(rig_.budget().requests.count(), 1U);
  client_.wire().end();
  backend().finish(0);
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(rig_.budget().connections.count(), 0U);
  expectClean();
}

TEST_F(WebSocketTunnel, IsBoundedByCreditBothWays) {
  open();
  backend().grants = false;
  client_.grants = false;
  const std::string much(4'000'000, 'x');
  say(much);
  reply(much);
  EXPECT_LT(heard().body.size(), 1'000'000U);
  EXPECT_LT(answer().body.size(), 1'000'000U);
  backend().grants = true;
  client_.grants = true;
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(heard().body.size(), much.size());
  EXPECT_EQ(answer().body.size(), much.size());
}

TEST_F(WebSocketTunnel, GoesOnToTheBackendAfterTheBackendHasEnded) {
  open();
  reply("last");
  backend().finish(0);
  EXPECT_TRUE(rig_.settle());
  backend().wire().end();
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(answer().body, "last");
  EXPECT_EQ(rig_.exchanges.size(), 1U);
  say("still");
  EXPECT_EQ(heard().body, "still");
  client_.wire().end();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(backend().wire().finished);
  EXPECT_FALSE(backend().wire().aborted);
  EXPECT_EQ(rig_.told.at(0).status, 101);
  expectClean();
}

TEST_F(WebSocketTunnel, LetsTheClientGoWhenTheBackendThatHasEndedIsLost) {
  open();
  client_.grants = false;
  reply(std::string(300'000, 'x') + "last");
  backend().finish(0);
  EXPECT_TRUE(rig_.settle());
  backend().wire().end();
  EXPECT_TRUE(rig_.settle());
  say("still");
  backend().wire().reset();
  EXPECT_TRUE(rig_.settle());
  client_.grants = true;
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(answer().body.ends_with("last"));
  EXPECT_TRUE(answer().ended);
  EXPECT_FALSE(client_.wire().aborted);
  EXPECT_FALSE(rig_.told.at(0).error);
  expectClean();
}

TEST_F(WebSocketTunnel, IsCutAtTheBackendWhenTheClientIsLost) {
  open();
  client_.wire().reset();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(backend().wire().aborted);
  EXPECT_EQ(rig_.told.at(0).status, 101);
  expectClean();
}

TEST_F(WebSocketTunnel, IsCutAtTheClientWhenTheBackendIsLost) {
  open();
  backend().wire().reset();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.wire().aborted);
  EXPECT_EQ(rig_.told.at(0).error->type, base::ErrorType::kConnectionTerminated);
  expectClean();
}

class LastConnection : public WebSocketTunnel {
 protected:
  static RigOptions boundedBy(std::uint64_t connections) {
    RigOptions made = options();
    made.maxConnections = connections;
    return made;
  }
  explicit LastConnection(std::uint64_t connections = 1) : WebSocketTunnel(boundedBy(connections)) {}
  ClientPeer& another() {
    ClientPeer& other = rig_.connect();
    other.ask({.target = "/ok/other"});
    EXPECT_TRUE(rig_.settle());
    return other;
  }
};

TEST_F(LastConnection, MakesOthersWaitWhileItIsATunnel) {
  open();
  ClientPeer& other = another();
  EXPECT_EQ(rig_.dialled(), 1U);
  EXPECT_FALSE(other.answer(0).answered);
  client_.wire().end();
  backend().finish(0);
  EXPECT_TRUE(rig_.settle());
  ASSERT_EQ(rig_.dialled(), 2U);
  rig_.accept(1).respond(0, 200, "now");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(other.answer(0).body, "now");
}

class LastButOneConnection : public LastConnection {
 protected:
  LastButOneConnection() : LastConnection(2) {}
};

TEST_F(LastButOneConnection, MayBeATunnelWithoutMakingOthersWait) {
  open();
  ClientPeer& other = another();
  ASSERT_EQ(rig_.dialled(), 2U);
  rig_.accept(1).respond(0, 200, "at once");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(other.answer(0).body, "at once");
  EXPECT_EQ(rig_.budget().connections.count(), 2U);
}

// --- no tunnel

TEST_F(WebSocketTunnel, DoesNotComeAboutIfTheBackendAnswersOtherwise) {
  ask();
  backend().respond(0, 426, "no");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(answer().message.head.status, 426);
  EXPECT_TRUE(answer().ended);
  EXPECT_EQ(rig_.told.at(0).status, 426);
  // Both connections go on serving.
  const std::size_t next = client_.ask({.target = "/ok/next"});
  EXPECT_TRUE(rig_.settle());
  ASSERT_EQ(backend().requests(), 2U);
  EXPECT_EQ(backend().request(1).message.head.target, "/ok/next");
  EXPECT_EQ(backend().request(0).body, "");
  backend().respond(1, 200, "ok");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(next).body, "ok");
  EXPECT_EQ(rig_.dialled(), 1U);
}

// Bytes that a client sends before the tunnel is agreed could be taken for a second request (request smuggling).
TEST_F(WebSocketTunnel, DoesNotForwardBytesThatComeBeforeItIsAgreed) {
  ask();
  client_.wire().deliver("GET /ok/hidden HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(heard().body, "");
  EXPECT_EQ(backend().requests(), 1U);
  backend().respond(0, 200, "no tunnel");
  EXPECT_TRUE(rig_.settle());
  ASSERT_EQ(backend().requests(), 2U) << "routed anew";
  EXPECT_EQ(backend().request(1).message.head.target, "/ok/hidden");
  EXPECT_NE(backend().request(1).message.head.headers.find(http::FieldId::kVia), nullptr);
}

TEST_F(WebSocketTunnel, FailsIfTheSwitchDoesNotFit) {
  ask();
  backend().wire().deliver(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
      "AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(answer().message.head.status, 502);
  EXPECT_EQ(rig_.told.at(0).error->type, base::ErrorType::kHttpProtocolError);
}

// --- a backend of HTTP/2 (RFC 8441)

class Http2Backend : public WebSocketTunnel {
 protected:
  static RigOptions http2() {
    RigOptions made = options();
    made.protocol = routing::UpstreamProtocol::kHttp2;
    return made;
  }
  Http2Backend() : WebSocketTunnel(http2()) {}
  void accept() override { rig_.accept(0, http::Version::kHttp2); }
};

TEST_F(Http2Backend, CarriesTheTunnelOnAStreamOfItsConnection) {
  ask();
  EXPECT_EQ(heard().message.head.body, Body::kTunnel);
  backend().head(0, {.body = Body::kTunnel, .status = 101});
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(answer().message.head.status, 101) << "the client's codec has checked Sec-WebSocket-Accept";
  say("up");
  reply("down");
  EXPECT_EQ(heard().body, "up");
  EXPECT_EQ(answer().body, "down");
  backend().finish(0);
  EXPECT_TRUE(rig_.settle());
  say("still");
  EXPECT_EQ(heard().body, "upstill");
  client_.wire().end();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(heard().ended);
  EXPECT_FALSE(backend().wire().aborted);
  EXPECT_EQ(rig_.budget().connections.count(), 1U) << "it serves other requests";
  EXPECT_EQ(rig_.told.at(0).status, 101);
  EXPECT_FALSE(rig_.told.at(0).error);
  expectClean();
}

TEST_F(Http2Backend, IsCutOffByEitherSide) {
  for (const bool byClient : {true, false}) {
    Rig rig(http2());
    ClientPeer& client = rig.connect();
    client.ask(
        {.target = "/ok/chat", .fields = {{"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}}, .body = Body::kTunnel});
    EXPECT_TRUE(rig.settle());
    BackendPeer& backend = rig.accept(0, http::Version::kHttp2);
    backend.head(0, {.body = Body::kTunnel, .status = 101});
    EXPECT_TRUE(rig.settle());
    if (byClient) {
      client.wire().reset();
    } else {
      backend.reset(0, http::ResetReason::kCancelled);
    }
    EXPECT_TRUE(rig.settle());
    if (byClient) {
      EXPECT_TRUE(backend.request(0).reset);
    } else {
      EXPECT_TRUE(client.wire().aborted);
    }
    EXPECT_EQ(rig.exchanges.size(), 0U);
    rig.close();
  }
}

TEST_F(Http2Backend, AnswersLikeAnyRequestIfItDoesNotAgree) {
  ask();
  backend().respond(0, 403, "no");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(answer().message.head.status, 403);
  EXPECT_EQ(answer().body, "no");
  const std::size_t next = client_.ask({.target = "/ok/next"});
  EXPECT_TRUE(rig_.settle());
  backend().respond(1, 200, "ok");
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(next).body, "ok");
  EXPECT_EQ(rig_.dialled(), 1U);
}

/// A backend whose bytes the test writes.
class RawHttp2Backend : public Http2Backend {
 protected:
  void accept() override {
    rig_.wire(0).accept("h2");
    EXPECT_TRUE(rig_.settle());
  }
};

TEST_F(RawHttp2Backend, GetsNoTunnelThatItsSettingsDoNotOffer) {
  ask();
  EXPECT_FALSE(answer().answered) << "its SETTINGS are awaited";
  rig_.wire(0).deliver(test::h2::settings({}));
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(answer().message.head.status, 502);
  EXPECT_NE(answer().body.find("do not offer WebSockets"), std::string::npos) << answer().body;
}

TEST_F(RawHttp2Backend, HasTheTimeOfTheConnectForItsSettings) {
  ask();
  rig_.advance(seconds(4));
  EXPECT_FALSE(answer().answered);
  rig_.advance(seconds(2));
  EXPECT_EQ(answer().message.head.status, 504);
  EXPECT_EQ(rig_.told.at(0).error->limit, "connect");
  EXPECT_FALSE(rig_.wire(0).letGo) << "the connection may serve others";
}

// --- time

TEST_F(WebSocketTunnel, OutlivesTheTimeoutsOfItsRequest) {
  ask();
  rig_.advance(seconds(5));  // bodyIdle bounds bodies only
  agree();
  rig_.advance(seconds(30));
  EXPECT_TRUE(rig_.told.empty());
  say("alive");
  EXPECT_EQ(heard().body, "alive");
}

TEST_F(WebSocketTunnel, EndsWithTheTimeoutOfItsRequestIfItIsNeverAgreed) {
  ask();
  rig_.advanceShortOf(seconds(10));
  EXPECT_TRUE(rig_.told.empty());
  rig_.advancePast();
  EXPECT_EQ(answer().message.head.status, 504);
}

TEST_F(WebSocketTunnel, IsCutWhenNothingMovesForLong) {
  open();
  rig_.advance(seconds(50));
  say("x");  // one byte is progress
  rig_.advance(seconds(50));
  reply("y");
  rig_.advanceShortOf(seconds(60));
  EXPECT_TRUE(rig_.told.empty());
  rig_.advancePast();
  ASSERT_EQ(rig_.told.size(), 1U);
  EXPECT_TRUE(client_.wire().aborted);
  EXPECT_TRUE(backend().wire().aborted);
  EXPECT_EQ(rig_.limits.back(), "streamIdle");
  expectClean();
}

}  // namespace
}  // namespace sluice::exchange
