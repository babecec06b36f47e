// Server codecs charge heads and trailers to the account of their connection from the first bytes on, and give every
// byte back. Each bound is tested on both sides.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/http/codec.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/narrow_account.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::HeadCharge;
using http::Limit;

class ChargedHeads : public testing::Test {
 protected:
  void startH1() { codec = http::makeH1ServerCodec(sink, pool, limits, http::Scheme::kHttp, &account); }
  void startH2() {
    codec = http::makeH2ServerCodec(sink, pool, limits, http::Scheme::kHttp, clock, nullptr, &account);
    feed(h2::clientHello() + h2::settingsAck());
  }
  void feed(std::string_view bytes) {
    codec->feed(bytes);
    reader.feed(produced(*codec, pool));
  }
  bool wasHit() const { return sink.limits == std::vector<Limit>{Limit::kHeaderMemory}; }
  /// Expects that the last request was refused because there was no room for it.
  void expectRefused() {
    EXPECT_TRUE(sink.last().bad);
    EXPECT_EQ(sink.last().error.status, 503);
    EXPECT_EQ(sink.last().error.type, base::ErrorType::kConnectionLimitReached);
    EXPECT_EQ(sink.last().error.limit, "headerMemory");
    EXPECT_TRUE(wasHit());
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  NarrowAccount account;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
  H2FrameReader reader;
};

/// Returns `times` references to a line of 3,900 bytes that entered HPACK's table before.
std::string references(int times) {
  std::string block;
  for (int i = 0; i < times; ++i) block += h2::reference(62);
  return block;
}
std::string largeLine() { return h2::indexedLine("x-large", std::string(3900, 'y')); }
std::string getWith(const std::string& more) { return h2::block(h2::get()) + more; }
std::string postWith(const std::string& more = {}) { return h2::block(h2::post()) + more; }

TEST_F(ChargedHeads, OfHttp2AreChargedWhileTheyAreDecoded) {
  startH2();
  feed(h2::headers(1, getWith(largeLine()), true, false));
  EXPECT_EQ(account.used, 0U) << "the first chunks are free";
  feed(h2::continuation(1, references(7), false));
  EXPECT_EQ(account.used, 16U * 1024);
  feed(h2::continuation(1, references(7), false));
  const std::size_t charged = account.used;
  EXPECT_EQ(charged + HeadCharge::kFree, (pool.inUse() - 1) * base::Chunk::kCapacity + base::Chunk::kSmallCapacity);
  feed(h2::continuation(1, {}, true));
  ASSERT_EQ(sink.count(), 1U);
  EXPECT_EQ(account.used, charged) << "the charge comes with the head";
  EXPECT_EQ(sink.last().message.charge.takeOver(), charged);
  codec.reset();
  EXPECT_EQ(account.used, charged) << "it is the owner's now";
}

TEST_F(ChargedHeads, OfHttp2AreRefusedWithoutRoom) {
  account.most = 16 * 1024;
  startH2();
  feed(h2::headers(1, getWith(largeLine() + references(5)), true));
  EXPECT_FALSE(sink.last().bad);
  EXPECT_EQ(account.used, account.most);
  sink.last().message = http::RequestMessage(pool);
  EXPECT_EQ(account.used, 0U);
  const std::size_t chunks = pool.inUse();
  feed(h2::headers(3, getWith(references(9)), true, false));
  EXPECT_EQ(account.used, 0U) << "nothing of it is kept";
  EXPECT_EQ(pool.inUse(), chunks);
  feed(h2::continuation(3, references(3), true));
  ASSERT_EQ(sink.count(), 2U);
  expectRefused();
  EXPECT_EQ(pool.inUse(), chunks);
  account.most = 0;
  feed(h2::headers(5, getWith(references(2)), true));
  EXPECT_FALSE(sink.last().bad) << "whoever asks for little is served, and the encoder's table is still known";
  EXPECT_EQ(sink.last().message.head.headers.size(), 2U);
}

TEST_F(ChargedHeads, OfHttp2AreGivenBackWhenTheyDoNotEnd) {
  startH2();
  feed(h2::headers(1, getWith(largeLine() + references(9) + h2::line("X-Upper", "1") + references(4)), true));
  EXPECT_NE(reader.find(H2Type::kRstStream, 1), nullptr) << "it is malformed";
  EXPECT_EQ(account.used, 0U);
  EXPECT_EQ(pool.inUse(), 0U);
  feed(h2::headers(3, getWith(references(9)), true, false));
  EXPECT_GT(account.used, 0U);
  codec->feedLost();
  EXPECT_EQ(account.used, 0U);
  EXPECT_EQ(pool.inUse(), 0U);
  startH2();
  feed(h2::headers(1, getWith(largeLine() + references(9)), true, false));
  EXPECT_GT(account.used, 0U);
  codec.reset();
  EXPECT_EQ(account.used, 0U);
}

TEST_F(ChargedHeads, OfHttp2AreGivenBackWhenTheyAreNotTaken) {
  startH2();
  sink.refuse = true;
  feed(h2::headers(1, getWith(largeLine() + references(9)), true));
  EXPECT_EQ(account.used, 0U);
  EXPECT_EQ(pool.inUse(), 0U);
}

TEST_F(ChargedHeads, AreJoinedByTrailersOfHttp2) {
  startH2();
  feed(h2::headers(1, postWith(), false) + h2::headers(1, largeLine() + references(5), true, false));
  EXPECT_EQ(account.used, 16U * 1024);
  feed(h2::continuation(1, {}, true));
  EXPECT_EQ(sink.last().trailers.size(), 6U);
  EXPECT_EQ(account.used, 0U) << "the owner has dropped them";
  account.most = 16 * 1024 - 1;
  feed(h2::headers(3, postWith(), false) + h2::headers(3, references(6), true));
  EXPECT_TRUE(sink.last().reset);
  EXPECT_EQ(sink.last().error.status, 503);
  EXPECT_TRUE(wasHit());
  ASSERT_NE(reader.find(H2Type::kRstStream, 3), nullptr);
  EXPECT_EQ(reader.find(H2Type::kRstStream, 3)->errorCode(), h2error::kEnhanceYourCalm);
  EXPECT_EQ(codec->state(), http::CodecState::kOpen);
}

std::string h1Head(std::size_t size) { return "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(size, 'x'); }

TEST_F(ChargedHeads, OfHttp11AreChargedWhileTheyArrive) {
  startH1();
  codec->feed(h1Head(15 * 1024));
  EXPECT_EQ(account.used, 0U) << "the first chunk is free";
  codec->feed(std::string(20 * 1024, 'x'));
  const std::size_t charged = account.used;
  EXPECT_GT(charged, 17U * 1024);
  codec->feed("\r\n\r\n");
  ASSERT_EQ(sink.count(), 1U);
  EXPECT_EQ(account.used, charged) << "the charge comes with the head";
  EXPECT_EQ(sink.last().message.charge.takeOver(), charged);
}

TEST_F(ChargedHeads, OfHttp11AreRefusedWithoutRoom) {
  account.most = 10 * 1024;
  startH1();
  codec->feed(h1Head(15 * 1024));
  codec->feed(std::string(8 * 1024, 'x'));
  EXPECT_EQ(sink.count(), 0U);
  EXPECT_GT(account.used, 0U);
  codec->feed(std::string(8 * 1024, 'x'));
  ASSERT_EQ(sink.count(), 1U);
  expectRefused();
  EXPECT_EQ(account.used, 0U);
  EXPECT_EQ(pool.inUse(), 0U);
}

TEST_F(ChargedHeads, OfHttp11AreGivenBackWhenTheyDoNotEnd) {
  for (const bool expires : {false, true}) {
    startH1();
    codec->feed(h1Head(15 * 1024));
    codec->feed(std::string(20 * 1024, 'x'));
    EXPECT_GT(account.used, 0U);
    if (expires) {
      codec->expireHead();
    } else {
      codec->feedLost();
    }
    EXPECT_EQ(account.used, 0U);
    EXPECT_EQ(pool.inUse(), 0U) << "even while an answer waits";
  }
  startH1();
  codec->feed(h1Head(15 * 1024));
  codec->feed(std::string(20 * 1024, 'x'));
  codec.reset();
  EXPECT_EQ(account.used, 0U);
}

TEST_F(ChargedHeads, AreJoinedByTrailersOfHttp11) {
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  startH1();
  codec->feed(chunked + "X: " + std::string(15 * 1024, 'x'));
  codec->feed(std::string(20 * 1024, 'x'));
  EXPECT_GT(account.used, 17U * 1024);
  codec->feed("\r\n\r\n");
  EXPECT_EQ(sink.last().trailers.size(), 1U);
  EXPECT_EQ(account.used, 0U) << "the owner has dropped them";
  account.most = 1024;
  startH1();
  codec->feed(chunked + "X: " + std::string(35 * 1024, 'x') + "\r\n\r\n");
  EXPECT_TRUE(sink.last().reset);
  EXPECT_TRUE(sink.last().answerable);
  EXPECT_EQ(sink.last().error.status, 503);
  EXPECT_TRUE(wasHit());
}

}  // namespace
}  // namespace sluice::test
