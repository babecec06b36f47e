// Uploads whose responses are complete before them: what a client still sends over HTTP/2 is thrown away within bounds,
// so that it gets the response.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "test/http/h2_attack_fixture.h"

namespace sluice::test {
namespace {

using http::Limit;
using std::chrono::seconds;

constexpr std::uint32_t kFirstWindow = 65535;
constexpr std::size_t kFrame = 16'384;

/// A client that keeps to its windows.
class DrainedUploads : public H2Attack {
 protected:
  void restart() {
    limits.firstWindow = kFirstWindow;
    reader.forget();
    sentOnConnection_ = 0;
    start();
  }
  void begin(std::uint32_t id) { exchange(h2::headers(id, h2::post(), false)); }
  void answer(std::uint32_t id, std::uint16_t status = 413) {
    http::ResponseHead head;
    head.status = status;
    codec->sendResponse(id, head);
    flush();
  }
  void beginAnswered(std::uint32_t id) {
    begin(id);
    answer(id);
  }
  /// Sends up to `size` bytes of the body, as far as the windows allow. Returns how many were sent.
  std::size_t upload(std::uint32_t id, std::size_t size, std::size_t before = 0) {
    std::size_t sent = 0;
    while (sent < size) {
      const std::uint64_t room = std::min(kFirstWindow + reader.granted(id) - before - sent, ofConnection());
      const std::size_t next = std::min({size - sent, kFrame, static_cast<std::size_t>(room)});
      if (next == 0) break;
      sentOnConnection_ += next;
      sent += next;
      exchange(h2::data(id, std::string(next, 'x'), false));
    }
    return sent;
  }
  void end(std::uint32_t id) { exchange(h2::data(id, "", true)); }

 private:
  std::uint64_t ofConnection() const { return 65535 + reader.granted(0) - sentOnConnection_; }

  std::uint64_t sentOnConnection_ = 0;
};

TEST_F(DrainedUploads, AreReadToTheirEndAndKeptNowhere) {
  restart();
  begin(1);
  const std::size_t chunks = pool.inUse();
  answer(1);
  EXPECT_TRUE(sink.last().sent) << "the exchange is over";
  EXPECT_EQ(upload(1, limits.drainBytes), limits.drainBytes);
  EXPECT_EQ(pool.inUse(), chunks);
  EXPECT_EQ(codec->activeStreams(), 1U);
  EXPECT_EQ(codec->drainedSince(), clock.now());
  end(1);
  EXPECT_EQ(codec->activeStreams(), 0U);
  EXPECT_EQ(codec->drainedSince(), base::MonotonicTime{});
  EXPECT_EQ(sink.last().body, "");
  EXPECT_FALSE(sink.last().ended);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
  EXPECT_TRUE(sink.limits.empty());
  expectOpen();
}

TEST_F(DrainedUploads, MayEndWithTrailers) {
  restart();
  beginAnswered(1);
  upload(1, 1000);
  exchange(h2::headers(1, {{"x-sum", "1"}}, true));
  EXPECT_EQ(codec->activeStreams(), 0U);
  EXPECT_FALSE(sink.last().ended);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
}

TEST_F(DrainedUploads, MayStopShortOfTheLengthThatTheyHaveAnnounced) {
  restart();
  H2Lines lines = h2::post();
  lines.emplace_back("content-length", "1000");
  exchange(h2::headers(1, lines, false));
  answer(1);
  upload(1, 100);
  end(1);
  EXPECT_EQ(codec->activeStreams(), 0U);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
  EXPECT_EQ(codec->drainedSince(), base::MonotonicTime{});
}

// The owner took nothing of the one; the other was refused, and nothing of it was passed on.
TEST_F(DrainedUploads, GetTheWindowBackThatTheyHadUsedBeforeTheirResponse) {
  for (const bool refused : {false, true}) {
    restart();
    H2Lines lines = h2::post();
    for (std::uint32_t i = 0; refused && i <= limits.headerFields; ++i) lines.emplace_back("x-a", "1");
    exchange(h2::headers(1, lines, false));
    EXPECT_EQ(sink.last().bad, refused);
    EXPECT_EQ(upload(1, 100'000), kFirstWindow);
    answer(1);
    EXPECT_EQ(upload(1, 900'000, kFirstWindow), 900'000U);
    end(1);
    EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
  }
}

TEST_F(DrainedUploads, AreResetBeyondTheirBytes) {
  limits.drainBytes = 100'000;
  restart();
  beginAnswered(1);
  EXPECT_EQ(upload(1, 100'000), 100'000U);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
  EXPECT_FALSE(hit(Limit::kDrainBytes));
  upload(1, 1, 100'000);
  EXPECT_EQ(resetCode(1), h2error::kNoError);
  EXPECT_EQ(sink.limits, std::vector{Limit::kDrainBytes});
  EXPECT_EQ(codec->activeStreams(), 0U);
  EXPECT_EQ(codec->drainedSince(), base::MonotonicTime{});
  exchange(h2::data(1, "under way", true));
  EXPECT_EQ(reader.count(H2Type::kRstStream), 1U);
  expectOpen();
}

TEST_F(DrainedUploads, AreResetBeyondTheBytesOfTheirConnection) {
  limits.drainBytes = 20'000;
  restart();
  for (std::uint32_t id = 1; id <= 9; id += 2) beginAnswered(id);
  for (std::uint32_t id = 1; id <= 7; id += 2) upload(id, 20'000);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
  upload(9, 1);
  EXPECT_EQ(resetCode(9), h2error::kNoError);
  beginAnswered(11);
  EXPECT_EQ(resetCode(11), h2error::kNoError) << "no bytes are left for it";
  EXPECT_EQ(reader.count(H2Type::kRstStream), 2U);
  EXPECT_EQ(sink.limits, (std::vector{Limit::kDrainBytes, Limit::kDrainBytes}));
  for (std::uint32_t id = 1; id <= 7; id += 2) end(id);
  beginAnswered(13);
  upload(13, 20'000);
  end(13);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 2U);
}

// While the first one is drained all the time, the bytes of those that end are not held against the others.
TEST_F(DrainedUploads, GiveTheirBytesBackToTheConnection) {
  limits.drainBytes = 20'000;
  restart();
  beginAnswered(1);
  for (std::uint32_t id = 3; id < 43; id += 2) {
    beginAnswered(id);
    upload(id, 20'000);
    if (id % 4 == 1) {
      end(id);
    } else {
      exchange(h2::rstStream(id, h2error::kCancel));
    }
  }
  EXPECT_EQ(codec->activeStreams(), 1U);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 0U);
  EXPECT_TRUE(sink.limits.empty());
}

// They send one byte too much in turn, so that each reset could make room for the others.
TEST_F(DrainedUploads, ThatWereResetLeaveNoRoomToTheOthers) {
  limits.drainBytes = 20'000;
  restart();
  for (std::uint32_t id = 1; id < 41; id += 2) beginAnswered(id);
  std::size_t all = 0;
  for (std::uint32_t id = 1; id < 41; id += 2) all += upload(id, 16'000);
  EXPECT_EQ(all, 20U * 16'000);
  EXPECT_EQ(reader.count(H2Type::kRstStream), 15U) << "five of them fill 80,000 bytes";
}

TEST_F(DrainedUploads, AreResetByTheirTime) {
  limits.resetsPerMinute = 1;  // which does not count them
  restart();
  beginAnswered(1);
  beginAnswered(3);
  clock.advance(seconds(1));
  beginAnswered(5);
  exchange(h2::data(1, "", true));
  EXPECT_EQ(codec->endDrains(clock.now() - seconds(2)), 0U);
  EXPECT_EQ(codec->drainedSince(), clock.now() - seconds(1));
  EXPECT_EQ(codec->endDrains(clock.now() - seconds(1)), 1U);
  flush();
  EXPECT_EQ(resetCode(3), h2error::kNoError);
  EXPECT_EQ(codec->activeStreams(), 1U);
  EXPECT_EQ(codec->drainedSince(), clock.now());
  EXPECT_EQ(codec->endDrains(clock.now()), 1U);
  flush();
  EXPECT_EQ(resetCode(5), h2error::kNoError);
  EXPECT_EQ(codec->drainedSince(), base::MonotonicTime{});
  expectOpen();
}

TEST_F(DrainedUploads, EndWithTheirConnection) {
  restart();
  beginAnswered(1);
  codec->feedLost();
  EXPECT_EQ(codec->drainedSince(), base::MonotonicTime{});
  EXPECT_EQ(codec->endDrains(clock.now()), 0U);
  EXPECT_FALSE(codec->wantsProduce());
}

TEST_F(DrainedUploads, CountAsOpenStreams) {
  limits.concurrentStreams = 2;
  restart();
  beginAnswered(1);
  beginAnswered(3);
  end(1);
  beginAnswered(5);
  EXPECT_EQ(sink.count(), 3U);
  EXPECT_FALSE(hit(Limit::kConcurrentStreams));
  begin(7);
  EXPECT_EQ(sink.count(), 3U);
  EXPECT_TRUE(hit(Limit::kConcurrentStreams));
}

TEST_F(DrainedUploads, ThatDoNotEndCountAsResets) {
  limits.drainBytes = 1000;
  limits.resetsPerMinute = 5;
  restart();
  for (std::uint32_t id = 1; id < 11; id += 2) {
    beginAnswered(id);
    upload(id, 1001);
    EXPECT_EQ(resetCode(id), h2error::kNoError);
  }
  expectOpen();
  beginAnswered(11);
  upload(11, 1001);
  EXPECT_TRUE(hit(Limit::kResetsPerMinute));
  expectEnd(h2error::kEnhanceYourCalm);
}

TEST_F(DrainedUploads, AreResetAtOnceIfTheyMayHaveNoBytes) {
  limits.drainBytes = 0;
  limits.resetsPerMinute = 1;
  restart();
  for (std::uint32_t id = 1; id < 11; id += 2) {
    beginAnswered(id);
    EXPECT_EQ(resetCode(id), h2error::kNoError);
  }
  EXPECT_EQ(codec->activeStreams(), 0U);
  EXPECT_TRUE(sink.limits.empty());
  expectOpen();
}

}  // namespace
}  // namespace sluice::test
