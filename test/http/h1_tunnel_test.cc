// Tunnels of the HTTP/1.1 codecs: after a 101 that was asked for, and never before it.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proxy/http/codec.h"
#include "test/http/h1_server_fixture.h"

namespace sluice::http {
namespace {

constexpr std::string_view kAsk =
    "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
constexpr std::string_view kAgree =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

// --- towards clients

struct TunnelServer : test::H1Server {
  using H1Server::H1Server;
  test::RecordingServerSink::RecordedRequest& ask(std::string_view behind = "") {
    feed(std::string(kAsk) + std::string(behind));
    return sink.last();
  }
  void agree() { codec->sendResponse(sink.last().id, answer(101, Body::kTunnel)); }
  void say(std::string_view bytes) {
    sink.last().response.bytes.append(bytes);
    codec->wake(sink.last().id);
  }
  void finish() {
    sink.last().response.finish();
    codec->wake(sink.last().id);
  }
};

TEST(H1ServerTunnel, MovesBytesBothWaysOnceItIsAgreed) {
  TunnelServer server;
  auto& stream = server.ask();
  EXPECT_EQ(stream.message.head.body, Body::kTunnel);
  EXPECT_FALSE(stream.ended);
  server.agree();
  EXPECT_EQ(server.out(), "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  server.feed("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(stream.body, "GET / HTTP/1.1\r\n\r\n") << "opaque";
  server.say("back");
  EXPECT_EQ(server.out(), "back");
  EXPECT_EQ(server.sink.count(), 1U);
  EXPECT_EQ(server.codec->activeStreams(), 1U);
}

struct ConnectServer : TunnelServer {
  ConnectServer() { codec = makeH1ServerCodec(sink, pool, Limits(), ServerTerms(Scheme::kHttp, true)); }
  test::RecordingServerSink::RecordedRequest& connect(std::string_view behind = "") {
    feed("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n" + std::string(behind));
    return sink.last();
  }
  void agree() {
    ResponseHead head = answer(200, Body::kTunnel);
    head.tunnel = Tunnel::kStream;
    codec->sendResponse(sink.last().id, head);
  }
};

TEST(H1ServerTunnel, IsOpenedByConnectWithoutFramingOrUpgrade) {
  ConnectServer server;
  auto& stream = server.connect("early");
  EXPECT_EQ(stream.message.head.tunnel, Tunnel::kStream);
  EXPECT_EQ(stream.body, "");
  server.agree();
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(stream.body, "early");
  server.say("back");
  EXPECT_EQ(server.out(), "back");
}

TEST(H1ServerTunnel, EndsTheConnectionWhoseConnectIsRefused) {
  for (const std::uint16_t status : {std::uint16_t{403}, std::uint16_t{407}}) {
    ConnectServer server;
    server.connect("GET http://a.test/ HTTP/1.1\r\nHost: a\r\n\r\n");
    server.respond(status, "");
    EXPECT_NE(server.out().find("connection: close"), std::string::npos) << "the bytes behind it are no request";
    EXPECT_EQ(server.codec->state(), CodecState::kClosed);
    EXPECT_EQ(server.sink.count(), 1U);
  }
}

TEST(H1ServerTunnel, KeepsEarlyBytesUntilItIsAgreed) {
  TunnelServer server;
  auto& stream = server.ask("early");
  EXPECT_EQ(stream.body, "");
  server.agree();
  EXPECT_EQ(stream.body, "early");
}

// After an ordinary answer the bytes behind the request are the next request.
TEST(H1ServerTunnel, ReadsEarlyBytesAsARequestIfItIsNotAgreed) {
  TunnelServer server;
  server.ask("GET /admin HTTP/1.1\r\nHost: a\r\n\r\n");
  server.respond(426, "no");
  server.out();
  server.codec->resume();
  ASSERT_EQ(server.sink.count(), 2U);
  EXPECT_EQ(server.sink.last().message.head.target, "/admin");
  EXPECT_EQ(server.sink.last().message.head.body, Body::kNone);
  EXPECT_EQ(server.sink.stream(0).body, "");
}

TEST(H1ServerTunnel, IsNeverOpenedForARequestThatDidNotAsk) {
  TunnelServer server;
  server.feed(test::kGet);
  server.agree();
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(server.codec->abortive());
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(H1ServerTunnel, DeliversNoMoreThanWasGranted) {
  Limits limits;
  limits.streamWindow = 10;
  TunnelServer server(limits);
  auto& stream = server.ask(std::string(25, 'x'));
  server.agree();
  EXPECT_EQ(stream.body.size(), 10U);
  EXPECT_EQ(server.codec->readBudget(), 0U);
  server.codec->grant(stream.id, 15);
  EXPECT_EQ(stream.body.size(), 25U);
  EXPECT_EQ(server.codec->readBudget(), 0U);
  server.codec->grant(stream.id, 7);
  EXPECT_EQ(server.codec->readBudget(), 7U);
}

TEST(H1ServerTunnel, ClosesOneSideAfterTheOther) {
  TunnelServer server;
  auto& stream = server.ask();
  server.agree();
  server.say("bye");
  server.finish();
  EXPECT_FALSE(server.codec->halfClosed());
  EXPECT_TRUE(server.out().ends_with("bye"));
  EXPECT_TRUE(server.codec->halfClosed());
  EXPECT_FALSE(stream.sent);
  server.feed("still here");
  EXPECT_EQ(stream.body, "still here");
  server.codec->feedEnd();
  EXPECT_TRUE(stream.ended);
  EXPECT_TRUE(server.codec->wantsProduce());
  server.out();
  EXPECT_TRUE(stream.sent);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(server.codec->abortive());
}

TEST(H1ServerTunnel, IsOverWithTheResponseForAClientThatIsDismissed) {
  for (const bool late : {false, true}) {
    TunnelServer server;
    auto& stream = server.ask();
    server.agree();
    server.say("bye");
    if (!late) server.codec->dismiss(stream.id);
    server.finish();
    std::string said = server.out();
    if (late) server.codec->dismiss(stream.id);
    server.feed("unheard");
    EXPECT_EQ(stream.body, "");
    said += server.out();
    EXPECT_TRUE(said.ends_with("bye"));
    EXPECT_TRUE(stream.sent);
    EXPECT_EQ(server.codec->state(), CodecState::kClosed);
    EXPECT_FALSE(server.codec->abortive());
  }
}

TEST(H1ServerTunnel, OnlyATunnelDismissesItsClient) {
  TunnelServer server;
  server.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
  auto& stream = server.sink.last();
  server.codec->dismiss(stream.id);
  server.feed("body");
  EXPECT_EQ(stream.body, "body");
}

TEST(H1ServerTunnel, GoesOnTowardsAClientThatHasEndedItsSide) {
  TunnelServer server;
  auto& stream = server.ask();
  server.agree();
  server.codec->feedEnd();
  EXPECT_TRUE(stream.ended);
  server.say("more");
  EXPECT_TRUE(server.out().ends_with("more"));
  server.finish();
  server.out();
  EXPECT_TRUE(stream.sent);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(H1ServerTunnel, TakesTheEndOfAClientThatDidNotWait) {
  TunnelServer server;
  auto& stream = server.ask("all of it");
  server.codec->feedEnd();
  EXPECT_FALSE(stream.ended);
  server.agree();
  EXPECT_EQ(stream.body, "all of it");
  EXPECT_TRUE(stream.ended);
}

TEST(H1ServerTunnel, IsBrokenByALossAndByABrokenPipe) {
  TunnelServer lost;
  auto& stream = lost.ask();
  lost.agree();
  lost.codec->feedLost();
  EXPECT_TRUE(stream.reset);
  EXPECT_FALSE(stream.answerable);
  TunnelServer broken;
  auto& other = broken.ask();
  broken.agree();
  broken.out();
  other.response.breakOff();
  broken.codec->wake(other.id);
  EXPECT_TRUE(broken.codec->abortive());
}

TEST(H1ServerTunnel, OpensForNobodyIfItIsBrokenBeforeItsAnswerHasLeft) {
  TunnelServer reset;
  const auto& stream = reset.ask();
  reset.agree();
  reset.codec->reset(stream.id, ResetReason::kCancelled);
  EXPECT_TRUE(reset.codec->abortive());
  EXPECT_EQ(reset.out(), "");
  TunnelServer broken;
  auto& other = broken.ask();
  broken.agree();
  other.response.breakOff();
  broken.codec->wake(other.id);
  EXPECT_TRUE(broken.codec->abortive());
  EXPECT_EQ(broken.out(), "");
}

// --- towards backends

struct TunnelClient {
  explicit TunnelClient(Version clients = Version::kHttp11)
      : codec(makeH1ClientCodec(sink, pool, Limits())), version(clients) {}
  test::RecordingClientSink::RecordedResponse& ask() {
    base::Arena arena(pool);
    RequestHead head;
    head.authority = "a.example";
    head.target = "/chat";
    head.body = Body::kTunnel;
    head.tunnel = Tunnel::kWebSocket;
    head.version = version;
    head.acceptsTrailers = true;
    head.headers.add(arena, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    head.tunnelProof = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    id = codec->sendRequest(sink.open().token, head, Scheme::kHttp);
    asked = out();
    return sink.last();
  }
  std::string out() { return test::produced(*codec, pool); }
  void feed(std::string_view bytes) { codec->feed(bytes); }
  void say(std::string_view bytes) {
    sink.last().request.bytes.append(bytes);
    codec->wake(id);
  }
  void finish() {
    sink.last().request.finish();
    codec->wake(id);
  }
  base::ChunkPool pool;
  test::RecordingClientSink sink{pool};
  std::unique_ptr<ClientCodec> codec;
  const Version version;
  std::string asked;
  StreamId id = 0;
};

TEST(H1ClientTunnel, MovesBytesBothWaysOnceItIsAgreed) {
  TunnelClient client;
  auto& stream = client.ask();
  EXPECT_EQ(client.asked,
            "GET /chat HTTP/1.1\r\nhost: a.example\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "connection: upgrade\r\nupgrade: websocket\r\n\r\n");
  EXPECT_FALSE(stream.sent);
  client.feed(std::string(kAgree) + "hello");
  ASSERT_TRUE(stream.answered);
  EXPECT_EQ(stream.message.head.status, 101);
  EXPECT_EQ(stream.message.head.body, Body::kTunnel);
  EXPECT_EQ(stream.body, "hello");
  client.say("HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(client.out(), "HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(client.codec->availableStreams(), 0U);
  EXPECT_NE(client.codec->state(), CodecState::kOpen);
}

TEST(H1ClientTunnel, SendsNothingBeforeItIsAgreed) {
  TunnelClient client;
  client.ask();
  client.say("too early");
  EXPECT_FALSE(client.codec->wantsProduce());
  EXPECT_EQ(client.out(), "");
  client.feed("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.out(), "");
}

// Anything but a 101 is an ordinary answer.
TEST(H1ClientTunnel, IsAnOrdinaryExchangeIfItIsNotAgreed) {
  for (const char* status : {"200 OK", "426 Upgrade Required", "403 Forbidden"}) {
    TunnelClient client;
    auto& stream = client.ask();
    client.feed("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 2\r\n\r\nno");
    EXPECT_TRUE(stream.sent) << "the request was complete";
    EXPECT_EQ(stream.body, "no");
    EXPECT_TRUE(stream.ended);
    EXPECT_EQ(client.codec->state(), CodecState::kOpen);
    EXPECT_EQ(client.codec->availableStreams(), 1U);
    client.feed("x");
    EXPECT_EQ(client.codec->state(), CodecState::kClosed) << "what follows is junk, as ever";
  }
}

TEST(H1ClientTunnel, IsNotOpenedByASwitchThatDoesNotFit) {
  const std::string agree(kAgree);
  const auto without = [&](std::string_view line) {
    std::string text = agree;
    return text.erase(text.find(line), line.size());
  };
  for (const std::string& answer :
       {without("Upgrade: websocket\r\n"), without("Connection: Upgrade\r\n"),
        without("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), without("=\r\n") + "\r\n"}) {
    TunnelClient client;
    auto& stream = client.ask();
    client.feed(answer);
    EXPECT_TRUE(stream.reset) << answer;
    EXPECT_EQ(stream.error.status, 502);
    EXPECT_FALSE(stream.answered);
    EXPECT_TRUE(client.codec->abortive());
  }
}

// A client of HTTP/2 would take it for a tunnel (RFC 8441).
TEST(H1ClientTunnel, IsNotOpenedBySuccessForAClientOfHttp2) {
  for (const bool refusal : {true, false}) {
    TunnelClient client(Version::kHttp2);
    auto& stream = client.ask();
    client.feed(refusal ? "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
    EXPECT_EQ(stream.answered, refusal);
    EXPECT_EQ(stream.reset, !refusal);
  }
}

TEST(H1ClientTunnel, ClosesOneSideAfterTheOther) {
  TunnelClient client;
  auto& stream = client.ask();
  client.feed(kAgree);
  client.say("bye");
  client.finish();
  EXPECT_EQ(client.out(), "bye");
  EXPECT_TRUE(stream.sent);
  EXPECT_TRUE(client.codec->halfClosed());
  client.feed("still here");
  EXPECT_EQ(stream.body, "still here");
  client.codec->feedEnd(true);
  EXPECT_TRUE(stream.ended);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(client.codec->abortive());
}

TEST(H1ClientTunnel, GoesOnTowardsABackendThatHasEndedItsSide) {
  TunnelClient client;
  auto& stream = client.ask();
  client.feed(kAgree);
  client.codec->feedEnd(true);
  EXPECT_TRUE(stream.ended);
  EXPECT_NE(client.codec->state(), CodecState::kClosed);
  client.say("more");
  EXPECT_EQ(client.out(), "more");
  EXPECT_FALSE(stream.sent);
  client.finish();
  client.out();
  EXPECT_TRUE(stream.sent);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(client.codec->abortive());
}

TEST(H1ClientTunnel, DropsBytesThatABackendWhichHasEndedAndIsLostCannotTake) {
  TunnelClient client;
  auto& stream = client.ask();
  client.feed(kAgree);
  client.codec->feedEnd(true);
  client.say("more");
  client.codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTerminated, "reset"));
  EXPECT_TRUE(stream.sent);
  EXPECT_FALSE(stream.reset);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

TEST(H1ClientTunnel, IsBrokenByALoss) {
  for (const bool unclean : {true, false}) {
    TunnelClient client;
    auto& stream = client.ask();
    client.feed(kAgree);
    if (unclean) {
      client.codec->feedEnd(false);
    } else {
      client.codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTerminated, "reset"));
    }
    EXPECT_TRUE(stream.reset);
    EXPECT_FALSE(stream.unprocessed);
    EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  }
}

TEST(H1ClientTunnel, IsNotAskedForWithoutAPreparedHandshake) {
  TunnelClient client;
  RequestHead head;
  head.authority = "a.example";
  head.target = "/chat";
  head.body = Body::kTunnel;
  head.tunnel = Tunnel::kWebSocket;
  EXPECT_EQ(client.codec->sendRequest(client.sink.open().token, head, Scheme::kHttp), 0U);
  EXPECT_FALSE(client.codec->wantsProduce());
}

TEST(H2ClientCodecTunnel, IsRefused) {
  TunnelClient client;
  auto clock = base::SystemClock();
  auto codec = makeH2ClientCodec(client.sink, client.pool, Limits(), clock);
  RequestHead head;
  head.authority = "a.example";
  head.target = "/";
  head.body = Body::kTunnel;
  head.tunnel = Tunnel::kWebSocket;
  EXPECT_EQ(codec->sendRequest(client.sink.open().token, head, Scheme::kHttps), 0U);
}

}  // namespace
}  // namespace sluice::http
