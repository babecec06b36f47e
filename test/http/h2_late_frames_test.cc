// Frames of a client that come after the end of their stream, and those that were under way when it ended.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/h2/h2_stream_history.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::CodecState;

class H2LateFrames : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() {
    reader.forget();
    codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock);
    exchange(h2::clientHello() + h2::settingsAck());
  }
  void exchange(std::string_view bytes) {
    codec->feed(bytes);
    reader.feed(produced(*codec, pool));
  }
  // A request that is answered at once: its stream is closed afterwards.
  void serve(std::uint32_t id) {
    exchange(h2::headers(id, h2::get(), true));
    http::ResponseHead head;
    head.status = 204;
    codec->sendResponse(id, head);
    exchange("");
    ASSERT_TRUE(sink.last().sent);
  }
  void expectOpen(std::size_t resets) {
    EXPECT_EQ(reader.goaway(), nullptr);
    EXPECT_EQ(codec->state(), CodecState::kOpen);
    EXPECT_EQ(reader.count(H2Type::kRstStream), resets);
  }
  void expectEnd(std::uint32_t code) {
    ASSERT_NE(reader.goaway(), nullptr);
    EXPECT_EQ(reader.goaway()->errorCode(), code);
    EXPECT_EQ(codec->state(), CodecState::kClosed);
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
  H2FrameReader reader;
};

// RFC 9113 section 5.1: the peer may have sent them before it received the reset.
TEST_F(H2LateFrames, BehindOurResetArePassedOver) {
  exchange(h2::headers(1, h2::post(), false) + h2::headers(3, h2::post(), false));
  codec->reset(1, http::ResetReason::kFailed);
  exchange("");
  expectOpen(1);
  exchange(h2::data(3, "a", false) + h2::data(1, "late", false) + h2::data(3, "b", true) +
           h2::headers(1, {{"x-sum", "1"}}, true));
  expectOpen(1);
  EXPECT_TRUE(sink.stream(0).body.empty());
  EXPECT_EQ(sink.stream(1).body, "ab");
  EXPECT_TRUE(sink.stream(1).ended);
}

TEST_F(H2LateFrames, BehindOurResetGiveTheirBytesBackToTheConnection) {
  limits.connectionWindow = 65535;
  start();
  exchange(h2::headers(1, h2::post(), false));
  codec->reset(1, http::ResetReason::kFailed);
  exchange("");
  for (int i = 0; i < 40; ++i) exchange(h2::data(1, std::string(8192, 'x'), false));
  expectOpen(1);
  EXPECT_GE(reader.granted(0), 40u * 8192 - 65535);
}

// They are decoded all the same, and one byte of them may be a reference to a large line.
TEST_F(H2LateFrames, OfHeadsBehindOurResetAreBounded) {
  limits.controlFramesPerMinute = 50;
  start();
  exchange(h2::headers(1, h2::post(), false) + h2::headers(3, h2::post(), false));
  codec->reset(1, http::ResetReason::kFailed);
  exchange("");
  const std::string late =
      h2::headers(1, h2::line("x-sum", "1"), true, false) + h2::continuation(1, h2::line("x", "y"), true);
  for (int i = 0; i < 60; ++i) exchange(late);
  expectOpen(1);
  for (int i = 0; i < 30; ++i) exchange(late);
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2LateFrames, BehindTheClientsResetAreAnsweredOnce) {
  exchange(h2::headers(1, h2::post(), false) + h2::rstStream(1, h2error::kCancel) + h2::data(1, "a", false) +
           h2::headers(1, {{"x-sum", "1"}}, false) + h2::data(1, "b", true));
  exchange(h2::data(1, "c", true) + h2::headers(1, {{"x-sum", "1"}}, true));
  expectOpen(1);
  EXPECT_EQ(reader.find(H2Type::kRstStream, 1)->errorCode(), h2error::kStreamClosed);
  EXPECT_TRUE(sink.last().body.empty());
  serve(3);
}

// The reset was counted when the client sent it.
TEST_F(H2LateFrames, DoNotCountAsResetsOnceMore) {
  limits.resetsPerMinute = 20;
  start();
  std::string bytes;
  for (std::uint32_t id = 1; id < 41; id += 2) {
    bytes += h2::headers(id, h2::post(), false) + h2::rstStream(id, h2error::kCancel) + h2::data(id, "zombie", true);
  }
  exchange(bytes);
  expectOpen(20);
  for (std::size_t i = 0; i < sink.count(); ++i) EXPECT_TRUE(sink.stream(i).body.empty());
  serve(41);
}

TEST_F(H2LateFrames, OfAForgottenStreamArePassedOver) {
  for (const bool forgotten : {false, true}) {
    start();
    exchange(h2::headers(1, h2::post(), false) + h2::rstStream(1, h2error::kCancel));
    const std::uint32_t others = http::H2StreamHistory::kStreams - (forgotten ? 0 : 1);
    for (std::uint32_t i = 1; i <= others; ++i) serve(2 * i + 1);
    exchange(h2::data(1, "late", true) + h2::headers(1, {{"x-sum", "1"}}, true));
    expectOpen(forgotten ? 0 : 1);
  }
}

// The history knows the newest of them only.
TEST_F(H2LateFrames, OfMoreResetStreamsThanAreKnownDoNoHarm) {
  const std::uint32_t last = 2 * limits.resetsPerMinute - 1;
  std::string bytes;
  for (std::uint32_t id = 1; id <= last; id += 2) bytes += h2::headers(id, h2::post(), false) + h2::rstStream(id, 8);
  for (std::uint32_t id = 1; id <= last; id += 2) bytes += h2::data(id, "zombie", true);
  exchange(bytes);
  expectOpen(http::H2StreamHistory::kStreams);
  for (std::size_t i = 0; i < sink.count(); ++i) EXPECT_TRUE(sink.stream(i).body.empty());
  serve(last + 2);
}

TEST_F(H2LateFrames, OfAnEndedStreamEndTheConnection) {
  serve(1);
  serve(3);
  exchange(h2::data(1, "late", false));
  expectEnd(h2error::kStreamClosed);
}

TEST_F(H2LateFrames, OfAStreamThatTheClientSkippedEndTheConnection) {
  exchange(h2::headers(7, h2::get(), true) + h2::data(5, "x", true));
  expectEnd(h2error::kProtocolError);
  start();
  exchange(h2::headers(7, h2::get(), true) + h2::headers(3, h2::get(), true));
  expectEnd(h2error::kProtocolError);
}

TEST_F(H2LateFrames, OfAnOldStreamThatLivesArriveLikeAnyOther) {
  exchange(h2::headers(1, h2::post(), false));
  for (std::uint32_t id = 3; id < 1003; id += 2) serve(id);
  exchange(h2::data(1, "still ", false) + h2::headers(1003, h2::get(), true) + h2::data(1, "here", true));
  expectOpen(0);
  EXPECT_EQ(sink.stream(0).body, "still here");
  EXPECT_TRUE(sink.stream(0).ended);
}

TEST_F(H2LateFrames, DoNotHideTheViolationThatCameFirst) {
  serve(1);
  exchange(h2::frame(H2Type::kPing, h2flag::kNone, 0, "bad") + h2::data(1, "late", true));
  expectEnd(h2error::kFrameSizeError);
}

TEST_F(H2LateFrames, AreToldApartAlthoughUploadsAreInterleaved) {
  std::string bytes = h2::headers(1, h2::post(), false) + h2::headers(3, h2::post(), false);
  for (int i = 0; i < 50; ++i) bytes += h2::data(1, "one", false) + h2::data(3, "three", false);
  bytes += h2::data(1, "", true) + h2::data(3, "", true);
  for (const char byte : bytes) codec->feed({&byte, 1});
  EXPECT_EQ(sink.stream(0).body.size(), 150u);
  EXPECT_EQ(sink.stream(1).body.size(), 250u);
  EXPECT_TRUE(sink.stream(0).ended && sink.stream(1).ended);
}

}  // namespace
}  // namespace sluice::test
