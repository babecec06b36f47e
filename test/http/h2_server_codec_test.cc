#include <gtest/gtest.h>

#include "proxy/http/h2/h2_memory.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::Body;
using http::CodecState;
using http::Limit;

class H2Server : public ::testing::Test {
 protected:
  void start() { codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock, &memory); }
  void SetUp() override { start(); }

  // Sends the client's bytes and returns the server's answer.
  void exchange(std::string_view bytes) {
    codec->feed(bytes);
    flush();
  }
  void flush() { reader.feed(produced(*codec, pool)); }

  void respond(std::size_t index, std::uint16_t status, Body body = Body::kNone) {
    http::ResponseHead head;
    head.status = status;
    head.body = body;
    codec->sendResponse(sink.stream(index).id, head);
  }
  std::uint32_t resetCode(std::uint32_t stream) {
    const H2Frame* frame = reader.find(H2Type::kRstStream, stream);
    return frame == nullptr ? 999 : frame->errorCode();
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  http::H2Memory memory;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
  H2FrameReader reader;
};

TEST_F(H2Server, AnnouncesItsLimitsFirst) {
  flush();
  ASSERT_GE(reader.frames().size(), 2u);
  const H2Frame& settings = reader.frames()[0];
  EXPECT_EQ(settings.type, H2Type::kSettings);
  EXPECT_EQ(settings.payload.size(), 30u);
  const H2Frame* update = reader.find(H2Type::kWindowUpdate, 0);
  ASSERT_NE(update, nullptr);
  EXPECT_EQ(update->firstWord(), limits.connectionWindow - 65535);
}

TEST_F(H2Server, ReadsARequestWithoutABody) {
  exchange(h2::clientHello() + h2::headers(1, h2::get("/a/./b?c=d"), true));
  ASSERT_EQ(sink.count(), 1u);
  const http::RequestHead& head = sink.last().message.head;
  EXPECT_EQ(head.methodText, "GET");
  EXPECT_EQ(head.authority, "example.com");
  EXPECT_EQ(head.target, "/a/b?c=d");
  EXPECT_EQ(head.version, http::Version::kHttp2);
  EXPECT_EQ(head.body, Body::kNone);
  EXPECT_EQ(codec->activeStreams(), 1u);
  EXPECT_EQ(codec->state(), CodecState::kOpen);
}

TEST_F(H2Server, BoundsThePathAsItDoesARequestLine) {
  limits.requestLineBytes = 40;
  start();
  exchange(h2::clientHello() + h2::headers(1, h2::get("/" + std::string(39, 'a')), true));
  EXPECT_FALSE(sink.last().bad);
  EXPECT_TRUE(sink.limits.empty());
  exchange(h2::headers(3, h2::get("/" + std::string(40, 'a')), true));
  EXPECT_TRUE(sink.last().bad);
  EXPECT_EQ(sink.last().error.status, 414);
  EXPECT_EQ(sink.limits, std::vector{Limit::kRequestLineBytes});
}

TEST_F(H2Server, ReadsBytesOneAtATime) {
  H2Lines lines = h2::post("/up");
  lines.emplace_back("x-a", "1");
  const std::string bytes =
      h2::clientHello() + h2::headers(1, lines, false) + h2::data(1, "hello", false) + h2::data(1, " world", true);
  for (const char byte : bytes) codec->feed({&byte, 1});
  ASSERT_EQ(sink.count(), 1u);
  EXPECT_EQ(sink.last().body, "hello world");
  EXPECT_TRUE(sink.last().ended);
}

TEST_F(H2Server, ReadsTrailers) {
  exchange(h2::clientHello() + h2::headers(1, h2::post(), false) + h2::data(1, "x", false) +
           h2::headers(1, {{"x-sum", "1"}, {"via", "x"}}, true));
  EXPECT_TRUE(sink.last().ended);
  EXPECT_EQ(sink.last().trailers, (FieldList{{"x-sum", "1"}}));
}

TEST_F(H2Server, WritesAHeadABodyAndTrailers) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  base::Arena arena(pool);
  http::ResponseHead head;
  head.status = 200;
  head.body = Body::kLength;
  head.contentLength = 5;
  head.headers.add(arena, "x-b", "2");
  codec->sendResponse(1, head);
  sink.last().response.bytes.append("12345");
  http::Trailers trailers(pool);
  trailers.fields.add(trailers.arena, "grpc-status", "0");
  sink.last().response.finish(std::move(trailers));
  flush();
  const H2Frame* first = reader.find(H2Type::kHeaders, 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->lines, (H2Lines{{":status", "200"}, {"content-length", "5"}, {"x-b", "2"}}));
  EXPECT_EQ(reader.body(1), "12345");
  const H2Frame& last = reader.frames().back();
  EXPECT_EQ(last.lines, (H2Lines{{"grpc-status", "0"}}));
  EXPECT_TRUE(last.endsStream());
  EXPECT_EQ(sink.last().taken, 5u);
  EXPECT_TRUE(sink.last().sent);
  EXPECT_EQ(codec->activeStreams(), 0u);
}

TEST_F(H2Server, CopiesTheHeadThatItIsGiven) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  {
    base::Arena arena(pool);
    const std::string value = "a value that is gone before it is serialised";
    http::ResponseHead head;
    head.status = 204;
    head.headers.add(arena, "x-gone", value);
    codec->sendResponse(1, head);
  }
  flush();
  EXPECT_EQ(reader.find(H2Type::kHeaders, 1)->value("x-gone"), "a value that is gone before it is serialised");
}

TEST_F(H2Server, SendsInterimHeadsBeforeTheFinalOne) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  http::ResponseHead interim;
  interim.status = 103;
  codec->sendInterim(1, interim);
  respond(0, 204);
  flush();
  EXPECT_EQ(reader.count(H2Type::kHeaders), 2u);
  EXPECT_EQ(reader.find(H2Type::kHeaders, 1)->value(":status"), "103");
}

TEST_F(H2Server, StopsAtTheLimitAndGoesOnLater) {
  exchange(h2::clientHello() + h2::settings({{0x4, 1 << 20}}) + h2::windowUpdate(0, 1 << 20) +
           h2::headers(1, h2::get(), true));
  respond(0, 200, Body::kUntilEnd);
  sink.last().response.bytes.append(std::string(400'000, 'x'));
  sink.last().response.finish();
  std::size_t rounds = 0;
  while (codec->wantsProduce()) {
    const std::string some = produced(*codec, pool, 64 * 1024);
    ASSERT_LE(some.size(), 64u * 1024 + 16384 + 9);
    reader.feed(some);
    ASSERT_LT(++rounds, 20u);
  }
  EXPECT_EQ(reader.body(1).size(), 400'000u);
  EXPECT_TRUE(sink.last().sent);
}

TEST_F(H2Server, WaitsForTheBodyAndForTheClientsWindow) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  respond(0, 200, Body::kUntilEnd);
  flush();
  EXPECT_FALSE(codec->wantsProduce());
  sink.last().response.bytes.append(std::string(70'000, 'x'));
  codec->wake(1);
  flush();
  EXPECT_EQ(sink.last().taken, 65535u);
  EXPECT_FALSE(codec->wantsProduce());
  exchange(h2::windowUpdate(0, 10'000) + h2::windowUpdate(1, 10'000));
  EXPECT_EQ(sink.last().taken, 70'000u);
  sink.last().response.finish();
  codec->wake(1);
  flush();
  EXPECT_TRUE(sink.last().sent);
}

TEST_F(H2Server, GivesTheStreamsWindowOnlyAsGranted) {
  limits.streamWindow = 65535;
  limits.connectionWindow = 65535;
  start();
  exchange(h2::clientHello() + h2::settingsAck() + h2::headers(1, h2::post(), false));
  for (int i = 0; i < 3; ++i) exchange(h2::data(1, std::string(16384, 'x'), false));
  EXPECT_EQ(reader.granted(1), 0u);
  codec->grant(1, 3 * 16384);
  flush();
  EXPECT_EQ(reader.granted(1), 3u * 16384);
  codec->grant(1, 3 * 16384);
  flush();
  EXPECT_EQ(reader.granted(1), 3u * 16384) << "no more than was received";
}

// In RFC 9113 half a connection is of no use to the other side.
TEST_F(H2Server, AClientThatEndsItsSideHasLeft) {
  start();
  exchange(h2::clientHello() + h2::settingsAck() + h2::headers(1, h2::get(), true));
  EXPECT_EQ(codec->departure(0), http::Departure::kLeft);
  EXPECT_EQ(codec->departure(100), http::Departure::kLeft);
}

TEST_F(H2Server, RefusesMoreThanTheStreamWindow) {
  limits.streamWindow = 20'000;
  start();
  exchange(h2::clientHello());
  exchange(h2::settingsAck() + h2::headers(1, h2::post(), false) + h2::data(1, std::string(16384, 'x'), false));
  EXPECT_EQ(reader.goaway(), nullptr);
  exchange(h2::data(1, std::string(4000, 'x'), false));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_NE(reader.goaway() != nullptr || resetCode(1) == h2error::kFlowControlError, false);
}

// The connection's window must not shrink by the bytes of streams that were never taken.
TEST_F(H2Server, ReturnsTheConnectionsWindowOfStreamsThatAreOver) {
  limits.streamWindow = 65535;
  limits.connectionWindow = 65535;
  limits.resetsPerMinute = 1000;
  start();
  exchange(h2::clientHello() + h2::settingsAck());
  for (std::uint32_t id = 1; id < 201; id += 2) {
    exchange(h2::headers(id, h2::post(), false) + h2::data(id, std::string(16384, 'x'), false) +
             h2::rstStream(id, h2error::kCancel));
    ASSERT_EQ(reader.goaway(), nullptr) << id;
  }
  EXPECT_EQ(sink.count(), 100u);
  EXPECT_EQ(codec->state(), CodecState::kOpen);
}

TEST_F(H2Server, RefusesAContentLengthThatTheBodyDoesNotHave) {
  H2Lines lines = h2::post();
  lines.emplace_back("content-length", "5");
  exchange(h2::clientHello() + h2::headers(1, lines, false) + h2::data(1, "abc", true) + h2::headers(3, lines, false) +
           h2::data(3, "abcdefgh", false));
  EXPECT_EQ(resetCode(1), h2error::kProtocolError);
  EXPECT_EQ(resetCode(3), h2error::kProtocolError);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(sink.stream(i).reset);
    EXPECT_FALSE(sink.stream(i).ended);
    EXPECT_EQ(sink.stream(i).error.status, 400);
  }
}

TEST_F(H2Server, PassesNothingOnBehindAnEarlyAnswer) {
  exchange(h2::clientHello() + h2::headers(1, h2::post(), false) + h2::data(1, "abc", false));
  respond(0, 413);
  flush();
  EXPECT_TRUE(sink.last().sent);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0u);
  EXPECT_EQ(codec->activeStreams(), 1u);
  exchange(h2::data(1, "late", true));
  EXPECT_EQ(codec->activeStreams(), 0u);
  EXPECT_EQ(sink.last().body, "abc");
  EXPECT_FALSE(sink.last().ended);
  EXPECT_EQ(codec->state(), CodecState::kOpen);
}

TEST_F(H2Server, ResetsTheStreamIfTheResponseBreaksOff) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  respond(0, 200, Body::kUntilEnd);
  flush();
  sink.last().response.breakOff();
  codec->wake(1);
  flush();
  EXPECT_EQ(resetCode(1), h2error::kInternalError);
  EXPECT_TRUE(sink.last().reset);
}

TEST_F(H2Server, ResetsTheStreamIfTheOwnerIsGone) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  respond(0, 200, Body::kUntilEnd);
  sink.last().gone = true;
  flush();
  EXPECT_EQ(resetCode(1), h2error::kCancel);
}

TEST_F(H2Server, ReportsNothingOfAStreamThatItsOwnerReset) {
  exchange(h2::clientHello() + h2::headers(1, h2::post(), false));
  codec->reset(1, http::ResetReason::kFailed);
  exchange(h2::data(1, "abc", true));
  EXPECT_EQ(resetCode(1), h2error::kInternalError);
  EXPECT_TRUE(sink.last().body.empty());
  EXPECT_FALSE(sink.last().reset);
  EXPECT_FALSE(sink.last().ended);
}

TEST_F(H2Server, RefusesAStreamWithoutAnOwner) {
  sink.refuse = true;
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  EXPECT_EQ(resetCode(1), h2error::kRefusedStream);
}

// The client may not get a malformed response, whatever a filter has added (RFC 9113 section 8.2.2).
TEST_F(H2Server, PassesOverFieldsThatACodecAloneWrites) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  base::Arena arena(pool);
  http::ResponseHead head;
  head.status = 200;
  for (const char* name : {"connection", "proxy-connection", "transfer-encoding", "upgrade", "keep-alive", "te", "host",
                           "content-length", "x-a"}) {
    head.headers.add(arena, name, "1");
  }
  codec->sendResponse(1, head);
  flush();
  const H2Frame* frame = reader.find(H2Type::kHeaders, 1);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->lines, (H2Lines{{":status", "200"}, {"x-a", "1"}}));
}

// A filter's edit must not become a second request at a peer that speaks HTTP/1.1.
TEST_F(H2Server, NeverEncodesALineThatBreaksTheGrammar) {
  const std::vector<std::pair<std::string, std::string>> bad = {{"x-a", "1\r\nx-b: 2"},
                                                                {"x-a", std::string("a\0b", 3)},
                                                                {"X-Upper", "1"},
                                                                {"x a", "1"},
                                                                {"x:a", "1"},
                                                                {":path", "/"},
                                                                {"", "1"}};
  exchange(h2::clientHello());
  std::uint32_t id = 1;
  for (const auto& [name, value] : bad) {
    exchange(h2::headers(id, h2::get(), true));
    base::Arena arena(pool);
    http::ResponseHead head;
    head.status = 200;
    head.headers.add(arena, http::Field{name, value, http::FieldId::kOther});
    codec->sendResponse(id, head);
    EXPECT_FALSE(sink.last().reset) << name;
    flush();
    EXPECT_EQ(reader.find(H2Type::kHeaders, id), nullptr) << name;
    EXPECT_EQ(resetCode(id), h2error::kInternalError) << name;
    EXPECT_TRUE(sink.last().reset);
    EXPECT_EQ(sink.last().error.type, base::ErrorType::kProxyInternalError);
    id += 2;
  }
}

TEST_F(H2Server, AnnouncesTheEndToAClientThatHasHadARequest) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  respond(0, 204);
  codec->announceEnd();
  flush();
  ASSERT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(reader.goaway()->firstWord(), 0x7fffffffu);
}

TEST_F(H2Server, AnnouncesTheEndWithTheFirstRequestOfANewClient) {
  codec->announceEnd();
  exchange(h2::clientHello());
  EXPECT_EQ(reader.goaway(), nullptr);
  EXPECT_EQ(codec->state(), CodecState::kOpen);
  exchange(h2::headers(1, h2::get(), true) + h2::headers(3, h2::get(), true));
  ASSERT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(reader.goaway()->firstWord(), 0x7fffffffu);
  ASSERT_EQ(sink.count(), 2u);
  exchange(h2::ping(true));
  EXPECT_EQ(reader.goaway()->firstWord(), 0x7fffffffu);
  respond(0, 204);
  respond(1, 204);
  flush();
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2Server, DrainsWithoutLosingRequestsInFlight) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  codec->drain();
  flush();
  ASSERT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(reader.goaway()->firstWord(), 0x7fffffffu);
  EXPECT_EQ(codec->state(), CodecState::kDraining);
  reader.forget();
  exchange(h2::headers(3, h2::get(), true) + h2::ping(true));
  ASSERT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(reader.goaway()->firstWord(), 3u);
  exchange(h2::headers(5, h2::get(), true));
  ASSERT_EQ(sink.count(), 2u);
  respond(0, 204);
  flush();
  EXPECT_EQ(codec->state(), CodecState::kDraining);
  respond(1, 204);
  flush();
  EXPECT_TRUE(sink.last().sent);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2Server, LosesItsStreamsWithTheConnection) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  codec->feedEnd();
  EXPECT_TRUE(sink.last().reset);
  EXPECT_EQ(sink.last().error.type, base::ErrorType::kConnectionTerminated);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_EQ(codec->activeStreams(), 0u);
  EXPECT_EQ(codec->readBudget(), 0u);
  EXPECT_FALSE(codec->wantsProduce());
  respond(0, 200);
  codec->wake(1);
  codec->grant(1, 1);
  codec->reset(1, http::ResetReason::kCancelled);
}

TEST_F(H2Server, ReportsAHeadThatIsUnderWay) {
  EXPECT_FALSE(codec->headPending());
  codec->feed("PRI * HT");
  EXPECT_TRUE(codec->headPending());
  codec->feed(h2::clientHello().substr(8));
  EXPECT_FALSE(codec->headPending());
  const std::string lines = h2::block(h2::get());
  codec->feed(h2::headers(1, std::string_view(lines).substr(0, 5), true, false));
  EXPECT_TRUE(codec->headPending());
  codec->feed(h2::continuation(1, std::string_view(lines).substr(5), true));
  EXPECT_FALSE(codec->headPending());
  EXPECT_EQ(sink.count(), 1u);
}

// A client that waits for a response must not be taken for one that sends a head slowly.
TEST_F(H2Server, AHeadThatWasRefusedIsNotUnderWay) {
  exchange(h2::clientHello() + h2::headers(1, h2::get(), true));
  exchange(h2::headers(3, {{":method", "GET"}}, true));
  EXPECT_FALSE(codec->headPending()) << "pseudo-header fields are missing";
  H2Lines lines = h2::get();
  lines.emplace_back("X-Upper", "1");
  exchange(h2::headers(5, lines, true));
  EXPECT_FALSE(codec->headPending()) << "a line is malformed";
  exchange(h2::headers(7, h2::post(), false));
  codec->reset(7, http::ResetReason::kCancelled);
  flush();
  exchange(h2::headers(7, {{"x-sum", "1"}}, true));
  EXPECT_FALSE(codec->headPending()) << "trailers of a stream that is over";
  for (std::uint32_t id = 9; id < 9 + 2 * 110; id += 2) exchange(h2::headers(id, h2::get(), true));
  EXPECT_FALSE(codec->headPending()) << "one stream too many";
  EXPECT_EQ(codec->state(), CodecState::kOpen);
}

TEST_F(H2Server, SendsGoawayIfAHeadTakesTooLong) {
  exchange(h2::clientHello());
  codec->feed(h2::headers(1, h2::line(":method", "GET"), true, false));
  codec->expireHead();
  flush();
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_NE(reader.goaway(), nullptr);
}

TEST_F(H2Server, RefusesSomethingElseThanThePreface) {
  exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_EQ(sink.count(), 0u);
}

TEST_F(H2Server, NeedsNoHeapPerStreamInASteadyState) {
  exchange(h2::clientHello());
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < 500; ++i) {
    if (i == 50) before = memory.heapCalls();
    exchange(h2::headers(2 * i + 1, h2::get("/" + std::to_string(i)), true));
    respond(i, 200, Body::kUntilEnd);
    sink.last().response.bytes.append("hello");
    sink.last().response.finish();
    flush();
    ASSERT_TRUE(sink.last().sent);
  }
  EXPECT_EQ(memory.heapCalls(), before);
}

}  // namespace
}  // namespace sluice::test
