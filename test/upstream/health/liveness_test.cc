#include "proxy/upstream/health/liveness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::upstream {
namespace {

using std::chrono::seconds;

class LivenessTest : public testing::Test {
 protected:
  std::unique_ptr<http::ClientCodec> codec(http::Version version) {
    if (version == http::Version::kHttp2) return http::makeH2ClientCodec(sink_, pool_, {}, clock_);
    return http::makeH1ClientCodec(sink_, pool_, {});
  }

  base::ChunkPool pool_;
  test::ManualClock clock_;
  test::RecordingClientSink sink_{pool_};
  Liveness life_;
};

TEST_F(LivenessTest, OnlyHttp2IsPinged) {
  const auto h1 = codec(http::Version::kHttp11);
  life_.onWait(clock_.now());
  EXPECT_EQ(life_.due(*h1, seconds(10)), base::MonotonicTime::max());
  const auto h2 = codec(http::Version::kHttp2);
  EXPECT_TRUE(life_.suspect());
  EXPECT_FALSE(life_.suspect()) << "it is suspected already";
  EXPECT_LE(life_.due(*h2, seconds(10)), clock_.now());
}

TEST_F(LivenessTest, ASuspectIsPingedAtOnceAndDeadWithoutAnAnswer) {
  const auto h2 = codec(http::Version::kHttp2);
  life_.suspect();
  EXPECT_TRUE(life_.check(*h2, seconds(10), clock_.now()));
  EXPECT_TRUE(h2->wantsProduce());
  clock_.advance(PingSchedule::kAnswer);
  EXPECT_FALSE(life_.check(*h2, seconds(10), clock_.now()));
}

TEST_F(LivenessTest, AnyByteEndsTheSuspicionAndAnswersThePing) {
  const auto h2 = codec(http::Version::kHttp2);
  life_.suspect();
  EXPECT_TRUE(life_.check(*h2, seconds(10), clock_.now()));
  EXPECT_TRUE(life_.feed(*h2, std::string_view("\0\0\0\4\0\0\0\0\0", 9), clock_.now())) << "SETTINGS";
  EXPECT_FALSE(life_.isSuspect());
  clock_.advance(PingSchedule::kAnswer);
  EXPECT_TRUE(life_.check(*h2, seconds(10), clock_.now()));
}

TEST_F(LivenessTest, WithoutPingsASuspectIsLeftAlone) {
  const auto h2 = codec(http::Version::kHttp2);
  life_.suspect();
  EXPECT_EQ(life_.due(*h2, seconds(0)), base::MonotonicTime::max());
}

}  // namespace
}  // namespace sluice::upstream
