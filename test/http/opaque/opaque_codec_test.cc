// The codecs of a plain byte stream: credit, half-close, resets and bounds, towards clients and towards backends.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/codec.h"
#include "proxy/http/opaque/opaque_stream.h"
#include "test/support/recording_sinks.h"

namespace sluice::http {
namespace {

Limits windows(std::uint32_t first, std::uint32_t whole) {
  Limits limits;
  limits.firstWindow = first;
  limits.streamWindow = whole;
  return limits;
}

ResponseHead agreement() {
  ResponseHead head;
  head.status = kSwitchingProtocols;
  head.body = Body::kTunnel;
  head.tunnel = Tunnel::kStream;
  return head;
}

struct OpaqueServer {
  explicit OpaqueServer(const Limits& limits = {})
      : codec(makeOpaqueServerCodec(sink, pool, limits, "db.example:5432")) {
    codec->resume();
  }
  test::RecordingServerSink::RecordedRequest& stream() { return sink.last(); }
  void agree() { codec->sendResponse(stream().id, agreement()); }
  void say(std::string_view bytes) {
    stream().response.bytes.append(bytes);
    codec->wake(stream().id);
  }
  void finish() {
    stream().response.finish();
    codec->wake(stream().id);
  }
  std::string out(std::size_t limit = std::size_t{1} << 30) { return test::produced(*codec, pool, limit); }

  base::ChunkPool pool;
  test::RecordingServerSink sink{pool};
  std::unique_ptr<ServerCodec> codec;
};

struct OpaqueClient {
  explicit OpaqueClient(const Limits& limits = {}) : codec(makeOpaqueClientCodec(sink, pool, limits)) {}
  test::RecordingClientSink::RecordedResponse& ask() {
    RequestHead head;
    head.authority = "db.example:5432";
    head.target = "/";
    head.body = Body::kTunnel;
    head.tunnel = Tunnel::kStream;
    id = codec->sendRequest(sink.open().token, head, Scheme::kHttp);
    return sink.last();
  }
  test::RecordingClientSink::RecordedResponse& open() {
    test::RecordingClientSink::RecordedResponse& stream = ask();
    EXPECT_EQ(out(), "");
    EXPECT_TRUE(stream.answered);
    return stream;
  }
  void say(std::string_view bytes) {
    sink.last().request.bytes.append(bytes);
    codec->wake(id);
  }
  void finish() {
    sink.last().request.finish();
    codec->wake(id);
  }
  std::string out() { return test::produced(*codec, pool); }

  base::ChunkPool pool;
  test::RecordingClientSink sink{pool};
  std::unique_ptr<ClientCodec> codec;
  StreamId id = 0;
};

// --- towards clients

TEST(OpaqueServerCodec, BeginsItsOneExchangeWithoutAnyBytes) {
  OpaqueServer server;
  ASSERT_EQ(server.sink.count(), 1U);
  const RequestHead& head = server.stream().message.head;
  EXPECT_EQ(head.method, Method::kConnect);
  EXPECT_EQ(head.authority, "db.example:5432");
  EXPECT_EQ(head.body, Body::kTunnel);
  EXPECT_EQ(head.tunnel, Tunnel::kStream);
  EXPECT_EQ(head.version, Version::kOpaque);
  EXPECT_FALSE(server.codec->wantsResume());
  server.codec->resume();
  EXPECT_EQ(server.sink.count(), 1U);
  EXPECT_EQ(server.codec->activeStreams(), 1U);
  EXPECT_EQ(server.codec->state(), CodecState::kDraining) << "takes no second exchange";
}

TEST(OpaqueServerCodec, HoldsBackWhatComesBeforeTheAnswer) {
  OpaqueServer server;
  server.codec->feed("early");
  EXPECT_EQ(server.stream().body, "");
  EXPECT_EQ(server.codec->readBudget(), OpaqueStream::kReadAhead - 5);
  server.codec->feed(std::string(OpaqueStream::kReadAhead, 'x'));
  EXPECT_EQ(server.codec->readBudget(), 0U);
  server.agree();
  EXPECT_EQ(server.stream().body.size(), OpaqueStream::kReadAhead + 5);
  EXPECT_TRUE(server.stream().body.starts_with("earlyx"));
  EXPECT_EQ(server.out(), "") << "an agreement says nothing on the wire";
}

TEST(OpaqueServerCodec, DeliversNoMoreThanWasGranted) {
  OpaqueServer server(windows(4, 10));
  server.agree();
  EXPECT_EQ(server.codec->readBudget(), 4U);
  server.codec->feed("abcdefgh");
  EXPECT_EQ(server.stream().body, "abcd");
  EXPECT_EQ(server.codec->readBudget(), 0U);
  server.codec->grant(server.stream().id, 3);
  EXPECT_EQ(server.stream().body, "abcdefg");
  server.codec->grant(server.stream().id, 3);
  EXPECT_EQ(server.stream().body, "abcdefgh");
  EXPECT_EQ(server.codec->readBudget(), 2U);
}

TEST(OpaqueServerCodec, WidensTheWindowByTheWithheldPart) {
  OpaqueServer server(windows(4, 10));
  server.agree();
  server.codec->feed("abcdefghijkl");
  server.codec->widen(server.stream().id);
  EXPECT_EQ(server.stream().body, "abcdefghij");
}

TEST(OpaqueServerCodec, ProducesNoMoreThanIsAskedFor) {
  OpaqueServer server;
  server.agree();
  server.say("0123456789");
  EXPECT_EQ(server.out(4), "0123");
  EXPECT_EQ(server.stream().taken, 4U);
  EXPECT_TRUE(server.codec->wantsProduce());
  EXPECT_EQ(server.out(), "456789");
  EXPECT_FALSE(server.codec->wantsProduce());
}

TEST(OpaqueServerCodec, GoesOnWithOneWayAfterTheClientHasEndedTheOther) {
  OpaqueServer server(windows(4, 4));
  server.agree();
  server.codec->feed("abcdef");
  server.codec->feedEnd();
  EXPECT_FALSE(server.stream().ended) << "what came before the end waits for credit";
  server.codec->grant(server.stream().id, 4);
  EXPECT_EQ(server.stream().body, "abcdef");
  EXPECT_TRUE(server.stream().ended);
  EXPECT_EQ(server.codec->readBudget(), 0U);
  server.say("still here");
  EXPECT_EQ(server.out(), "still here");
  EXPECT_FALSE(server.stream().sent);
  server.finish();
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(server.stream().sent);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(server.codec->abortive());
}

TEST(OpaqueServerCodec, IsHalfClosedAfterTheBackendHasEndedItsWay) {
  OpaqueServer server;
  server.agree();
  server.say("bye");
  server.finish();
  EXPECT_EQ(server.out(), "bye");
  EXPECT_TRUE(server.codec->halfClosed());
  EXPECT_FALSE(server.stream().sent);
  server.codec->feed("more");
  EXPECT_EQ(server.stream().body, "more");
  server.codec->feedEnd();
  EXPECT_TRUE(server.stream().ended);
  EXPECT_TRUE(server.codec->wantsProduce());
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(server.stream().sent);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(OpaqueServerCodec, EndsWithTheResponseOnceTheClientIsDismissed) {
  OpaqueServer server;
  server.agree();
  server.codec->feed("heard");
  server.codec->dismiss(server.stream().id);
  EXPECT_EQ(server.codec->readBudget(), OpaqueStream::kReadAhead);
  server.codec->feed(std::string(OpaqueStream::kReadAhead, 'x'));
  EXPECT_EQ(server.codec->readBudget(), 0U) << "a client that goes on is not read for ever";
  EXPECT_EQ(server.stream().body, "heard");
  server.finish();
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(server.stream().sent);
}

TEST(OpaqueServerCodec, EndsByResetIfThePipeBreaks) {
  OpaqueServer server;
  server.agree();
  server.stream().response.breakOff();
  server.codec->wake(server.stream().id);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_TRUE(server.codec->abortive());
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(server.stream().reset);
  EXPECT_FALSE(server.stream().answerable);
}

TEST(OpaqueServerCodec, EndsByResetIfItsOwnerResetsTheStream) {
  OpaqueServer server;
  server.agree();
  server.say("never said");
  server.codec->reset(server.stream().id, ResetReason::kCancelled);
  EXPECT_EQ(server.out(), "");
  EXPECT_FALSE(server.stream().reset) << "the owner knows";
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_TRUE(server.codec->abortive());
}

TEST(OpaqueServerCodec, ReportsThatTheClientIsLost) {
  OpaqueServer server;
  server.agree();
  server.codec->feedLost();
  EXPECT_TRUE(server.stream().reset);
  EXPECT_EQ(server.codec->activeStreams(), 0U);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(OpaqueServerCodec, DropsAnAnswerThatIsNoTunnelAndEndsByReset) {
  OpaqueServer server;
  server.codec->feed("hello");
  ResponseHead head;
  head.status = 503;
  head.body = Body::kUntilEnd;
  server.stream().response.bytes.append("no backend");
  server.codec->sendResponse(server.stream().id, head);
  EXPECT_EQ(server.out(), "");
  EXPECT_EQ(server.stream().taken, 10U);
  EXPECT_FALSE(server.stream().sent);
  server.stream().response.finish();
  server.codec->wake(server.stream().id);
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(server.stream().sent);
  EXPECT_TRUE(server.codec->abortive());
  EXPECT_EQ(server.stream().body, "");
}

TEST(OpaqueServerCodec, ClosesARefusedConnection) {
  base::ChunkPool pool;
  test::RecordingServerSink sink(pool);
  sink.refuse = true;
  const auto codec = makeOpaqueServerCodec(sink, pool, {}, "a");
  EXPECT_TRUE(codec->wantsResume());
  codec->resume();
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_TRUE(codec->abortive());
}

// --- towards backends

TEST(OpaqueClientCodec, TakesOneStreamAndNothingElse) {
  OpaqueClient client;
  RequestHead head;
  head.body = Body::kTunnel;
  head.tunnel = Tunnel::kWebSocket;
  head.tunnelProof = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
  EXPECT_EQ(client.codec->sendRequest(client.sink.open().token, head, Scheme::kHttp), 0U);
  EXPECT_EQ(client.codec->sendRequest(client.sink.open().token, RequestHead(), Scheme::kHttp), 0U);
  EXPECT_EQ(client.codec->availableStreams(), 1U);
  client.ask();
  EXPECT_EQ(client.codec->availableStreams(), 0U);
  EXPECT_FALSE(client.sink.last().answered) << "calls down never answer upwards";
  EXPECT_EQ(client.out(), "");
  EXPECT_TRUE(client.sink.last().answered);
  EXPECT_EQ(client.sink.last().message.head.status, agreementTo(Tunnel::kStream));
  EXPECT_EQ(client.sink.last().message.head.tunnel, Tunnel::kStream);
  EXPECT_EQ(client.codec->sendRequest(client.sink.open().token, head, Scheme::kHttp), 0U);
}

TEST(OpaqueClientCodec, MovesBytesBothWaysByCredit) {
  OpaqueClient client(windows(4, 10));
  client.codec->feed("220 hi\r\n");  // the server sends first
  auto& stream = client.open();
  EXPECT_EQ(stream.body, "220 ");
  client.codec->grant(client.id, 4);
  EXPECT_EQ(stream.body, "220 hi\r\n");
  client.say("EHLO me");
  EXPECT_EQ(client.out(), "EHLO me");
  EXPECT_EQ(stream.taken, 7U);
}

TEST(OpaqueClientCodec, GoesOnWithOneWayAfterTheOtherHasEnded) {
  OpaqueClient client;
  auto& stream = client.open();
  client.say("question");
  client.finish();
  EXPECT_EQ(client.out(), "question");
  EXPECT_TRUE(stream.sent);
  EXPECT_TRUE(client.codec->halfClosed());
  client.codec->feed("answer");
  client.codec->feedEnd(true);
  EXPECT_EQ(stream.body, "answer");
  EXPECT_TRUE(stream.ended);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(client.codec->abortive());
}

TEST(OpaqueClientCodec, SendsTheRestAfterTheBackendHasEndedItsWay) {
  OpaqueClient client;
  auto& stream = client.open();
  client.codec->feedEnd(true);
  EXPECT_TRUE(stream.ended);
  client.say("rest");
  EXPECT_EQ(client.out(), "rest");
  EXPECT_FALSE(stream.sent);
  client.finish();
  EXPECT_EQ(client.out(), "");
  EXPECT_TRUE(stream.sent);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

TEST(OpaqueClientCodec, ReportsAnUncleanEndAfterTheBytesBeforeIt) {
  OpaqueClient client(windows(4, 4));
  auto& stream = client.open();
  client.codec->feed("abcdef");
  client.codec->feedEnd(false);
  EXPECT_FALSE(stream.reset);
  client.codec->grant(client.id, 4);
  EXPECT_EQ(stream.body, "abcdef");
  EXPECT_TRUE(stream.reset);
  EXPECT_FALSE(stream.unprocessed);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

TEST(OpaqueClientCodec, ReportsWhyTheConnectionIsLost) {
  OpaqueClient client;
  auto& stream = client.open();
  client.codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTimeout, "gone"));
  EXPECT_TRUE(stream.reset);
  EXPECT_EQ(stream.error.type, base::ErrorType::kConnectionTimeout);
}

TEST(OpaqueClientCodec, CountsALossBeforeAnythingWasSentAsUnprocessed) {
  OpaqueClient client;
  auto& stream = client.ask();
  client.codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTerminated, "gone"));
  EXPECT_TRUE(stream.reset);
  EXPECT_TRUE(stream.unprocessed);
  EXPECT_EQ(client.codec->activeStreams(), 0U);
}

TEST(OpaqueClientCodec, CountsALossBehindTheBackendsEndAsSent) {
  OpaqueClient client;
  auto& stream = client.open();
  client.codec->feedEnd(true);
  client.codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTerminated, "gone"));
  EXPECT_TRUE(stream.sent);
  EXPECT_FALSE(stream.reset);
}

TEST(OpaqueClientCodec, EndsByResetIfTheStreamIsCutShort) {
  OpaqueClient client;
  client.open();
  client.say("half a");
  client.codec->reset(client.id, ResetReason::kCancelled);
  EXPECT_EQ(client.out(), "");
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  EXPECT_TRUE(client.codec->abortive());
}

TEST(OpaqueClientCodec, EndsByResetIfThePipeBreaks) {
  OpaqueClient client;
  auto& stream = client.open();
  stream.request.breakOff();
  client.codec->wake(client.id);
  EXPECT_TRUE(client.codec->wantsProduce());
  EXPECT_EQ(client.out(), "");
  EXPECT_TRUE(stream.reset);
  EXPECT_TRUE(client.codec->abortive());
}

TEST(OpaqueClientCodec, IsNotGivenOutOnceTheBackendHasLeft) {
  OpaqueClient client;
  client.codec->feedEnd(true);
  EXPECT_EQ(client.codec->availableStreams(), 0U);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

TEST(OpaqueClientCodec, ClosesAnIdleConnectionThatIsDrained) {
  OpaqueClient client;
  client.codec->drain();
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(client.codec->abortive());
}

}  // namespace
}  // namespace sluice::http
