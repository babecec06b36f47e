// Streams of one HTTP/2 connection do not wait for each other's consumers (RFC 9113 section 5.2.2): bytes that arrive
// give their part of the connection's window back at once, whether or not they are taken, on both sides of the gateway.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "proxy/http/h2/h2_memory.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::StreamId;

constexpr std::uint32_t kStreamWindow = 16 * 1024;
constexpr std::uint32_t kConnectionWindow = 65535;

// A peer in raw frames that never sends more than it was allowed.
class H2FlowControl : public ::testing::Test {
 protected:
  H2FlowControl() {
    limits.streamWindow = kStreamWindow;
    limits.connectionWindow = kConnectionWindow;
    limits.resetsPerMinute = 10'000;
  }

  template <typename Codec>
  void exchange(Codec& codec, std::string_view bytes) {
    codec.feed(bytes);
    reader.feed(produced(codec, pool));
  }
  /// Sends a frame of DATA, if the connection's window allows it.
  template <typename Codec>
  [[nodiscard]] bool sendData(Codec& codec, StreamId stream, std::size_t size, bool end = false) {
    return sendFrame(codec, h2::data(stream, std::string(size, 'x'), end), size);
  }
  template <typename Codec>
  [[nodiscard]] bool sendPadded(Codec& codec, StreamId stream, std::size_t size, std::uint8_t padding) {
    const std::string payload =
        std::string(1, static_cast<char>(padding)) + std::string(size, 'x') + std::string(padding, 0);
    return sendFrame(codec, h2::frame(H2Type::kData, h2flag::kPadded, stream, payload), payload.size());
  }
  template <typename Codec>
  bool sendFrame(Codec& codec, const std::string& frame, std::size_t flowControlled) {
    if (sent_ + flowControlled > kConnectionWindow + reader.granted(0)) return false;
    sent_ += flowControlled;
    exchange(codec, frame);
    return reader.goaway() == nullptr;
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  http::H2Memory memory;
  H2FrameReader reader;

 private:
  std::uint64_t sent_ = 0;
};

class H2Uploads : public H2FlowControl {
 protected:
  H2Uploads() : codec(http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock, &memory)) {
    exchange(*codec, h2::clientHello() + h2::settingsAck());
  }
  void post(StreamId stream) { exchange(*codec, h2::headers(stream, h2::post(), false)); }

  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
};

class H2Downloads : public H2FlowControl {
 protected:
  H2Downloads() : codec(http::makeH2ClientCodec(sink, pool, limits, clock, &memory)) {
    exchange(*codec, h2::settings({}) + h2::settingsAck());
  }
  StreamId get() {
    http::RequestHead head;
    head.method = http::Method::kGet;
    head.methodText = "GET";
    head.authority = "example.com";
    head.target = "/";
    const StreamId id = codec->sendRequest(sink.open().token, head, http::Scheme::kHttp);
    exchange(*codec, {});
    exchange(*codec, h2::headers(id, {{":status", "200"}}, false));
    return id;
  }

  RecordingClientSink sink{pool};
  std::unique_ptr<http::ClientCodec> codec;
};

TEST_F(H2Uploads, LeaveTheConnectionToTheOthersIfTheyAreNotTaken) {
  StreamId id = 1;
  for (; id < 2 * 99; id += 2) {
    post(id);
    ASSERT_TRUE(sendData(*codec, id, kStreamWindow)) << id;
    ASSERT_EQ(reader.granted(id), 0U) << "the stream's own window waits for its consumer";
  }
  post(id);
  ASSERT_TRUE(sendData(*codec, id, kStreamWindow, true));
  EXPECT_TRUE(sink.last().ended);
  EXPECT_EQ(sink.last().body.size(), kStreamWindow);
}

TEST_F(H2Uploads, GiveTheConnectionsWindowBackWithTheirPaddingAndWhenTheyAreGone) {
  for (StreamId id = 1; id < 2 * 500; id += 2) {
    post(id);
    ASSERT_TRUE(sendPadded(*codec, id, 1000, 255)) << id;
    codec->reset(id, http::ResetReason::kCancelled);
    ASSERT_TRUE(sendPadded(*codec, id, 1000, 255)) << id << ": on its way before the client knew";
    exchange(*codec, h2::rstStream(id, h2error::kCancel));
  }
}

TEST_F(H2Uploads, GrantsOfTheirConsumersGiveNothingBackTwice) {
  post(1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(sendData(*codec, 1, kStreamWindow)) << i;
    codec->grant(1, kStreamWindow);
    exchange(*codec, {});
  }
  EXPECT_EQ(reader.granted(1), 1000U * kStreamWindow);
  EXPECT_LE(reader.granted(0), 1000U * kStreamWindow);
}

TEST_F(H2Downloads, LeaveTheConnectionToTheOthersIfTheyAreNotTaken) {
  for (int i = 0; i < 99; ++i) {
    const StreamId id = get();
    ASSERT_TRUE(sendData(*codec, id, kStreamWindow)) << id;
    ASSERT_EQ(reader.granted(id), 0U) << "the stream's own window waits for its consumer";
  }
  const StreamId id = get();
  ASSERT_TRUE(sendData(*codec, id, kStreamWindow, true));
  EXPECT_TRUE(sink.last().ended);
  EXPECT_EQ(sink.last().body.size(), kStreamWindow);
}

TEST_F(H2Downloads, GiveTheConnectionsWindowBackWithTheirPaddingAndWhenTheyAreGone) {
  for (int i = 0; i < 500; ++i) {
    const StreamId id = get();
    ASSERT_TRUE(sendPadded(*codec, id, 1000, 255)) << id;
    codec->reset(id, http::ResetReason::kCancelled);
    ASSERT_TRUE(sendPadded(*codec, id, 1000, 255)) << id << ": on its way before the backend knew";
  }
}

// The window comes back in halves, because a WINDOW_UPDATE for each frame would cost a system call for each.
TEST_F(H2Downloads, GiveTheConnectionsWindowBackInHalves) {
  const StreamId id = get();
  for (int i = 0; i < 1024; ++i) {
    ASSERT_TRUE(sendData(*codec, id, 1024));
    codec->grant(id, 1024);
    exchange(*codec, {});
  }
  const auto updates = std::count_if(reader.frames().begin(), reader.frames().end(), [](const H2Frame& frame) {
    return frame.type == H2Type::kWindowUpdate && frame.stream == 0;
  });
  EXPECT_LE(updates, 1024 / 31);
}

// A WINDOW_UPDATE of the connection alone costs a system call of its own.
TEST_F(H2Downloads, GiveTheConnectionsWindowBackTogetherWithOtherFrames) {
  const StreamId first = get();
  const StreamId second = get();
  for (const StreamId id : {first, second}) codec->feed(h2::data(id, std::string(kStreamWindow, 'x'), false));
  EXPECT_FALSE(codec->wantsProduce());
  codec->grant(first, kStreamWindow);
  exchange(*codec, {});
  EXPECT_EQ(reader.granted(first), kStreamWindow);
  EXPECT_EQ(reader.granted(0), 2 * kStreamWindow);
}

TEST_F(H2Downloads, GiveTheConnectionsWindowBackAloneBeforeItRunsShort) {
  const std::array<StreamId, 4> ids{get(), get(), get(), get()};
  for (std::size_t i = 0; i < 3; ++i) codec->feed(h2::data(ids[i], std::string(kStreamWindow - 100, 'x'), false));
  EXPECT_FALSE(codec->wantsProduce()) << "just below three quarters";
  codec->feed(h2::data(ids[3], std::string(1000, 'x'), false));
  EXPECT_TRUE(codec->wantsProduce());
  exchange(*codec, {});
  EXPECT_EQ(reader.granted(0), 3 * (kStreamWindow - 100) + 1000U);
}

// --- first windows ------------------------------------------------------------------------------------------

constexpr std::uint32_t kSmallWindow = 4 * 1024;

class H2FirstWindow : public H2FlowControl {
 protected:
  H2FirstWindow() { limits.firstWindow = kSmallWindow; }
  /// Returns SETTINGS_INITIAL_WINDOW_SIZE, as it was announced.
  std::uint32_t announced() const {
    const std::string& entries = reader.find(H2Type::kSettings, 0)->payload;
    for (std::size_t at = 0; at + 6 <= entries.size(); at += 6) {
      std::uint32_t value = 0;
      for (std::size_t i = 2; i < 6; ++i) value = value << 8 | static_cast<std::uint8_t>(entries[at + i]);
      if (entries[at + 1] == 0x4) return value;
    }
    return 0;
  }
};

TEST_F(H2FirstWindow, IsAllThatAnUploadHasBeforeItIsWidened) {
  RecordingServerSink sink{pool};
  const auto codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock, &memory);
  exchange(*codec, h2::clientHello() + h2::settingsAck() + h2::headers(1, h2::post(), false));
  EXPECT_EQ(announced(), kSmallWindow);
  ASSERT_TRUE(sendData(*codec, 1, kSmallWindow));
  codec->grant(1, kSmallWindow / 2);
  exchange(*codec, {});
  EXPECT_EQ(reader.granted(1), kSmallWindow / 2);
  codec->widen(1);
  codec->widen(3);  // there is no such stream
  exchange(*codec, {});
  EXPECT_EQ(reader.granted(1), kStreamWindow - kSmallWindow / 2);
  ASSERT_TRUE(sendData(*codec, 1, kStreamWindow - kSmallWindow / 2, true));
  EXPECT_EQ(sink.last().body.size(), kStreamWindow + kSmallWindow / 2);
}

TEST_F(H2FirstWindow, IsAllThatADownloadHasBeforeItIsWidened) {
  RecordingClientSink sink{pool};
  const auto codec = http::makeH2ClientCodec(sink, pool, limits, clock, &memory);
  exchange(*codec, h2::settings({}) + h2::settingsAck());
  EXPECT_EQ(announced(), kSmallWindow);
  http::RequestHead head;
  head.method = http::Method::kGet;
  head.methodText = "GET";
  head.authority = "example.com";
  head.target = "/";
  const StreamId id = codec->sendRequest(sink.open().token, head, http::Scheme::kHttp);
  exchange(*codec, {});
  exchange(*codec, h2::headers(id, {{":status", "200"}}, false));
  ASSERT_TRUE(sendData(*codec, id, kSmallWindow));
  codec->widen(id);
  exchange(*codec, {});
  EXPECT_EQ(reader.granted(id), kStreamWindow - kSmallWindow);
  ASSERT_TRUE(sendData(*codec, id, kStreamWindow - kSmallWindow, true));
  EXPECT_EQ(sink.last().body.size(), kStreamWindow);
}

TEST_F(H2FirstWindow, IsTheSameForHttp11WhichReadsNoFurther) {
  RecordingServerSink sink{pool};
  const auto codec = http::makeH1ServerCodec(sink, pool, limits, http::Scheme::kHttp);
  codec->feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  EXPECT_EQ(codec->readBudget(), kSmallWindow);
  codec->feed(std::string(kSmallWindow, 'x'));
  EXPECT_EQ(codec->readBudget(), 0U);
  codec->widen(sink.last().id);
  EXPECT_EQ(codec->readBudget(), kStreamWindow - kSmallWindow);
  codec->grant(sink.last().id, kSmallWindow);
  EXPECT_EQ(codec->readBudget(), kStreamWindow);
}

TEST_F(H2FirstWindow, IsReportedWhenItKeepsAResponseBack) {
  RecordingServerSink sink{pool};
  const auto codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock, &memory);
  exchange(*codec, std::string(h2::preface()) + h2::settings({{0x4, 100}}) + h2::settingsAck() +
                       h2::headers(1, h2::get(), true));
  http::ResponseHead head;
  head.status = 200;
  head.body = http::Body::kUntilEnd;
  codec->sendResponse(1, head);
  EXPECT_FALSE(codec->isHeldBack(1));
  sink.last().response.bytes.append(std::string(1000, 'x'));
  codec->wake(1);
  exchange(*codec, {});
  EXPECT_TRUE(codec->isHeldBack(1));
  exchange(*codec, h2::windowUpdate(1, 10'000));
  EXPECT_FALSE(codec->isHeldBack(1));
}

}  // namespace
}  // namespace sluice::test
