#include "proxy/http/h2/h2_raw_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/http/h2/h2_memory.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::size_t kMostPayload = 16384;
constexpr const char* kId = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";

TEST(H2RawLine, IsANeverIndexedLiteral) {
  http::H2RawLine line;
  EXPECT_TRUE(line.empty());
  ASSERT_TRUE(line.set("x-a", "12"));
  EXPECT_EQ(line.bytes(), h2::secretLine("x-a", "12"));
  ASSERT_TRUE(line.set("x-b", ""));
  EXPECT_EQ(line.bytes(), h2::secretLine("x-b", ""));
  line.clear();
  EXPECT_TRUE(line.empty());
}

TEST(H2RawLine, TakesNoLineThatIsTooLong) {
  http::H2RawLine line;
  EXPECT_FALSE(line.set("x-request-id", std::string(49, 'x')));
  EXPECT_TRUE(line.empty());
  ASSERT_TRUE(line.set("x-request-id", std::string(48, 'x')));
  EXPECT_EQ(line.bytes(), h2::secretLine("x-request-id", std::string(48, 'x')));
}

// Both codecs, with messages that have the id of a request.
class H2RawLineOnTheWire : public ::testing::Test {
 protected:
  void SetUp() override {
    server->feed(h2::clientHello());
    client->feed(h2::settings({}) + h2::settingsAck());
    flush();
  }
  void flush() {
    toClient.feed(produced(*server, pool));
    toBackend.feed(produced(*client, pool));
  }

  /// Returns the frames of a request with these fields.
  std::vector<H2Frame> requestWith(const H2Lines& fields) {
    toBackend.forget();
    base::Arena arena(pool);
    http::RequestHead head;
    head.authority = "example.com";
    head.target = "/";
    add(arena, head.headers, fields);
    client->sendRequest(clientSink.open().token, head, http::Scheme::kHttp);
    flush();
    EXPECT_TRUE(toBackend.sound());
    return toBackend.frames();
  }
  /// Answers the last request without a body, or begins to answer it; nothing is written yet.
  void respond(std::uint16_t status, const H2Lines& fields) {
    base::Arena arena(pool);
    http::ResponseHead head;
    head.status = status;
    add(arena, head.headers, fields);
    if (status < 200) {
      server->sendInterim(serverSink.last().id, head);
    } else {
      server->sendResponse(serverSink.last().id, head);
    }
  }
  void add(base::Arena& arena, http::Headers& headers, const H2Lines& fields) {
    for (const auto& [name, value] : fields) {
      headers.add(arena, {arena.copy(name), arena.copy(value), http::fieldId(name), http::Care::kCleanSecret});
    }
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  http::H2Memory memory;
  RecordingServerSink serverSink{pool};
  RecordingClientSink clientSink{pool};
  std::unique_ptr<http::ServerCodec> server =
      http::makeH2ServerCodec(serverSink, pool, limits, http::Scheme::kHttp, clock, &memory);
  std::unique_ptr<http::ClientCodec> client = http::makeH2ClientCodec(clientSink, pool, limits, clock, &memory);
  H2FrameReader toClient, toBackend;
};

TEST_F(H2RawLineOnTheWire, EndsTheBlockOfARequest) {
  for (int i = 0; i < 3; ++i) {
    const std::vector<H2Frame> frames = requestWith({{"x-request-id", kId}, {"x-a", "1"}});
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].lines.back(), (std::pair<std::string, std::string>("x-request-id", kId)));
    EXPECT_EQ(frames[0].value("x-a"), "1");
    EXPECT_THAT(frames[0].secrets, Contains("x-request-id"));
    EXPECT_TRUE(frames[0].payload.ends_with(h2::secretLine("x-request-id", kId)));
    EXPECT_TRUE(frames[0].endsStream());
  }
}

TEST_F(H2RawLineOnTheWire, EndsABlockOfAnySize) {
  bool inLastFrame = false;
  bool inOneOfItsOwn = false;
  for (const std::size_t frames : {1U, 2U}) {
    for (std::size_t size = frames * kMostPayload - 160; size < frames * kMostPayload + 10; ++size) {
      const std::vector<H2Frame> sent = requestWith({{"x-request-id", kId}, {"x-fill", std::string(size, 'X')}});
      for (std::size_t i = 0; i < sent.size(); ++i) {
        ASSERT_EQ(sent[i].type, i == 0 ? H2Type::kHeaders : H2Type::kContinuation);
        ASSERT_LE(sent[i].payload.size(), kMostPayload);
        ASSERT_EQ((sent[i].flags & h2flag::kEndHeaders) != 0, i + 1 == sent.size());
      }
      ASSERT_TRUE(sent[0].endsStream());
      ASSERT_EQ(sent.back().value("x-request-id"), kId) << size;
      ASSERT_EQ(sent.back().value("x-fill").size(), size);
      ASSERT_EQ(sent.back().lines.size(), 6u);
      const bool alone = sent.back().payload == h2::secretLine("x-request-id", kId);
      (alone ? inOneOfItsOwn : inLastFrame) = true;
    }
  }
  EXPECT_TRUE(inLastFrame);
  EXPECT_TRUE(inOneOfItsOwn);
}

TEST_F(H2RawLineOnTheWire, IsOnlyInTheBlockOfItsOwnStream) {
  std::vector<http::StreamId> ids;
  base::Arena arena(pool);
  for (int i = 0; i < 4; ++i) {
    http::RequestHead head;
    head.authority = "example.com";
    head.target = "/";
    if (i % 2 == 0) add(arena, head.headers, {{"x-request-id", std::to_string(i)}});
    ids.push_back(client->sendRequest(clientSink.open().token, head, http::Scheme::kHttp));
  }
  flush();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(toBackend.find(H2Type::kHeaders, ids[i])->value("x-request-id"), i % 2 == 0 ? std::to_string(i) : "");
  }
}

TEST_F(H2RawLineOnTheWire, LeavesLinesOfOneNameInTheirOrder) {
  const std::vector<H2Frame> frames =
      requestWith({{"x-request-id", "1"}, {"x-request-id", "2"}, {"x-a", ""}, {"x-request-id", "3"}});
  H2Lines ids;
  for (const auto& line : frames[0].lines) {
    if (line.first == "x-request-id") ids.push_back(line);
  }
  EXPECT_THAT(ids, ElementsAre(Pair("x-request-id", "1"), Pair("x-request-id", "2"), Pair("x-request-id", "3")));
}

TEST_F(H2RawLineOnTheWire, IsNotNeededForAnIdThatIsTooLong) {
  const std::string id(128, 'x');
  const std::vector<H2Frame> frames = requestWith({{"x-request-id", id}});
  EXPECT_EQ(frames[0].value("x-request-id"), id);
  EXPECT_THAT(frames[0].secrets, ElementsAre("x-request-id"));
}

TEST_F(H2RawLineOnTheWire, EndsTheBlockOfAResponse) {
  server->feed(h2::headers(1, h2::get(), true));
  respond(204, {{"x-request-id", kId}, {"x-a", "1"}});
  flush();
  const H2Frame& frame = *toClient.find(H2Type::kHeaders, 1);
  EXPECT_EQ(frame.lines, (H2Lines{{":status", "204"}, {"x-a", "1"}, {"x-request-id", kId}}));
  EXPECT_TRUE(toClient.sound());
}

TEST_F(H2RawLineOnTheWire, IsNotInTheBlockOfAnInterimResponseThatWaits) {
  server->feed(h2::headers(1, h2::get(), true));
  respond(103, {{"link", "x"}});
  respond(103, {{"x-request-id", "of the origin"}});
  respond(204, {{"x-request-id", kId}});
  flush();
  std::vector<std::string> ids;
  for (const H2Frame& frame : toClient.frames()) {
    if (frame.type == H2Type::kHeaders) ids.push_back(frame.value(":status") + frame.value("x-request-id"));
  }
  EXPECT_THAT(ids, ElementsAre("103", "103of the origin", std::string("204") + kId));
}

}  // namespace
}  // namespace sluice::test
