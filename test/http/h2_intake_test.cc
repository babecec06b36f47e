// Tests that few bytes which encode many fields are decoded in turns, and that the same requests arrive whatever the
// turns are.
#include "proxy/http/h2/h2_intake.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/narrow_account.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

constexpr std::size_t kRoomForAll = std::size_t{64} * 1024 * 1024;

/// Returns about a megabyte of fields in a few bytes.
std::string megabyte(bool first) {
  std::string block = first ? h2::indexedLine("x-large", std::string(3900, 'y')) : std::string();
  for (int i = 0; i < 256; ++i) block += h2::reference(62);
  return block;
}

/// One server's codec, with the bytes that it was fed and the results.
class H2Intaking {
 public:
  explicit H2Intaking(std::size_t room = kRoomForAll) {
    account.most = room;
    limits.headerBytes = 1400 * 1024;
    limits.headerFields = 500;
    codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock, nullptr, &account);
    feed(h2::clientHello() + h2::settingsAck());
  }
  void feed(std::string_view bytes) {
    codec->feed(bytes);
    reader.feed(produced(*codec, pool));
  }
  /// Returns how many turns it took.
  std::size_t finish() {
    std::size_t turns = 0;
    for (; codec->wantsResume(); ++turns) {
      EXPECT_EQ(codec->readBudget(), 0U);
      codec->resume();
      reader.feed(produced(*codec, pool));
    }
    return turns;
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  NarrowAccount account;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
  H2FrameReader reader;
};

/// Requests that are large or small, whole or not, with bodies and trailers, and frames of streams that are over.
std::string mixedCourse() {
  std::string bytes;
  const std::string get = h2::block(h2::get());
  const std::string post = h2::block(h2::post());
  bytes += h2::headers(1, get + megabyte(true), true);
  bytes += h2::headers(3, post, false) + h2::data(3, std::string(3000, 'a'), false);
  bytes +=
      h2::headers(5, get + megabyte(false), true, false) + h2::continuation(5, megabyte(false).substr(0, 60), true);
  bytes += h2::data(3, std::string(500, 'b'), false) + h2::ping();
  bytes += h2::headers(7, post + megabyte(false), false) + h2::rstStream(7, h2error::kCancel);
  bytes += h2::data(7, "late", false);
  bytes += h2::headers(3, megabyte(false), true);
  bytes += h2::headers(9, get + megabyte(false) + megabyte(false), true);  // beyond headerBytes
  bytes += h2::headers(11, get, true);
  return bytes;
}

TEST(H2Intake, TakesABreakWhereFewBytesAreManyFields) {
  H2Intaking all;
  std::string burst;
  for (std::uint32_t id = 1; id < 9; id += 2) burst += h2::headers(id, h2::block(h2::get()) + megabyte(id == 1), true);
  all.feed(burst);
  EXPECT_EQ(all.sink.count(), 0U) << "a quarter of the first head has been decoded";
  EXPECT_TRUE(all.codec->wantsResume());
  EXPECT_GE(all.finish(), 12U);
  ASSERT_EQ(all.sink.count(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all.sink.stream(i).message.head.headers.size(), i == 0 ? 257U : 256U);
  EXPECT_GT(all.codec->readBudget(), 0U);
}

TEST(H2Intake, TakesNoBreakInOrdinaryHeads) {
  H2Intaking all;
  std::string burst;
  for (std::uint32_t id = 1; id < 100; id += 2)
    burst += h2::headers(id, h2::block(h2::get()) + h2::line("x-a", std::string(4000, 'y')), true);
  all.feed(burst);
  EXPECT_FALSE(all.codec->wantsResume());
  EXPECT_EQ(all.sink.count(), 50U);
}

/// Expects that of mixedCourse() everything has arrived as it was sent.
void expectMixedCourse(H2Intaking& all) {
  ASSERT_EQ(all.reader.goaway(), nullptr);
  ASSERT_EQ(all.sink.count(), 6U);
  std::vector<std::size_t> fields;
  for (std::size_t i = 0; i < 6; ++i) fields.push_back(all.sink.stream(i).message.head.headers.size());
  EXPECT_EQ(fields, (std::vector<std::size_t>{257, 0, 316, 256, 0, 0}));
  const auto& upload = all.sink.stream(1);
  EXPECT_EQ(upload.body, std::string(3000, 'a') + std::string(500, 'b'));
  EXPECT_EQ(upload.trailers.size(), 256U);
  EXPECT_TRUE(all.sink.stream(3).reset);
  EXPECT_TRUE(all.sink.stream(4).bad) << "beyond headerBytes";
  for (const std::size_t whole : {0, 1, 2, 5}) EXPECT_TRUE(all.sink.stream(whole).ended) << whole;
  EXPECT_EQ(all.sink.limits, std::vector<http::Limit>{http::Limit::kHeaderBytes});
}

TEST(H2Intake, DeliversTheSameWhereverTheBreaksAre) {
  const std::string course = mixedCourse();
  // nghttp2 takes the header of a CONTINUATION that comes byte by byte for nine of them.
  for (std::size_t piece = 2; piece <= 2 * course.size(); piece = piece * 3 / 2 + 1) {
    SCOPED_TRACE("in pieces of " + std::to_string(piece));
    H2Intaking all;
    for (std::size_t at = 0; at < course.size(); at += piece) {
      all.feed(std::string_view(course).substr(at, piece));
      if (at / piece % 2 == 0) all.finish();  // otherwise the next bytes come during a break
    }
    all.finish();
    expectMixedCourse(all);
  }
}

TEST(H2Intake, ChargesTheBytesThatItKeeps) {
  H2Intaking all;
  all.sink.refuse = true;  // heads hold nothing
  all.feed(h2::headers(1, h2::block(h2::get()) + megabyte(true), true));
  all.finish();
  ASSERT_EQ(all.account.used, 0U);
  std::string burst = h2::headers(3, h2::block(h2::get()) + megabyte(false), true);
  while (burst.size() < 100'000) burst += h2::windowUpdate(0, 1);
  all.codec->feed(burst);
  ASSERT_TRUE(all.codec->wantsResume());
  const std::size_t decoded = 256 * 1024 + 16 * 1024;
  EXPECT_GE(all.account.used, burst.size() - 2 * base::Chunk::kCapacity);
  EXPECT_LE(all.account.used, burst.size() + decoded);
  all.finish();
  EXPECT_EQ(all.account.used, 0U);
}

TEST(H2Intake, EndsTheConnectionWithoutRoomForTheRest) {
  for (const bool large : {false, true}) {
    H2Intaking all(0);
    std::string burst = h2::headers(1, h2::block(h2::get()) + megabyte(true), true) + h2::headers(3, h2::get(), true);
    const std::size_t size = large ? http::HeadCharge::kFree + 5000 : http::HeadCharge::kFree;
    while (burst.size() + 13 <= size) burst += h2::windowUpdate(0, 1);
    all.feed(burst);
    EXPECT_EQ(all.codec->state(), large ? http::CodecState::kClosed : http::CodecState::kOpen);
    all.finish();
    EXPECT_EQ(all.account.used, 0U);
    if (large) {
      ASSERT_NE(all.reader.goaway(), nullptr);
      EXPECT_EQ(all.reader.goaway()->errorCode(), h2error::kEnhanceYourCalm);
      EXPECT_EQ(all.sink.limits.back(), http::Limit::kHeaderMemory);
    } else {
      ASSERT_EQ(all.sink.count(), 2U);
      EXPECT_TRUE(all.sink.stream(0).bad) << "there is no room for the head either";
      EXPECT_FALSE(all.sink.stream(1).bad);
    }
  }
}

TEST(H2Intake, ReadsLittleAtATimeWhileNoBodiesCome) {
  H2Intaking all;
  EXPECT_EQ(all.codec->readBudget(), http::HeadCharge::kFree);
  all.feed(h2::headers(1, h2::post(), false) + h2::data(1, "body", false));
  EXPECT_EQ(all.codec->readBudget(), 256U * 1024);
  all.feed(h2::headers(3, h2::get(), true));
  EXPECT_EQ(all.codec->readBudget(), http::HeadCharge::kFree);
}

TEST(H2Intake, CountsManySmallHeads) {
  H2Intaking all;
  all.limits.concurrentStreams = 100;
  std::string burst;
  for (std::uint32_t id = 1; id < 200; id += 2) {
    std::string block = h2::block(h2::get());
    if (id == 1) block += h2::indexedLine("x-large", std::string(3900, 'y'));
    burst += h2::headers(id, block + h2::reference(62) + h2::reference(62) + h2::reference(62), true);
  }
  all.feed(burst);
  EXPECT_TRUE(all.codec->wantsResume());
  EXPECT_LT(all.sink.count(), 40U);
  EXPECT_GE(all.finish(), 3U);
  EXPECT_EQ(all.sink.count(), 100U);
}

// The response ends while trailers are decoded, so nghttp2 does not report their end.
TEST(H2Intake, ForgetsTheSectionOfAStreamThatIsClosedDuringABreak) {
  H2Intaking all;
  all.feed(h2::headers(1, h2::post(), false) + h2::headers(1, megabyte(true), true));
  ASSERT_TRUE(all.codec->wantsResume());
  EXPECT_TRUE(all.codec->headPending());
  EXPECT_GT(all.account.used, 0U);
  all.codec->reset(1, http::ResetReason::kCancelled);
  all.reader.feed(produced(*all.codec, all.pool));
  EXPECT_FALSE(all.codec->headPending());
  all.finish();
  EXPECT_FALSE(all.codec->headPending());
  EXPECT_EQ(all.account.used, 0U);
  all.feed(h2::headers(3, h2::get(), true));
  EXPECT_EQ(all.sink.count(), 2U);
}

TEST(H2Intake, GivesUpTheRestWhenTheConnectionEnds) {
  for (const bool lost : {false, true}) {
    H2Intaking all;
    all.feed(h2::headers(1, h2::block(h2::get()) + megabyte(true), true) + h2::headers(3, h2::get(), true));
    ASSERT_TRUE(all.codec->wantsResume());
    if (lost) {
      all.codec->feedLost();
    } else {
      all.codec->feedEnd();
    }
    EXPECT_FALSE(all.codec->wantsResume());
    EXPECT_EQ(all.codec->state(), http::CodecState::kClosed);
    EXPECT_EQ(all.account.used, 0U);
    EXPECT_EQ(all.sink.count(), 0U);
  }
}

TEST(H2Intake, EndsTheConnectionAtAFaultBehindABreak) {
  H2Intaking all;
  all.feed(h2::headers(1, h2::block(h2::get()) + megabyte(true), true) + h2::headers(2, h2::get(), true));
  ASSERT_TRUE(all.codec->wantsResume());
  all.finish();
  EXPECT_EQ(all.sink.count(), 1U);
  ASSERT_NE(all.reader.goaway(), nullptr);
  EXPECT_EQ(all.reader.goaway()->errorCode(), h2error::kProtocolError);
  all.sink.last().message = http::RequestMessage(all.pool);
  EXPECT_EQ(all.account.used, 0U) << "nothing is kept besides the head";
}

TEST(H2Intake, TakesNoBreakTowardsABackend) {
  H2Intaking server;
  server.feed(h2::headers(1, h2::get(), true));
  RecordingClientSink sink{server.pool};
  server.limits.responseFields = 300;
  const auto codec = http::makeH2ClientCodec(sink, server.pool, server.limits, server.clock);
  codec->feed(h2::settings({}) + h2::settingsAck());
  const http::StreamId id = codec->sendRequest(sink.open().token, server.sink.last().message.head, http::Scheme::kHttp);
  produced(*codec, server.pool);
  codec->feed(h2::headers(id, h2::block({{":status", "200"}}) + megabyte(true), true));
  EXPECT_EQ(sink.last().message.head.headers.size(), 257U);
}

}  // namespace
}  // namespace sluice::test
