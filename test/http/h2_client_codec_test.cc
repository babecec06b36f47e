#include <gtest/gtest.h>

#include <algorithm>

#include "proxy/http/h2/h2_memory.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::Body;
using http::CodecState;
using http::Limit;
using http::StreamId;

// The client's codec, against a server whose frames the test writes.
class H2ClientSide : public ::testing::Test {
 protected:
  void start() {
    codec = http::makeH2ClientCodec(sink, pool, limits, clock, &memory);
    exchange(h2::settings({}) + h2::settingsAck());
  }
  void SetUp() override { start(); }
  void exchange(std::string_view bytes) {
    codec->feed(bytes);
    flush();
  }
  void flush() { reader.feed(produced(*codec, pool)); }

  StreamId request(Body body = Body::kNone, http::Method method = http::Method::kGet, std::string_view name = "GET") {
    http::RequestHead head;
    head.method = method;
    head.methodText = name;
    head.authority = "example.com";
    head.target = "/a?b";
    head.body = body;
    return codec->sendRequest(sink.open().token, head, http::Scheme::kHttps);
  }
  StreamId sentRequest() {
    const StreamId id = request();
    flush();
    return id;
  }
  static std::string ok(StreamId id, bool end) { return h2::headers(id, {{":status", "200"}}, end); }
  std::uint32_t resetCode(std::uint32_t stream) {
    const H2Frame* frame = reader.find(H2Type::kRstStream, stream);
    return frame == nullptr ? 999 : frame->errorCode();
  }
  bool hit(Limit limit) const { return std::find(sink.limits.begin(), sink.limits.end(), limit) != sink.limits.end(); }
  void expectProtocolError(StreamId id) {
    EXPECT_TRUE(sink.last().reset);
    EXPECT_FALSE(sink.last().unprocessed);
    EXPECT_EQ(sink.last().error.type, base::ErrorType::kHttpProtocolError);
    EXPECT_EQ(resetCode(id), h2error::kProtocolError);
    EXPECT_EQ(codec->state(), CodecState::kOpen);
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  http::H2Memory memory;
  RecordingClientSink sink{pool};
  std::unique_ptr<http::ClientCodec> codec;
  H2FrameReader reader;
};

// RFC 7541 section 7.1.3.
TEST_F(H2ClientSide, ASecretGoesIntoNoTableAndIsWrittenOutEachTime) {
  const auto second = [this](http::Care care) {
    SetUp();
    std::size_t size = 0;
    for (int i = 0; i < 2; ++i) {
      base::Arena arena(pool);
      http::RequestHead head;
      head.authority = "example.com";
      head.target = "/";
      head.headers.add(arena,
                       {"x-api-key", "a key of the gateway that is long enough to see", http::FieldId::kOther, care});
      codec->sendRequest(sink.open().token, head, http::Scheme::kHttps);
      size = produced(*codec, pool).size();
    }
    return size;
  };
  EXPECT_GT(second(http::Care::kSecret), second(http::Care::kNone) + 20);
}

TEST_F(H2ClientSide, WritesARequest) {
  base::Arena arena(pool);
  http::RequestHead head;
  head.method = http::Method::kPost;
  head.methodText = "POST";
  head.authority = "example.com";
  head.target = "/a?b";
  head.headers.add(arena, "x-a", "1");
  head.body = Body::kLength;
  head.contentLength = 3;
  head.acceptsTrailers = true;
  auto& stream = sink.open();
  const StreamId id = codec->sendRequest(stream.token, head, http::Scheme::kHttps);
  EXPECT_EQ(id, 1u);
  stream.request.bytes.append("abc");
  stream.request.finish();
  flush();
  ASSERT_NE(reader.find(H2Type::kHeaders, 1), nullptr);
  EXPECT_EQ(reader.find(H2Type::kHeaders, 1)->lines, (H2Lines{{":method", "POST"},
                                                              {":scheme", "https"},
                                                              {":path", "/a?b"},
                                                              {":authority", "example.com"},
                                                              {"content-length", "3"},
                                                              {"te", "trailers"},
                                                              {"x-a", "1"}}));
  EXPECT_EQ(reader.body(1), "abc");
  EXPECT_TRUE(stream.sent);
  EXPECT_EQ(stream.taken, 3u);
}

TEST_F(H2ClientSide, ReadsAResponseWithTrailersBehindInterimOnes) {
  const StreamId id = sentRequest();
  exchange(h2::headers(id, {{":status", "103"}, {"link", "x"}}, false) + ok(id, false) + h2::data(id, "hello", false) +
           h2::headers(id, {{"grpc-status", "0"}}, true));
  const auto& stream = sink.last();
  EXPECT_EQ(stream.interims, (std::vector<std::uint16_t>{103}));
  EXPECT_EQ(stream.message.head.status, 200);
  EXPECT_EQ(stream.body, "hello");
  EXPECT_EQ(stream.trailers, (FieldList{{"grpc-status", "0"}}));
  EXPECT_TRUE(stream.ended);
  EXPECT_FALSE(stream.reset);
  EXPECT_EQ(codec->activeStreams(), 0u);
}

TEST_F(H2ClientSide, BoundsInformationalResponses) {
  const StreamId id = sentRequest();
  for (int i = 0; i < 10; ++i) exchange(h2::headers(id, {{":status", "103"}}, false));
  EXPECT_FALSE(sink.last().reset);
  exchange(h2::headers(id, {{":status", "103"}}, false));
  expectProtocolError(id);
  EXPECT_TRUE(hit(Limit::kInformationalResponses));
}

TEST_F(H2ClientSide, BoundsTheResponsesTrailersToo) {
  for (const bool bytes : {true, false}) {
    limits.responseFields = bytes ? 100 : 10;
    limits.headerBytes = bytes ? 10 * 43 : 1'000'000;  // each line counts 3 + 8 + 32 bytes
    for (const std::size_t count : {10U, 11U}) {
      sink.limits.clear();
      start();
      const StreamId id = sentRequest();
      exchange(ok(id, false) + h2::data(id, "hello", false) +
               h2::headers(id, H2Lines(count, {"x-a", "12345678"}), true));
      EXPECT_EQ(sink.last().body, "hello");
      EXPECT_EQ(sink.last().ended, count == 10);
      EXPECT_EQ(sink.last().trailers.size(), count == 10 ? 10U : 0U);
      EXPECT_EQ(hit(bytes ? Limit::kHeaderBytes : Limit::kResponseFields), count == 11);
      EXPECT_EQ(sink.last().reset, count == 11);
      EXPECT_EQ(codec->state(), CodecState::kOpen) << "the other streams go on";
      EXPECT_EQ(codec->activeStreams(), 0U);
      if (count == 10) continue;
      EXPECT_EQ(sink.last().error.type, base::ErrorType::kHttpProtocolError);
    }
  }
}

// RFC 9110 section 8.6 forbids the field. Its end is known all the same, and servers send it.
TEST_F(H2ClientSide, LeavesTheLengthOutOfAResponseWithoutContent) {
  for (const char* length : {"0", "5"}) {
    exchange(h2::headers(sentRequest(), {{":status", "204"}, {"content-length", length}, {"x-a", "1"}}, true));
    EXPECT_TRUE(sink.last().ended) << length;
    EXPECT_EQ(sink.last().message.head.status, 204);
    EXPECT_EQ(sink.last().message.head.contentLength, std::nullopt);
    EXPECT_EQ(sink.last().message.head.headers.size(), 1U);
  }
}

TEST_F(H2ClientSide, TakesAnyStatusOfThreeDigits) {
  for (const char* status : {"600", "999"}) {
    exchange(h2::headers(sentRequest(), {{":status", status}}, true));
    EXPECT_TRUE(sink.last().ended) << status;
    EXPECT_EQ(sink.last().message.head.status, std::stoi(status));
  }
}

TEST_F(H2ClientSide, RefusesMalformedResponses) {
  const std::vector<H2Lines> malformed = {
      {{":status", "101"}},
      {{":status", "20"}},
      {{":status", "abc"}},
      {{"x-a", "1"}},
      {{":status", "200"}, {"x-a", "1\r\nb: 2"}},
      {{":status", "200"}, {"transfer-encoding", "chunked"}},
      {{":status", "200"}, {"connection", "close"}},
      {{":status", "200"}, {"content-length", "1"}, {"content-length", "2"}},
      {{":status", "200"}, {":path", "/"}},
  };
  for (const H2Lines& lines : malformed) {
    const StreamId id = sentRequest();
    exchange(h2::headers(id, lines, false));
    SCOPED_TRACE(lines.back().first + lines.back().second);
    expectProtocolError(id);
    EXPECT_FALSE(sink.last().answered);
  }
}

TEST_F(H2ClientSide, RefusesABodyThatDiffersFromItsContentLength) {
  const StreamId id = sentRequest();
  exchange(h2::headers(id, {{":status", "200"}, {"content-length", "5"}}, false) + h2::data(id, "abc", true));
  EXPECT_FALSE(sink.last().ended);
  expectProtocolError(id);
}

TEST_F(H2ClientSide, BoundsTheResponsesHeaderSection) {
  StreamId id = sentRequest();
  H2Lines lines{{":status", "200"}};
  for (int i = 0; i < 200; ++i) lines.emplace_back("x-a", "1");
  exchange(h2::headers(id, lines, true));
  EXPECT_TRUE(sink.last().ended);
  id = sentRequest();
  lines.emplace_back("x-a", "1");
  exchange(h2::headers(id, lines, true));
  expectProtocolError(id);
  EXPECT_TRUE(hit(Limit::kResponseFields));
  id = sentRequest();
  std::string block = h2::line(":status", "200");
  for (int i = 0; i < 5; ++i) block += h2::line("x-a", std::string(13'107 - 35, 'x'));
  exchange(h2::headers(id, std::string_view(block).substr(0, 16000), true, false) +
           h2::continuation(id, std::string_view(block).substr(16000, 16000), false) +
           h2::continuation(id, std::string_view(block).substr(32000, 16000), false) +
           h2::continuation(id, std::string_view(block).substr(48000, 16000), false) +
           h2::continuation(id, std::string_view(block).substr(64000), true));
  expectProtocolError(id);
  EXPECT_TRUE(hit(Limit::kHeaderBytes));
}

TEST_F(H2ClientSide, KnowsHowManyStreamsItMayBegin) {
  codec = http::makeH2ClientCodec(sink, pool, limits, clock);
  EXPECT_EQ(codec->availableStreams(), 100u);
  exchange(h2::settings({{0x3, 2}}));
  EXPECT_EQ(codec->availableStreams(), 2u);
  EXPECT_EQ(request(), 1u);
  EXPECT_EQ(codec->availableStreams(), 1u);
  EXPECT_EQ(request(), 3u);
  EXPECT_EQ(codec->availableStreams(), 0u);
  EXPECT_EQ(request(), 0u);
  flush();
  exchange(ok(1, true));
  EXPECT_EQ(codec->availableStreams(), 1u);
}

// A burst over a new connection must not be refused by a backend that takes few at once.
TEST_F(H2ClientSide, SendsOneRequestUntilItKnowsHowManyTheBackendTakes) {
  const auto sent = [this](const std::string& settings) {
    codec = http::makeH2ClientCodec(sink, pool, limits, clock);
    H2FrameReader frames;
    for (int i = 0; i < 5; ++i) EXPECT_NE(request(), 0u);
    frames.feed(produced(*codec, pool));
    EXPECT_EQ(frames.count(H2Type::kHeaders), 1u);
    codec->feed(settings);
    frames.feed(produced(*codec, pool));
    return frames.count(H2Type::kHeaders);
  };
  EXPECT_EQ(sent(h2::settings({{0x3, 2}})), 2u);
  EXPECT_EQ(sent(h2::settings({})), 5u);
}

TEST_F(H2ClientSide, TellsWhichStreamsAGoawayLeftUnprocessed) {
  sentRequest();
  sentRequest();
  request();  // not even serialised
  exchange(h2::goaway(1, h2error::kNoError));
  EXPECT_EQ(codec->state(), CodecState::kDraining);
  EXPECT_EQ(codec->availableStreams(), 0u);
  EXPECT_FALSE(sink.stream(0).reset);
  EXPECT_TRUE(sink.stream(1).reset);
  EXPECT_TRUE(sink.stream(1).unprocessed);
  flush();
  EXPECT_TRUE(sink.stream(2).reset);
  EXPECT_TRUE(sink.stream(2).unprocessed);
  exchange(ok(1, true));
  EXPECT_TRUE(sink.stream(0).ended);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2ClientSide, TellsWhetherAResetStreamWasProcessed) {
  const StreamId refused = sentRequest();
  exchange(h2::rstStream(refused, h2error::kRefusedStream));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_TRUE(sink.last().unprocessed);
  const StreamId failed = sentRequest();
  exchange(h2::rstStream(failed, h2error::kInternalError));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_FALSE(sink.last().unprocessed);
  EXPECT_EQ(sink.last().error.type, base::ErrorType::kConnectionTerminated);
}

TEST_F(H2ClientSide, TakesAnEarlyResponseAndItsReset) {
  const StreamId id = request(Body::kUntilEnd, http::Method::kPost, "POST");
  sink.last().request.bytes.append("part");
  flush();
  exchange(ok(id, true) + h2::rstStream(id, h2error::kNoError));
  EXPECT_TRUE(sink.last().ended);
  EXPECT_FALSE(sink.last().reset);
  EXPECT_EQ(codec->activeStreams(), 0u);
}

TEST_F(H2ClientSide, ResetsEveryStreamWhenTheBackendIsGone) {
  sentRequest();
  request();
  codec->feedEnd(false);
  EXPECT_TRUE(sink.stream(0).reset);
  EXPECT_FALSE(sink.stream(0).unprocessed);
  EXPECT_EQ(sink.stream(0).error.type, base::ErrorType::kConnectionTerminated);
  EXPECT_TRUE(sink.stream(1).unprocessed);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_EQ(codec->availableStreams(), 0u);
}

TEST_F(H2ClientSide, CancelsBeforeAndAfterTheRequestWentOut) {
  const StreamId early = request();
  codec->reset(early, http::ResetReason::kCancelled);
  flush();
  EXPECT_EQ(reader.find(H2Type::kHeaders, early), nullptr);
  EXPECT_EQ(codec->activeStreams(), 0u);
  const StreamId late = sentRequest();
  codec->reset(late, http::ResetReason::kCancelled);
  flush();
  EXPECT_EQ(resetCode(late), h2error::kCancel);
  exchange(ok(late, true));
  EXPECT_FALSE(sink.stream(0).reset || sink.stream(1).reset || sink.stream(1).answered);
  EXPECT_EQ(codec->state(), CodecState::kOpen);
}

// A backend may count resets as the gateway does, and would end the connection for all its users.
TEST_F(H2ClientSide, RetiresAConnectionOnWhichManyRequestsWereCancelled) {
  const auto cancelOne = [this] {
    const StreamId id = sentRequest();
    codec->reset(id, http::ResetReason::kCancelled);
    flush();
    EXPECT_EQ(resetCode(id), h2error::kCancel);
  };
  const StreamId other = sentRequest();
  const std::size_t neighbour = sink.count() - 1;
  for (std::uint32_t i = 1; i < limits.resetsPerMinute / 2; ++i) cancelOne();
  EXPECT_EQ(codec->state(), CodecState::kOpen);
  cancelOne();
  EXPECT_EQ(codec->state(), CodecState::kDraining);
  EXPECT_EQ(codec->availableStreams(), 0u);
  exchange(ok(other, true));
  EXPECT_TRUE(sink.stream(neighbour).ended) << "what was begun goes on";
  EXPECT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2ClientSide, ARequestThatWasCancelledBeforeItWentOutIsNeverSeenByTheBackend) {
  for (std::uint32_t i = 0; i < limits.resetsPerMinute; ++i) codec->reset(request(), http::ResetReason::kCancelled);
  flush();
  EXPECT_EQ(codec->state(), CodecState::kOpen);
}

TEST_F(H2ClientSide, CancelsTheStreamIfTheRequestBreaksOff) {
  const StreamId id = request(Body::kUntilEnd, http::Method::kPost, "POST");
  flush();
  sink.last().request.breakOff();
  codec->wake(id);
  flush();
  EXPECT_EQ(resetCode(id), h2error::kCancel);
}

// A field that filters wrote into a head may not break out of its line.
TEST_F(H2ClientSide, NeverEncodesControlDataOrLinesThatBreakTheGrammar) {
  base::Arena arena(pool);
  std::vector<http::RequestHead> heads(6);
  for (http::RequestHead& head : heads) {
    head.authority = "example.com";
    head.target = "/";
  }
  heads[0].target = "/a HTTP/1.1\r\nx: y";
  heads[1].authority = "a\r\nb";
  heads[2].methodText = "GET /";
  heads[3].headers.add(arena, "x-a", "1\r\nx-b: 2");
  heads[4].headers.add(arena, "x-a\r\nx-b", "1");
  heads[5].headers.add(arena, ":path", "/other");
  for (const http::RequestHead& head : heads) {
    auto& stream = sink.open();
    EXPECT_NE(codec->sendRequest(stream.token, head, http::Scheme::kHttps), 0u);
    EXPECT_FALSE(stream.reset);
    EXPECT_TRUE(codec->wantsProduce());
    flush();
    EXPECT_TRUE(stream.reset);
    EXPECT_FALSE(stream.unprocessed);
    EXPECT_EQ(stream.error.type, base::ErrorType::kProxyInternalError);
  }
  EXPECT_EQ(reader.count(H2Type::kHeaders), 0u);
  auto& cancelled = sink.open();
  codec->reset(codec->sendRequest(cancelled.token, heads[0], http::Scheme::kHttps), http::ResetReason::kCancelled);
  flush();
  EXPECT_FALSE(cancelled.reset);
}

TEST_F(H2ClientSide, PassesOverFieldsThatACodecAloneWrites) {
  base::Arena arena(pool);
  http::RequestHead head;
  head.authority = "example.com";
  head.target = "/";
  for (const char* name : {"connection", "proxy-connection", "transfer-encoding", "te", "host", "expect", "x-a"}) {
    head.headers.add(arena, name, "1");
  }
  const StreamId id = codec->sendRequest(sink.open().token, head, http::Scheme::kHttps);
  flush();
  const H2Frame* frame = reader.find(H2Type::kHeaders, id);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(
      frame->lines,
      (H2Lines{{":method", "GET"}, {":scheme", "https"}, {":path", "/"}, {":authority", "example.com"}, {"x-a", "1"}}));
}

TEST_F(H2ClientSide, SendsGoawayWhenItsLastStreamIsOver) {
  const StreamId id = sentRequest();
  codec->drain();
  flush();
  EXPECT_EQ(codec->state(), CodecState::kDraining);
  EXPECT_EQ(codec->availableStreams(), 0u);
  EXPECT_EQ(reader.goaway(), nullptr);
  exchange(ok(id, true));
  EXPECT_TRUE(sink.last().ended);
  EXPECT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2ClientSide, SendsGoawayAtOnceIfItIsIdle) {
  codec->drain();
  EXPECT_TRUE(codec->wantsProduce());
  flush();
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2ClientSide, BoundsEmptyFramesAndUnreadAnswers) {
  const StreamId id = sentRequest();
  codec->feed(ok(id, false));
  for (int i = 0; i < 101; ++i) exchange(h2::data(id, {}, false));
  EXPECT_TRUE(hit(Limit::kEmptyFrames));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  start();
  for (int i = 0; i < 1001; ++i) codec->feed(h2::ping());
  EXPECT_TRUE(hit(Limit::kQueuedControlFrames));
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2ClientSide, RefusesPushes) {
  const StreamId id = sentRequest();
  exchange(h2::frame(H2Type::kPushPromise, h2flag::kEndHeaders, id, std::string("\0\0\0\2", 4) + h2::block(h2::get())));
  EXPECT_NE(reader.goaway(), nullptr);
}

// A reset and then a GOAWAY must leave nothing behind.
TEST_F(H2ClientSide, LeavesNothingBehindAfterResetAndGoaway) {
  const std::size_t kept = pool.inUse();
  for (int i = 0; i < 50; ++i) {
    reader.forget();
    codec = http::makeH2ClientCodec(sink, pool, limits, clock, &memory);
    exchange(h2::settings({}));
    for (int k = 0; k < 10; ++k) sentRequest();
    exchange(h2::rstStream(1, h2error::kRefusedStream) + h2::goaway(3, h2error::kNoError));
    EXPECT_EQ(codec->activeStreams(), 1u);
  }
  codec.reset();
  EXPECT_EQ(pool.inUse(), kept);
}

}  // namespace
}  // namespace sluice::test
