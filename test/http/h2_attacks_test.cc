// Attacks of a hostile client on the server's codec, in raw frames; each bound is tested on both sides.

#include <gtest/gtest.h>

#include "test/http/h2_attack_fixture.h"

namespace sluice::test {
namespace {

using http::Body;
using http::CodecState;
using http::Limit;

// Rapid reset (CVE-2023-44487).
TEST_F(H2Attack, RapidResetEndsTheConnectionBeyondItsRate) {
  limits.resetsPerMinute = 20;
  start();
  std::uint32_t id = 1;
  const auto openAndReset = [&] {
    exchange(h2::headers(id, h2::get(), true) + h2::rstStream(id, h2error::kCancel));
    id += 2;
  };
  for (int i = 0; i < 20; ++i) openAndReset();
  expectOpen();
  clock.advance(std::chrono::minutes(1));
  for (int i = 0; i < 20; ++i) openAndReset();
  expectOpen();
  openAndReset();
  expectEnd(h2error::kEnhanceYourCalm);
  EXPECT_TRUE(hit(Limit::kResetsPerMinute));
  EXPECT_TRUE(sink.last().reset);
}

TEST_F(H2Attack, RapidResetInOneReadIsCutInItsMiddle) {
  std::string bytes;
  for (std::uint32_t id = 1; id < 2001; id += 2)
    bytes += h2::headers(id, h2::get(), true) + h2::rstStream(id, h2error::kCancel);
  exchange(bytes);
  EXPECT_EQ(sink.count(), 201u);
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, RapidResetOfMalformedRequestsIsCutInItsMiddle) {
  std::string bytes;
  for (std::uint32_t id = 1; id < 2001; id += 2)
    bytes += h2::headers(id, {{":method", "GET"}}, true) + h2::rstStream(id, h2error::kCancel);
  exchange(bytes + h2::headers(2001, h2::get(), true));
  EXPECT_EQ(sink.count(), 0u) << "the request behind them is not read";
  expectEnd(h2error::kEnhanceYourCalm);
}

// The client breaks the rules so that the server resets its streams.
TEST_F(H2Attack, ResetsThatTheClientProvokesCountToo) {
  limits.resetsPerMinute = 10;
  start();
  for (std::uint32_t i = 0; i < 11; ++i) {
    if (i == 10) expectOpen();
    const std::uint32_t id = 2 * i + 1;
    exchange(h2::headers(id, h2::get(), false) + h2::windowUpdate(id, 0x7fffffff));
    EXPECT_EQ(resetCode(id), i < 10 ? h2error::kFlowControlError : 999);
  }
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, MalformedRequestsCountAsResets) {
  limits.resetsPerMinute = 10;
  start();
  for (std::uint32_t i = 0; i < 11; ++i) exchange(h2::headers(2 * i + 1, {{":method", "GET"}}, true));
  EXPECT_EQ(sink.count(), 0u);
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, RefusedTrailersCountAsResets) {
  limits.resetsPerMinute = 10;
  start();
  const H2Lines tooMany(limits.headerFields + 1, {"x-a", "1"});
  for (std::uint32_t i = 0; i < 11; ++i) {
    if (i == 10) expectOpen();
    const std::uint32_t id = 2 * i + 1;
    exchange(h2::headers(id, h2::get(), false) + h2::headers(id, tooMany, true));
    if (i < 10) {
      EXPECT_EQ(resetCode(id), h2error::kProtocolError);
    }
  }
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, WindowUpdateOfZeroAndDataBehindTheEndHarmTheirSenderOnly) {
  exchange(h2::headers(1, h2::get(), true) + h2::data(1, "x", false));
  expectEnd(h2error::kStreamClosed);
  reader.forget();
  start();
  exchange(h2::headers(1, h2::get(), false) + h2::windowUpdate(1, 0));
  expectEnd(h2error::kProtocolError);
}

TEST_F(H2Attack, OurOwnResetsAreNotCountedAgainstTheClient) {
  limits.resetsPerMinute = 5;
  start();
  for (std::uint32_t id = 1; id < 41; id += 2) {
    exchange(h2::headers(id, h2::get(), true));
    codec->reset(id, http::ResetReason::kFailed);
    flush();
  }
  expectOpen();
}

// CONTINUATION flood (CVE-2024-27316).
TEST_F(H2Attack, ContinuationsAreBounded) {
  const std::string lines = h2::block(h2::get());
  std::string bytes = h2::headers(1, lines, true, false);
  for (int i = 0; i < 7; ++i) bytes += h2::continuation(1, h2::line("x-" + std::to_string(i), "1"), false);
  exchange(bytes + h2::continuation(1, {}, true));
  EXPECT_EQ(sink.count(), 1u);
  expectOpen();
  bytes = h2::headers(3, lines, true, false);
  for (int i = 0; i < 20; ++i) bytes += h2::continuation(3, h2::line("x-" + std::to_string(i), "1"), false);
  exchange(bytes);
  EXPECT_EQ(sink.count(), 1u);
  EXPECT_TRUE(hit(Limit::kHeaderBytes));
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, EmptyContinuationsAreBounded) {
  codec->feed(h2::headers(1, h2::block(h2::get()), true, false));
  for (int i = 0; i < 20; ++i) codec->feed(h2::continuation(1, {}, false));
  flush();
  expectEnd(h2error::kEnhanceYourCalm);
}

// Frames behind a connection error in the same read must do nothing (CVE-2026-27135).
TEST_F(H2Attack, FramesBehindAConnectionErrorAreIgnored) {
  const std::string tail = h2::frame(H2Type::kPing, h2flag::kNone, 0, "bad") + h2::frame(H2Type::kSettings, 0, 0, "x") +
                           h2::headers(5, h2::get(), true) + h2::frame(H2Type::kWindowUpdate, 0, 0, "y");
  exchange(h2::headers(1, h2::block(h2::get()), true, false) + h2::data(1, "x", false) + tail);
  ASSERT_NE(reader.goaway(), nullptr);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_EQ(sink.count(), 0u);
  exchange(tail);
  EXPECT_EQ(sink.count(), 0u);
}

TEST_F(H2Attack, AConnectionErrorMidStreamTellsTheOwners) {
  exchange(h2::headers(1, h2::post(), false));
  exchange(h2::priority(1, 1) + h2::frame(H2Type::kPing, h2flag::kNone, 0, "bad"));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_EQ(codec->state(), CodecState::kClosed);
  EXPECT_EQ(codec->activeStreams(), 0u);
}

TEST_F(H2Attack, EmptyNamesAreRefusedAndEmptyValuesCounted) {
  H2Lines lines = h2::get();
  lines.emplace_back("", "x");
  exchange(h2::headers(1, lines, true));
  EXPECT_EQ(resetCode(1), h2error::kProtocolError);
  lines = h2::get();
  for (int i = 0; i < 101; ++i) lines.emplace_back("a", "");
  exchange(h2::headers(3, lines, true));
  ASSERT_EQ(sink.count(), 1u);
  EXPECT_EQ(sink.last().error.status, 431);
}

TEST_F(H2Attack, EmptyDataFramesInARowAreBounded) {
  exchange(h2::headers(1, h2::post(), false));
  for (int i = 0; i < 100; ++i) exchange(h2::data(1, {}, false));
  expectOpen();
  exchange(h2::data(1, "x", false));
  for (int i = 0; i < 100; ++i) exchange(h2::data(1, {}, false));
  expectOpen();
  exchange(h2::data(1, {}, false));
  EXPECT_TRUE(hit(Limit::kEmptyFrames));
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(H2Attack, DataFramesOfPaddingAloneAreEmpty) {
  exchange(h2::headers(1, h2::post(), false));
  const std::string padding =
      h2::frame(H2Type::kData, h2flag::kPadded, 1, std::string(1, '\x4') + std::string(4, '\0'));
  for (int i = 0; i < 100; ++i) exchange(padding);
  expectOpen();
  exchange(padding);
  EXPECT_TRUE(hit(Limit::kEmptyFrames));
}

// An HPACK bomb references a large entry of the dynamic table often.
TEST_F(H2Attack, AHeaderSectionIsBoundedByItsDecodedSize) {
  std::string bomb = h2::block(h2::get()) + h2::indexedLine("x-bomb", std::string(3900, 'a'));
  for (int i = 0; i < 15; ++i) bomb += h2::reference(62);
  exchange(h2::headers(1, bomb, true));
  ASSERT_EQ(sink.count(), 1u);
  EXPECT_FALSE(sink.last().bad);
  bomb = h2::block(h2::get());
  for (int i = 0; i < 17; ++i) bomb += h2::reference(62);
  exchange(h2::headers(3, bomb, true));
  ASSERT_EQ(sink.count(), 2u);
  EXPECT_TRUE(sink.last().bad);
  EXPECT_EQ(sink.last().error.status, 431);
  EXPECT_TRUE(hit(Limit::kHeaderBytes));
  exchange(h2::headers(5, h2::block(h2::get()) + h2::reference(62), true));
  EXPECT_FALSE(sink.last().bad) << "the table of the peer's encoder is still known";
  expectOpen();
}

TEST_F(H2Attack, AnEndlessHpackBombEndsTheConnection) {
  std::string bomb = h2::block(h2::get()) + h2::indexedLine("x-bomb", std::string(3900, 'a'));
  bomb += std::string(10'000, h2::reference(62).front());
  exchange(h2::headers(1, bomb, true));
  EXPECT_EQ(sink.count(), 0u);
  EXPECT_TRUE(hit(Limit::kHeaderBytes));
  expectEnd(h2error::kEnhanceYourCalm);
}

// A head may consist of many tiny lines, with cookies among them.
TEST_F(H2Attack, CookieCrumbsCountAsFields) {
  H2Lines lines = h2::get();
  for (int i = 0; i < 100; ++i) lines.emplace_back("cookie", "a=" + std::to_string(i));
  exchange(h2::headers(1, lines, true));
  ASSERT_EQ(sink.count(), 1u);
  EXPECT_FALSE(sink.last().bad);
  EXPECT_EQ(sink.last().message.head.headers.size(), 1u);
  lines.emplace_back("cookie", "b=1");
  const std::size_t chunks = pool.inUse();
  exchange(h2::headers(3, lines, true));
  EXPECT_TRUE(sink.last().bad);
  EXPECT_EQ(sink.last().error.status, 431);
  EXPECT_TRUE(hit(Limit::kHeaderFields));
  EXPECT_EQ(pool.inUse(), chunks);
}

TEST_F(H2Attack, ARefusedRequestIsAnsweredAndItsBodyIgnored) {
  H2Lines lines = h2::post();
  for (int i = 0; i < 101; ++i) lines.emplace_back("x-a", "1");
  exchange(h2::headers(1, lines, false) + h2::data(1, "ignored", false));
  EXPECT_TRUE(sink.last().body.empty());
  http::ResponseHead head;
  head.status = 431;
  codec->sendResponse(1, head);
  flush();
  EXPECT_EQ(reader.find(H2Type::kHeaders, 1)->value(":status"), "431");
  EXPECT_TRUE(sink.last().sent);
  exchange(h2::data(1, "ignored too", true));
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0u);
  EXPECT_EQ(codec->activeStreams(), 0u);
  EXPECT_TRUE(sink.last().body.empty());
}

TEST_F(H2Attack, AStreamThatWasResetIsDead) {
  limits.resetsPerMinute = 100'000;
  start();
  for (std::uint32_t id = 1; id < 2001; id += 2) {
    codec->feed(h2::headers(id, h2::post(), false) + h2::rstStream(id, h2error::kCancel) +
                h2::data(id, "zombie", true));
    flush();
  }
  for (std::size_t i = 0; i < sink.count(); ++i) {
    ASSERT_TRUE(sink.stream(i).reset);
    ASSERT_TRUE(sink.stream(i).body.empty());
    ASSERT_FALSE(sink.stream(i).ended);
  }
}

TEST_F(H2Attack, ConcurrentStreamsAreBounded) {
  limits.concurrentStreams = 5;
  start();
  for (std::uint32_t id = 1; id < 11; id += 2) exchange(h2::headers(id, h2::get(), true));
  EXPECT_EQ(sink.count(), 5u);
  expectOpen();
  exchange(h2::headers(11, h2::get(), true));
  EXPECT_EQ(sink.count(), 5u);
  EXPECT_TRUE(hit(Limit::kConcurrentStreams));
}

// Such lines must never reach a peer that speaks HTTP/1.1.
TEST_F(H2Attack, LinesThatCouldSmuggleAreRefused) {
  const std::vector<H2Lines> extras = {{{"x-a", "1\r\nx-b: 2"}},
                                       {{"x-a", "1\nb"}},
                                       {{"x-a", std::string("a\0b", 3)}},
                                       {{"x a", "1"}},
                                       {{"x-a: b", "1"}},
                                       {{"x-a\r\nb", "1"}},
                                       {{"X-Upper", "1"}},
                                       {{"transfer-encoding", "chunked"}},
                                       {{"connection", "close"}},
                                       {{"keep-alive", "1"}},
                                       {{"upgrade", "h2c"}},
                                       {{"proxy-connection", "close"}},
                                       {{"te", "gzip"}},
                                       {{":path", "/other"}},
                                       {{":unknown", "1"}},
                                       {{"content-length", "5"}},
                                       {{"content-length", "1"}, {"content-length", "2"}}};
  std::uint32_t id = 1;
  for (const H2Lines& extra : extras) {
    H2Lines lines = h2::get();
    lines.insert(lines.end(), extra.begin(), extra.end());
    exchange(h2::headers(id, lines, true));
    const bool refused =
        resetCode(id) == h2error::kProtocolError || (sink.count() > 0 && sink.last().id == id && sink.last().bad);
    EXPECT_TRUE(refused) << extra.front().first;
    id += 2;
  }
  expectOpen();
}

TEST_F(H2Attack, ControlDataThatCouldSmuggleIsRefused) {
  const std::vector<std::pair<std::string, std::string>> bad = {{":method", "GET / HTTP/1.1\r\nx: y"},
                                                                {":method", ""},
                                                                {":path", "/a b"},
                                                                {":path", "/a\r\nx: y"},
                                                                {":path", ""},
                                                                {":path", "a"},
                                                                {":authority", "a\r\nb"},
                                                                {":authority", "user@example.com"},
                                                                {":authority", "a b"},
                                                                {":scheme", "file"},
                                                                {":path", "/a#b"},
                                                                {":path", "/%2e%2e/%2f"},
                                                                {":path", "/a\\b"}};
  std::uint32_t id = 1;
  for (const auto& [name, value] : bad) {
    H2Lines lines = h2::get();
    for (auto& line : lines) {
      if (line.first == name) line.second = value;
    }
    exchange(h2::headers(id, lines, true));
    const bool refused =
        resetCode(id) == h2error::kProtocolError || (sink.count() > 0 && sink.last().id == id && sink.last().bad);
    EXPECT_TRUE(refused) << name << " " << value;
    id += 2;
  }
  expectOpen();
}

TEST_F(H2Attack, RefusedExpectationsAndConnectAreAnswered) {
  H2Lines lines = h2::get();
  lines.emplace_back("expect", "something");
  exchange(h2::headers(1, lines, true));
  ASSERT_EQ(sink.count(), 1u);
  EXPECT_TRUE(sink.last().bad);
  EXPECT_EQ(sink.last().error.status, 417);
  exchange(h2::headers(3, {{":method", "CONNECT"}, {":authority", "example.com:443"}}, false));
  ASSERT_EQ(sink.count(), 2u);
  EXPECT_TRUE(sink.last().bad);
}

TEST_F(H2Attack, TrailersAreBoundedAndChecked) {
  exchange(h2::headers(1, h2::post(), false));
  exchange(h2::headers(1, H2Lines(100, {"x-a", "1"}), true));
  EXPECT_EQ(sink.last().trailers.size(), 100u);
  exchange(h2::headers(3, h2::post(), false));
  exchange(h2::headers(3, H2Lines(101, {"x-a", "1"}), true));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_FALSE(sink.last().ended);
  EXPECT_EQ(resetCode(3), h2error::kProtocolError);
  exchange(h2::headers(5, h2::post(), false));
  exchange(h2::headers(5, {{":path", "/"}}, true));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_EQ(resetCode(5), h2error::kProtocolError);
}

TEST_F(H2Attack, WindowOverflowIsAFlowControlError) {
  exchange(h2::headers(1, h2::get(), true) + h2::windowUpdate(1, 0x7fffffff));
  EXPECT_EQ(resetCode(1), h2error::kFlowControlError);
  EXPECT_TRUE(sink.last().reset);
  exchange(h2::windowUpdate(0, 0x7fffffff));
  expectEnd(h2error::kFlowControlError);
}

TEST_F(H2Attack, HugeContentLengthsAreRefused) {
  std::uint32_t id = 1;
  for (const char* length : {"9223372036854775808", "18446744073709551616", "-1", "+5", "0x10", "5,5", ""}) {
    H2Lines lines = h2::post();
    lines.emplace_back("content-length", length);
    exchange(h2::headers(id, lines, false));
    const bool refused =
        resetCode(id) == h2error::kProtocolError || (sink.count() > 0 && sink.last().id == id && sink.last().bad);
    EXPECT_TRUE(refused) << length;
    id += 2;
  }
}

TEST_F(H2Attack, FramesBeyondTheFrameSizeAreRefused) {
  exchange(h2::headers(1, h2::post(), false) + h2::data(1, std::string(16385, 'x'), false));
  expectEnd(h2error::kFrameSizeError);
}

}  // namespace
}  // namespace sluice::test
