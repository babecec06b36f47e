// A server's codec and the hostile client that feeds it, for tests of attacks in raw frames.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {

class H2Attack : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() {
    codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock);
    exchange(h2::clientHello() + h2::settingsAck());
  }
  void exchange(std::string_view bytes) {
    codec->feed(bytes);
    flush();
    while (codec->wantsResume()) {
      codec->resume();
      flush();
    }
  }
  void flush() { reader.feed(produced(*codec, pool)); }
  bool hit(http::Limit limit) const {
    return std::find(sink.limits.begin(), sink.limits.end(), limit) != sink.limits.end();
  }
  std::uint32_t resetCode(std::uint32_t stream) {
    const H2Frame* frame = reader.find(H2Type::kRstStream, stream);
    return frame == nullptr ? 999 : frame->errorCode();
  }
  // Expects a GOAWAY with that code, and that nothing is read any more.
  void expectEnd(std::uint32_t code) {
    ASSERT_NE(reader.goaway(), nullptr);
    EXPECT_EQ(reader.goaway()->errorCode(), code);
    EXPECT_EQ(codec->state(), http::CodecState::kClosed);
    EXPECT_EQ(codec->readBudget(), 0u);
    const std::size_t before = sink.count();
    codec->feed(h2::headers(0x7ffffffd, h2::get(), true));
    codec->feed(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10));
    EXPECT_EQ(sink.count(), before);
    EXPECT_FALSE(codec->wantsProduce());
  }
  void expectOpen() {
    EXPECT_EQ(reader.goaway(), nullptr);
    EXPECT_EQ(codec->state(), http::CodecState::kOpen);
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
  H2FrameReader reader;
};

}  // namespace sluice::test
