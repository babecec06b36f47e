// Tunnels that a backend of HTTP/2 is asked for by extended CONNECT (RFC 8441), in raw frames.
#include <gtest/gtest.h>

#include <string>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::Body;
using http::StreamId;

const std::string kOffer = h2::settings({{8, 1}});
const std::string kTunnelProof = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

class H2ClientTunnel : public ::testing::Test {
 protected:
  void exchange(std::string_view bytes) {
    codec->feed(bytes);
    flush();
  }
  void flush() {
    if (codec->wantsProduce()) reader.feed(produced(*codec, pool));
  }
  StreamId ask() {
    base::Arena arena(pool);
    http::RequestHead head;
    head.authority = "example.com";
    head.target = "/chat";
    head.body = Body::kTunnel;
    head.tunnel = http::Tunnel::kWebSocket;
    head.tunnelProof = kTunnelProof;
    head.headers.add(arena, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    head.headers.add(arena, "sec-websocket-protocol", "chat");
    head.headers.add(arena, "sec-websocket-extensions", "permessage-deflate");
    const StreamId id = codec->sendRequest(sink.open().token, head, http::Scheme::kHttps);
    flush();
    return id;
  }
  StreamId open() {
    exchange(kOffer);
    const StreamId id = ask();
    exchange(h2::headers(1, {{":status", "200"}}, false));
    return id;
  }
  void say(StreamId id, std::string_view bytes) {
    stream().request.bytes.append(bytes);
    codec->wake(id);
    flush();
  }
  const H2Frame* asked() const { return reader.find(H2Type::kHeaders, 1); }
  RecordingClientSink::RecordedResponse& stream() { return sink.stream(0); }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  RecordingClientSink sink{pool};
  std::unique_ptr<http::ClientCodec> codec = http::makeH2ClientCodec(sink, pool, limits, clock);
  H2FrameReader reader;
};

TEST_F(H2ClientTunnel, IsAskedForOnceTheSettingsOfferIt) {
  EXPECT_NE(ask(), 0U);
  EXPECT_EQ(asked(), nullptr);
  EXPECT_EQ(codec->activeStreams(), 1U);
  EXPECT_TRUE(codec->awaitsSettings());
  exchange(kOffer);
  EXPECT_FALSE(codec->awaitsSettings());
  ASSERT_NE(asked(), nullptr);
  EXPECT_EQ(asked()->value(":method"), "CONNECT");
  EXPECT_EQ(asked()->value(":protocol"), "websocket");
  EXPECT_EQ(asked()->value(":scheme"), "https");
  EXPECT_EQ(asked()->value(":path"), "/chat");
  EXPECT_EQ(asked()->value(":authority"), "example.com");
  EXPECT_EQ(asked()->value("sec-websocket-key"), "") << "HTTP/2 has no such handshake";
  EXPECT_EQ(asked()->value("sec-websocket-protocol"), "chat");
  EXPECT_EQ(asked()->value("sec-websocket-extensions"), "permessage-deflate");
  EXPECT_EQ(codec->activeStreams(), 1U);
}

TEST_F(H2ClientTunnel, IsRefusedIfTheSettingsDoNotOfferIt) {
  ask();
  exchange(h2::settings({}));
  EXPECT_EQ(asked(), nullptr);
  EXPECT_TRUE(stream().reset);
  EXPECT_FALSE(stream().unprocessed);
  EXPECT_EQ(stream().error.type, base::ErrorType::kHttpProtocolError);
  EXPECT_NE(stream().error.detail.find("do not offer WebSockets"), std::string::npos);
  EXPECT_EQ(codec->activeStreams(), 0U);
}

TEST_F(H2ClientTunnel, AnswersTheHandshakeOfHttp11InPlaceOfTheBackend) {
  exchange(kOffer);
  ask();
  exchange(h2::headers(1,
                       {{":status", "200"},
                        {"content-length", "7"},
                        {"sec-websocket-accept", "of the backend"},
                        {"sec-websocket-protocol", "chat"}},
                       false));
  ASSERT_TRUE(stream().answered);
  const http::ResponseHead& head = stream().message.head;
  EXPECT_EQ(head.status, 101);
  EXPECT_EQ(head.body, Body::kTunnel);
  EXPECT_EQ(head.tunnel, http::Tunnel::kWebSocket);
  EXPECT_EQ(fieldList(head.headers),
            (FieldList{{"sec-websocket-protocol", "chat"}, {"sec-websocket-accept", kTunnelProof}}));
}

TEST_F(H2ClientTunnel, MovesBytesBothWaysOnceItIsAgreed) {
  exchange(kOffer);
  const StreamId id = ask();
  say(id, "early");
  EXPECT_EQ(reader.body(1), "") << "the backend may not agree";
  exchange(h2::headers(1, {{":status", "200"}}, false));
  EXPECT_EQ(reader.body(1), "early");
  say(id, " and late");
  EXPECT_EQ(reader.body(1), "early and late");
  exchange(h2::data(1, "down", false));
  EXPECT_EQ(stream().body, "down");
}

TEST_F(H2ClientTunnel, ClosesOneSideAfterTheOther) {
  const StreamId id = open();
  exchange(h2::data(1, "bye", true));
  EXPECT_TRUE(stream().ended);
  EXPECT_FALSE(stream().sent);
  say(id, "still");
  EXPECT_EQ(reader.body(1), "still");
  stream().request.finish();
  codec->wake(id);
  flush();
  EXPECT_TRUE(stream().sent);
  EXPECT_FALSE(stream().reset);
  EXPECT_EQ(codec->activeStreams(), 0U);
  EXPECT_EQ(codec->state(), http::CodecState::kOpen) << "the connection serves other requests";
}

TEST_F(H2ClientTunnel, TakesNoMoreBytesForABackendThatHasEndedAndLeft) {
  open();
  exchange(h2::data(1, "", true) + h2::rstStream(1, h2error::kNoError));
  EXPECT_TRUE(stream().ended);
  EXPECT_TRUE(stream().sent);
  EXPECT_FALSE(stream().reset);
}

TEST_F(H2ClientTunnel, IsAnOrdinaryAnswerIfItIsNotAgreed) {
  exchange(kOffer);
  const StreamId id = ask();
  say(id, "early");
  exchange(h2::headers(1, {{":status", "403"}, {"content-length", "2"}}, false));
  EXPECT_EQ(stream().message.head.status, 403);
  EXPECT_EQ(stream().message.head.body, Body::kLength);
  EXPECT_TRUE(stream().sent) << "the request was complete with its head";
  exchange(h2::data(1, "no", true));
  EXPECT_EQ(stream().body, "no");
  EXPECT_TRUE(stream().ended);
  EXPECT_EQ(reader.body(1), "");
  EXPECT_EQ(reader.find(H2Type::kRstStream, 1), nullptr);
  EXPECT_EQ(codec->activeStreams(), 0U) << "our side has ended too";
}

TEST_F(H2ClientTunnel, FailsWithBytesBeforeItsAnswer) {
  exchange(kOffer);
  ask();
  exchange(h2::data(1, "before the answer", false));
  EXPECT_TRUE(stream().reset);
}

TEST_F(H2ClientTunnel, FailsWithTrailers) {
  exchange(kOffer);
  ask();
  exchange(h2::headers(1, {{":status", "200"}}, false) + h2::headers(1, {{"x-trailer", "a"}}, true));
  EXPECT_TRUE(stream().reset);
  EXPECT_EQ(stream().error.type, base::ErrorType::kHttpProtocolError);
  EXPECT_EQ(codec->activeStreams(), 0U);
}

TEST_F(H2ClientTunnel, SendsNoTrailers) {
  const StreamId id = open();
  http::Trailers trailers(pool);
  trailers.fields.add(trailers.arena, "x-trailer", "a");
  stream().request.finish(std::move(trailers));
  codec->wake(id);
  flush();
  EXPECT_TRUE(stream().sent);
  EXPECT_EQ(reader.count(H2Type::kHeaders), 1U);
}

TEST_F(H2ClientTunnel, IsTriedAgainElsewhereIfTheConnectionIsLostBeforeItIsAskedFor) {
  ask();
  const StreamId cancelled = ask();
  codec->reset(cancelled, http::ResetReason::kCancelled);
  EXPECT_EQ(codec->activeStreams(), 1U);
  codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTerminated, "lost"));
  EXPECT_TRUE(stream().reset);
  EXPECT_TRUE(stream().unprocessed);
  EXPECT_FALSE(sink.stream(1).reset) << "its owner has left";
  EXPECT_EQ(codec->activeStreams(), 0U);
}

}  // namespace
}  // namespace sluice::test
