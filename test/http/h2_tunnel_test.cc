// Tunnels that HTTP/2 clients ask for by extended CONNECT (RFC 8441), in raw frames.
#include <gtest/gtest.h>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::Body;

class H2ServerTunnel : public ::testing::Test {
 protected:
  H2ServerTunnel() : codec(http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock)) {
    exchange(h2::clientHello() + h2::settingsAck());
  }
  void exchange(std::string_view bytes) {
    codec->feed(bytes);
    flush();
  }
  void flush() { reader.feed(produced(*codec, pool)); }
  void ask(bool endStream = false) {
    exchange(h2::headers(1,
                         {{":method", "CONNECT"},
                          {":protocol", "websocket"},
                          {":scheme", "http"},
                          {":path", "/chat"},
                          {":authority", "example.com"},
                          {"sec-websocket-version", "13"}},
                         endStream));
  }
  void answer(std::uint16_t status, Body body) {
    http::ResponseHead head;
    head.status = status;
    head.body = body;
    codec->sendResponse(1, head);
    flush();
  }
  void say(std::string_view bytes) {
    stream().response.bytes.append(bytes);
    codec->wake(1);
    flush();
  }
  void finish() {
    stream().response.finish();
    codec->wake(1);
    flush();
  }
  RecordingServerSink::RecordedRequest& stream() { return sink.stream(0); }
  std::string status() { return reader.find(H2Type::kHeaders, 1)->value(":status"); }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
  H2FrameReader reader;
};

TEST_F(H2ServerTunnel, IsOfferedInSettings) {
  const H2Frame& settings = reader.frames().at(0);
  ASSERT_EQ(settings.type, H2Type::kSettings);
  EXPECT_NE(settings.payload.find(std::string("\0\x08\0\0\0\x01", 6)), std::string::npos);
}

TEST_F(H2ServerTunnel, MovesBytesBothWays) {
  ask();
  ASSERT_EQ(sink.count(), 1U);
  EXPECT_EQ(stream().message.head.body, Body::kTunnel);
  answer(101, Body::kTunnel);
  EXPECT_EQ(status(), "200");
  exchange(h2::data(1, "up", false));
  EXPECT_EQ(stream().body, "up");
  say("down");
  EXPECT_EQ(reader.body(1), "down");
}

TEST_F(H2ServerTunnel, ClosesOneSideAfterTheOther) {
  ask();
  answer(101, Body::kTunnel);
  say("bye");
  finish();
  EXPECT_EQ(reader.body(1), "bye");
  EXPECT_FALSE(stream().sent);
  EXPECT_EQ(reader.find(H2Type::kRstStream, 1), nullptr);
  exchange(h2::data(1, "still", false));
  EXPECT_EQ(stream().body, "still");
  exchange(h2::data(1, "", true));
  EXPECT_TRUE(stream().ended);
  EXPECT_TRUE(stream().sent);
  EXPECT_FALSE(stream().reset);
  EXPECT_EQ(codec->activeStreams(), 0U);
}

TEST_F(H2ServerTunnel, IsOverWithTheResponseForAClientThatIsDismissed) {
  ask();
  answer(101, Body::kTunnel);
  say("bye");
  codec->dismiss(1);
  exchange(h2::data(1, "unheard", false));
  EXPECT_EQ(stream().body, "");
  EXPECT_FALSE(stream().sent);
  finish();
  EXPECT_EQ(reader.body(1), "bye");
  EXPECT_TRUE(stream().sent);
  EXPECT_NE(reader.find(H2Type::kRstStream, 1), nullptr);
  EXPECT_EQ(codec->activeStreams(), 0U);
}

TEST_F(H2ServerTunnel, GoesOnTowardsAClientThatHasEndedItsSide) {
  ask();
  answer(101, Body::kTunnel);
  exchange(h2::data(1, "", true));
  EXPECT_TRUE(stream().ended);
  say("more");
  finish();
  EXPECT_EQ(reader.body(1), "more");
  EXPECT_TRUE(stream().sent);
  EXPECT_EQ(codec->activeStreams(), 0U);
}

TEST_F(H2ServerTunnel, IsAnOrdinaryAnswerIfItIsNotAgreed) {
  ask();
  answer(403, Body::kNone);
  EXPECT_EQ(status(), "403");
  EXPECT_TRUE(stream().sent);
  exchange(h2::data(1, "early", true));
  EXPECT_EQ(reader.find(H2Type::kRstStream, 1), nullptr);
  EXPECT_EQ(stream().body, "") << "the rest of the request is not wanted";
  EXPECT_EQ(codec->activeStreams(), 0U);
}

TEST_F(H2ServerTunnel, IsCutWithItsStream) {
  ask();
  answer(101, Body::kTunnel);
  exchange(h2::rstStream(1, 8));
  EXPECT_TRUE(stream().reset);
  EXPECT_FALSE(stream().answerable);
}

TEST_F(H2ServerTunnel, IsNeverOpenedForARequestThatDidNotAsk) {
  exchange(h2::headers(1, h2::get(), true));
  answer(101, Body::kTunnel);
  EXPECT_EQ(reader.find(H2Type::kHeaders, 1), nullptr);
  EXPECT_NE(reader.find(H2Type::kRstStream, 1), nullptr);
}

}  // namespace
}  // namespace sluice::test
