// Floods of HTTP/2 frames that carry no content, read by the peer or not; each bound is tested on both sides.

#include <gtest/gtest.h>

#include <string>

#include "test/http/h2_attack_fixture.h"

namespace sluice::test {
namespace {

using http::CodecState;
using http::Limit;

// A peer sends requests and does not read.
TEST_F(H2Attack, PingsOfAPeerThatDoesNotReadAreBounded) {
  limits.queuedControlFrames = 100;
  start();
  for (int i = 0; i < 100; ++i) codec->feed(h2::ping());
  EXPECT_EQ(codec->state(), CodecState::kOpen);
  EXPECT_EQ(codec->readBudget(), 0u);
  flush();
  EXPECT_GT(codec->readBudget(), 0u);
  EXPECT_EQ(reader.count(H2Type::kPing), 100u);
  for (int i = 0; i < 101; ++i) codec->feed(h2::ping());
  EXPECT_TRUE(hit(Limit::kQueuedControlFrames));
  flush();
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, SettingsOfAPeerThatDoesNotReadAreBounded) {
  limits.queuedControlFrames = 100;
  start();
  for (int i = 0; i < 100; ++i) codec->feed(h2::settings({}));
  EXPECT_EQ(codec->state(), CodecState::kOpen);
  codec->feed(h2::settings({}) + h2::settings({}));
  EXPECT_TRUE(hit(Limit::kQueuedControlFrames));
  flush();
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, AtMostThirtyTwoSettingsInAFrame) {
  std::vector<std::pair<std::uint16_t, std::uint32_t>> entries(32, {0x3, 100});
  exchange(h2::settings(entries));
  expectOpen();
  entries.emplace_back(0x3, 100);
  exchange(h2::settings(entries));
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

TEST_F(H2Attack, PriorityFramesAreIgnored) {
  std::string bytes;
  for (std::uint32_t i = 1; i < 5000; ++i) bytes += h2::priority(2 * i + 1, 2 * i - 1);
  exchange(bytes);
  expectOpen();
  EXPECT_EQ(codec->activeStreams(), 0u);
}

// CVE-2019-9512, -9513 and -9515, of a peer that reads every answer.
TEST_F(H2Attack, FramesThatCarryNoContentAreBounded) {
  for (const std::string& each :
       {h2::ping(), h2::ping(true), h2::settings({}), h2::priority(3, 1), h2::windowUpdate(0, 1)}) {
    limits.controlFramesPerMinute = 100;
    sink.limits.clear();
    reader.forget();
    start();  // with two frames of SETTINGS
    for (int i = 0; i < 98; ++i) exchange(each);
    expectOpen();
    exchange(each);
    EXPECT_TRUE(hit(Limit::kControlFramesPerMinute)) << each;
    expectEnd(h2error::kEnhanceYourCalm);
  }
}

TEST_F(H2Attack, FramesThatCarryContentAllowMoreOfThoseThatDoNot) {
  limits.controlFramesPerMinute = 100;
  start();
  for (std::uint32_t i = 0; i < 10; ++i) exchange(h2::headers(2 * i + 1, h2::get(), true));
  for (int i = 0; i < 198; ++i) exchange(h2::ping());
  expectOpen();
  exchange(h2::ping());
  EXPECT_TRUE(hit(Limit::kControlFramesPerMinute));
}

TEST_F(H2Attack, FramesThatCarryNoContentAreCountedByTheMinute) {
  limits.controlFramesPerMinute = 100;
  start();
  for (int minute = 0; minute < 5; ++minute) {
    for (int i = 0; i < 98; ++i) exchange(h2::ping());
    clock.advance(std::chrono::minutes(1));
  }
  expectOpen();
}

// A client ends an upload, or a call of gRPC, by a reset behind the whole response. That costs no more than to end it
// by END_STREAM.
TEST_F(H2Attack, AnsweredStreamsMayBeResetAnyNumberOfTimes) {
  http::ResponseHead head;
  head.status = 413;
  for (std::uint32_t id = 1; id < 2001; id += 2) {
    exchange(h2::headers(id, h2::post(), false));
    codec->sendResponse(id, head);
    flush();
    exchange(h2::rstStream(id, h2error::kNoError));
  }
  expectOpen();
  EXPECT_EQ(codec->activeStreams(), 0u);
}

TEST_F(H2Attack, ResetsThatEndNothingAreBounded) {
  limits.controlFramesPerMinute = 100;
  start();  // with two frames of SETTINGS
  exchange(h2::headers(1, h2::get(), true));
  http::ResponseHead head;
  head.status = 204;
  codec->sendResponse(1, head);
  flush();
  for (int i = 0; i < 118; ++i) exchange(h2::rstStream(1, h2error::kNoError));  // 20 for two heads
  expectOpen();
  exchange(h2::rstStream(1, h2error::kNoError));
  EXPECT_TRUE(hit(Limit::kControlFramesPerMinute));
  expectEnd(h2error::kEnhanceYourCalm);
}

// The reset queue of a peer that does not read is bounded by the streams that it may have.
TEST_F(H2Attack, UnreadResetsDoNotPileUp) {
  limits.concurrentStreams = 10;
  start();
  for (std::uint32_t id = 1; id < 401; id += 2) codec->feed(h2::headers(id, {{":method", "GET"}}, true));
  flush();
  EXPECT_LE(reader.count(H2Type::kRstStream), 11u);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
}

}  // namespace
}  // namespace sluice::test
