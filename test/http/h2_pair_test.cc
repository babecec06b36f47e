// The two HTTP/2 codecs against each other, over queues that split the bytes into pieces.

#include <gtest/gtest.h>

#include "proxy/http/h2/h2_memory.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using http::Body;
using http::StreamId;

std::string pattern(std::size_t size, std::size_t seed) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 251 + seed) % 26);
  return text;
}

class H2Pair : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() {
    client = http::makeH2ClientCodec(clientSink, pool, limits, clock, &memory);
    server = http::makeH2ServerCodec(serverSink, pool, limits, http::Scheme::kHttp, clock, &memory);
    run();
  }

  // Moves bytes both ways, `piece` at a time, and grants those that arrive, until neither side has more to send.
  void run(std::size_t piece = 100'000) {
    for (int round = 0; round < 100'000; ++round) {
      const bool moved = move(*client, *server, piece) | move(*server, *client, piece);
      const bool granted = grantAll();
      if (!moved && !granted) return;
    }
    FAIL() << "the two never come to rest";
  }
  template <typename From, typename To>
  bool move(From& from, To& to, std::size_t piece) {
    const std::string bytes = produced(from, pool, 64 * 1024);
    for (std::size_t at = 0; at < bytes.size(); at += piece) to.feed(std::string_view(bytes).substr(at, piece));
    return !bytes.empty();
  }
  bool grantAll() {
    bool any = false;
    for (std::size_t i = 0; i < serverSink.count(); ++i) {
      any |= grantOne(*server, serverSink.stream(i).id, serverSink.stream(i).body.size(), serverGranted_, i);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      any |= grantOne(*client, ids[i], clientSink.stream(i).body.size(), clientGranted_, i);
    }
    return any;
  }
  template <typename Codec>
  bool grantOne(Codec& codec, StreamId id, std::size_t received, std::vector<std::size_t>& granted, std::size_t index) {
    if (granted.size() <= index) granted.resize(index + 1);
    if (granted[index] == received) return false;
    codec.grant(id, received - granted[index]);
    granted[index] = received;
    return true;
  }

  void request(std::string_view body) {
    http::RequestHead head;
    head.method = http::Method::kPost;
    head.methodText = "POST";
    head.authority = "example.com";
    head.target = "/";
    head.body = Body::kUntilEnd;
    auto& stream = clientSink.open();
    stream.request.bytes.append(body);
    stream.request.finish();
    ids.push_back(client->sendRequest(stream.token, head, http::Scheme::kHttp));
    ASSERT_NE(ids.back(), 0u);
  }
  void respond(std::size_t index, std::string_view body) {
    http::ResponseHead head;
    head.status = 200;
    head.body = Body::kUntilEnd;
    auto& stream = serverSink.stream(index);
    server->sendResponse(stream.id, head);
    stream.response.bytes.append(body);
    http::Trailers trailers(pool);
    trailers.fields.add(trailers.arena, "grpc-status", "0");
    stream.response.finish(std::move(trailers));
    server->wake(stream.id);
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  http::H2Memory memory;
  RecordingClientSink clientSink{pool};
  RecordingServerSink serverSink{pool};
  std::unique_ptr<http::ClientCodec> client;
  std::unique_ptr<http::ServerCodec> server;
  std::vector<StreamId> ids;

 private:
  std::vector<std::size_t> serverGranted_, clientGranted_;
};

TEST_F(H2Pair, CarriesBodiesLargerThanAllWindowsBothWays) {
  const std::string up = pattern(3'000'000, 1);
  const std::string down = pattern(3'000'000, 2);
  request(up);
  run();
  ASSERT_EQ(serverSink.count(), 1u);
  EXPECT_TRUE(serverSink.last().body == up);
  EXPECT_TRUE(serverSink.last().ended);
  respond(0, down);
  run();
  EXPECT_TRUE(clientSink.last().body == down);
  EXPECT_TRUE(clientSink.last().ended);
  EXPECT_EQ(clientSink.last().trailers, (FieldList{{"grpc-status", "0"}}));
  EXPECT_EQ(client->activeStreams(), 0u);
  EXPECT_EQ(server->activeStreams(), 0u);
}

TEST_F(H2Pair, CarriesBytesInAnyPieces) {
  for (const std::size_t piece : {1u, 2u, 7u, 9u, 10u, 1000u}) {
    const std::string up = pattern(5000, piece);
    request(up);
    run(piece);
    respond(serverSink.count() - 1, up);
    run(piece);
    EXPECT_TRUE(serverSink.last().body == up);
    EXPECT_TRUE(clientSink.last().body == up);
    EXPECT_TRUE(clientSink.last().ended);
  }
}

TEST_F(H2Pair, CarriesManyStreamsAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const std::size_t first = serverSink.count();
    for (std::size_t i = 0; i < 100; ++i) request(pattern(1000 * i, i));
    run();
    ASSERT_EQ(serverSink.count(), first + 100);
    for (std::size_t i = 0; i < 100; ++i) respond(first + i, pattern(500 * i, i));
    run();
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_TRUE(serverSink.stream(first + i).body == pattern(1000 * i, i));
      EXPECT_TRUE(clientSink.stream(first + i).body == pattern(500 * i, i));
      EXPECT_TRUE(clientSink.stream(first + i).ended);
    }
  }
  EXPECT_EQ(client->activeStreams(), 0u);
}

// A consumer that never takes its bytes stalls its own stream, not the others.
TEST_F(H2Pair, AStalledStreamLeavesTheConnectionToTheOthers) {
  limits.streamWindow = 100'000;
  limits.connectionWindow = 1'000'000;
  start();
  request(pattern(500'000, 1));
  for (int i = 0; i < 10; ++i) {
    move(*client, *server, 100'000);
    move(*server, *client, 100'000);
  }
  EXPECT_EQ(serverSink.last().body.size(), 100'000u);
  request(pattern(50'000, 2));
  for (int i = 0; i < 10; ++i) {
    move(*client, *server, 100'000);
    move(*server, *client, 100'000);
  }
  EXPECT_TRUE(serverSink.last().ended);
  EXPECT_EQ(serverSink.stream(0).body.size(), 100'000u);
}

TEST_F(H2Pair, HeadResponsesStateALengthWithoutABody) {
  http::RequestHead head;
  head.method = http::Method::kHead;
  head.methodText = "HEAD";
  head.authority = "example.com";
  head.target = "/";
  ids.push_back(client->sendRequest(clientSink.open().token, head, http::Scheme::kHttp));
  run();
  http::ResponseHead answer;
  answer.status = 200;
  answer.contentLength = 1234;
  server->sendResponse(serverSink.last().id, answer);
  run();
  EXPECT_TRUE(clientSink.last().ended);
  EXPECT_EQ(clientSink.last().message.head.contentLength, 1234u);
}

TEST_F(H2Pair, DrainsFromTheServersSide) {
  request("x");
  run();
  server->drain();
  run();
  EXPECT_EQ(client->availableStreams(), 0u);
  EXPECT_EQ(client->state(), http::CodecState::kDraining);
  respond(0, "y");
  run();
  EXPECT_TRUE(clientSink.last().ended);
  EXPECT_EQ(client->state(), http::CodecState::kClosed);
  EXPECT_EQ(server->state(), http::CodecState::kClosed);
}

TEST_F(H2Pair, SharesOneFrameBufferBetweenInterleavedConnections) {
  RecordingServerSink otherSink(pool);
  auto other = http::makeH2ServerCodec(otherSink, pool, limits, http::Scheme::kHttp, clock, &memory);
  request(pattern(300'000, 3));
  for (int i = 0; i < 200; ++i) {
    move(*client, *server, 100'000);
    produced(*other, pool);
    move(*server, *client, 100'000);
    grantAll();
  }
  EXPECT_TRUE(serverSink.last().body == pattern(300'000, 3));
}

TEST_F(H2Pair, ANewConnectionsPrefaceIsNotHurtByTheOthersOfItsWorker) {
  RecordingClientSink newSink(pool);
  RecordingServerSink farSink(pool);
  auto fresh = http::makeH2ClientCodec(newSink, pool, limits, clock, &memory);
  request("x");
  run();  // frames of the older connection go through the frame buffer before the new one has sent anything
  auto far = http::makeH2ServerCodec(farSink, pool, limits, http::Scheme::kHttp, clock);
  far->feed(produced(*fresh, pool));
  EXPECT_EQ(far->state(), http::CodecState::kOpen);
}

TEST_F(H2Pair, HeadsLargerThanAFrameArriveWhole) {
  limits.headerBytes = 200'000;
  start();
  base::Arena arena(pool);
  http::RequestHead head;
  head.authority = "example.com";
  head.target = "/";
  for (int i = 0; i < 8; ++i) {
    head.headers.add(arena, arena.copy("x-" + std::to_string(i)),
                     arena.copy(pattern(10'000, static_cast<std::size_t>(i))));
  }
  for (int k = 0; k < 3; ++k) ids.push_back(client->sendRequest(clientSink.open().token, head, http::Scheme::kHttp));
  std::string bytes;
  // One frame per call: the rest of a header block waits in nghttp2 meanwhile.
  while (client->wantsProduce()) {
    const std::string some = produced(*client, pool, 1);
    if (some.empty()) break;
    bytes += some;
    produced(*server, pool);
  }
  server->feed(bytes);
  while (server->wantsResume()) server->resume();
  ASSERT_EQ(serverSink.count(), 3u);
  EXPECT_EQ(serverSink.last().message.head.headers.find("x-7")->value, pattern(10'000, 7));
}

}  // namespace
}  // namespace sluice::test
