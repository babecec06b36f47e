// Tests the server's codec from the client's side: bytes in, events and bytes out.
#include <gtest/gtest.h>

#include <string>

#include "proxy/http/h1/h1_codec.h"
#include "test/http/h1_server_fixture.h"

namespace sluice::http {
namespace {

using test::H1Server;
using test::kGet;

TEST(H1Server, AnswersAndStaysOpen) {
  H1Server server;
  server.feed(kGet);
  ASSERT_EQ(server.sink.count(), 1U);
  EXPECT_TRUE(server.sink.last().ended);
  EXPECT_EQ(server.codec->activeStreams(), 1U);
  server.respond(200, "hello");
  EXPECT_TRUE(server.codec->wantsProduce());
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
  EXPECT_TRUE(server.sink.last().sent);
  EXPECT_EQ(server.sink.last().taken, 5U);
  EXPECT_FALSE(server.codec->wantsProduce());
  EXPECT_EQ(server.codec->state(), CodecState::kOpen);
  EXPECT_EQ(server.codec->activeStreams(), 0U);
}

TEST(H1Server, ReportsTheSameHoweverTheBytesAreCut) {
  const std::string messages[] = {
      "\r\nGET /a/../b?q HTTP/1.1\r\nHost: Example.com\r\nX-A:  v w \r\nCookie: a\r\nCookie: b\r\n\r\n",
      "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\nhello world",
      "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n"
      "5;ext=\"1\"\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 9\r\nHost: evil\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n b: folded\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n",
      "GET / HTTP/1.1\nHost: a\r\n\r\n",
  };
  for (const std::string& message : messages) {
    H1Server whole;
    whole.feed(message);
    ASSERT_EQ(whole.sink.count(), 1U) << message;
    for (std::size_t cut = 1; cut < message.size(); ++cut) {
      H1Server split;
      split.feed(message.substr(0, cut));
      split.feed(message.substr(cut));
      EXPECT_EQ(split.sink.transcript(), whole.sink.transcript()) << message << " at " << cut;
    }
    H1Server bytewise;
    for (const char c : message) bytewise.feed({&c, 1});
    EXPECT_EQ(bytewise.sink.transcript(), whole.sink.transcript()) << message;
  }
}

TEST(H1Server, ReadsHeadAndBody) {
  H1Server server;
  server.feed(
      "POST /a//b HTTP/1.1\r\nHost: Example.com\r\nX-One:1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n0\r\nX-Sum: 9\r\nContent-Length: 7\r\n\r\n");
  EXPECT_EQ(server.sink.transcript(), "POST example.com /a//b 1.1\nx-one: 1\nuntil end\n[hello]\nx-sum: 9\nend\n");
}

TEST(H1Server, PipelinedRequestsWaitTheirTurn) {
  H1Server server;
  server.feed(std::string(kGet) + "POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" + std::string(kGet));
  EXPECT_EQ(server.sink.count(), 1U);
  server.respond(200, "1");
  server.out();
  EXPECT_EQ(server.sink.count(), 1U) << "only resume() goes on";
  server.codec->resume();
  ASSERT_EQ(server.sink.count(), 2U);
  EXPECT_EQ(server.sink.last().body, "hi");
  server.codec->resume();
  EXPECT_EQ(server.sink.count(), 2U);
  server.respond(200, "2");
  server.out();
  server.codec->resume();
  EXPECT_EQ(server.sink.count(), 3U);
  EXPECT_NE(server.sink.stream(0).id, server.sink.stream(1).id);
}

TEST(H1Server, ReadsAheadUpToABound) {
  H1Server server;
  server.feed(kGet);
  EXPECT_EQ(server.codec->readBudget(), kStashBytes);
  server.feed(std::string(kStashBytes - 1, 'G'));
  EXPECT_EQ(server.codec->readBudget(), 1U);
  server.feed("G");
  EXPECT_EQ(server.codec->readBudget(), 0U);
}

TEST(H1Server, DeliversABodyOnlyByCredit) {
  Limits limits;
  limits.streamWindow = 4;
  for (const bool chunked : {false, true}) {
    H1Server server(limits);
    server.feed(chunked ? "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
    EXPECT_EQ(server.codec->readBudget(), 4U);
    server.feed(chunked ? "a\r\n0123456789\r\n0\r\n\r\n" : "0123456789");
    auto& stream = server.sink.last();
    EXPECT_EQ(stream.body, "0123");
    EXPECT_EQ(server.codec->readBudget(), 0U);
    server.codec->grant(stream.id, 5);
    EXPECT_EQ(stream.body, "012345678");
    EXPECT_FALSE(stream.ended);
    server.codec->grant(stream.id + 1, 5);
    EXPECT_FALSE(stream.ended) << "another stream's credit";
    server.codec->grant(stream.id, 5);
    EXPECT_EQ(stream.body, "0123456789");
    EXPECT_TRUE(stream.ended);
  }
}

TEST(H1Server, ChunksABodyOfUnknownLength) {
  H1Server server;
  server.feed(kGet);
  auto& stream = server.sink.last();
  server.codec->sendResponse(stream.id, server.answer(200, Body::kUntilEnd));
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
  EXPECT_FALSE(server.codec->wantsProduce());
  stream.response.bytes.append("hello");
  server.codec->wake(stream.id);
  EXPECT_TRUE(server.codec->wantsProduce());
  EXPECT_EQ(server.out(), "5\r\nhello\r\n");
  Trailers trailers(server.pool);
  trailers.fields.add(trailers.arena, "grpc-status", "0");
  stream.response.finish(std::move(trailers));
  server.codec->wake(stream.id);
  EXPECT_EQ(server.out(), "0\r\ngrpc-status: 0\r\n\r\n");
  EXPECT_TRUE(stream.sent);
  EXPECT_EQ(server.codec->state(), CodecState::kOpen);
}

TEST(H1Server, ProducesOnlyUpToTheLimit) {
  H1Server server;
  server.feed(kGet);
  auto& stream = server.sink.last();
  const std::string body(100000, 'b');
  stream.response.bytes.append(body);
  stream.response.finish();
  server.codec->sendResponse(stream.id, server.answer(200, Body::kLength, body.size()));
  std::string all;
  for (int i = 0; i < 20 && !stream.sent; ++i) {
    const std::string part = server.out(10000);
    EXPECT_LE(part.size(), 10000U);
    all += part;
  }
  EXPECT_TRUE(stream.sent);
  EXPECT_TRUE(all.ends_with(body));
}

TEST(H1Server, BodilessResponsesHaveNoBody) {
  const struct {
    std::string_view method;
    std::uint16_t status;
    Body body;
    std::optional<std::uint64_t> length;
    std::string_view out;
  } kCases[] = {
      {"HEAD", 200, Body::kNone, 5, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"},
      {"HEAD", 200, Body::kNone, {}, "HTTP/1.1 200 OK\r\n\r\n"},
      {"HEAD", 404, Body::kLength, 5, "HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\n"},
      {"GET", 204, Body::kNone, 0, "HTTP/1.1 204 No Content\r\n\r\n"},
      {"GET", 204, Body::kLength, 5, "HTTP/1.1 204 No Content\r\n\r\n"},
      {"GET", 304, Body::kNone, 5, "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n"},
      {"GET", 200, Body::kNone, {}, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"},
      {"GET", 200, Body::kNone, 5, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"},
      {"GET", 299, Body::kNone, 0, "HTTP/1.1 299 \r\ncontent-length: 0\r\n\r\n"},
  };
  for (const auto& c : kCases) {
    H1Server server;
    server.feed(std::string(c.method) + " / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.codec->sendResponse(server.sink.last().id, server.answer(c.status, c.body, c.length));
    EXPECT_EQ(server.out(), c.out);
    EXPECT_TRUE(server.sink.last().sent);
    EXPECT_EQ(server.codec->state(), CodecState::kOpen);
  }
}

TEST(H1Server, OldClientsGetNoChunksAndNoInterims) {
  H1Server server;
  server.feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  server.codec->sendInterim(server.sink.last().id, server.answer(103));
  server.respond(200, "x");
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: keep-alive\r\n\r\nx");
  EXPECT_EQ(server.codec->state(), CodecState::kOpen);

  server.feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  auto& stream = server.sink.last();
  stream.response.bytes.append("until close");
  stream.response.finish();
  server.codec->sendResponse(stream.id, server.answer(200, Body::kUntilEnd));
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil close");
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(server.codec->abortive());
}

TEST(H1Server, TellsClientsThatAskForHowLongItKeepsTheConnection) {
  http::Limits limits;
  limits.keepAliveSeconds = 120;
  H1Server server(limits);
  const auto answered = [&](const std::string& asked) {
    server.feed(asked);
    server.respond(200, "x");
    return server.out();
  };
  const std::string stated = "connection: keep-alive\r\nkeep-alive: timeout=120\r\n\r\nx";
  EXPECT_TRUE(answered("GET / HTTP/1.1\r\nHost: a\r\nKeep-Alive: timeout=5, max=9\r\n\r\n").ends_with(stated));
  EXPECT_TRUE(answered("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").ends_with(stated));
  EXPECT_EQ(answered("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"),
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx");
  EXPECT_EQ(answered("GET / HTTP/1.1\r\nHost: a\r\nKeep-Alive: timeout=5\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx");
}

TEST(H1Server, PassesInterimsOn) {
  H1Server server;
  server.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  auto& stream = server.sink.last();
  EXPECT_TRUE(stream.message.head.expectContinue);
  server.codec->sendInterim(stream.id, server.answer(100));
  EXPECT_EQ(server.out(), "HTTP/1.1 100 Continue\r\n\r\n");
  server.codec->sendInterim(stream.id, server.answer(101));
  server.codec->sendInterim(stream.id, server.answer(200));
  EXPECT_EQ(server.out(), "");
  server.feed("x");
  server.respond(200, "");
  server.codec->sendInterim(stream.id, server.answer(103));
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
}

// Nobody knows whether the next bytes are the body or another request.
TEST(H1Server, EndsWithAnAnswerToAClientThatWaitsForContinueInVain) {
  H1Server server;
  server.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\nExpect: 100-continue\r\n\r\n");
  auto& stream = server.sink.last();
  server.codec->sendResponse(stream.id, server.answer(403, Body::kUntilEnd));
  EXPECT_EQ(server.out(), "HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n");
  stream.response.bytes.append("no");
  stream.response.finish();
  server.codec->wake(stream.id);
  server.feed(kGet);
  EXPECT_EQ(server.out(), "2\r\nno\r\n0\r\n\r\n");
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_EQ(server.sink.count(), 1U);
}

TEST(H1Server, AStreamedResponseMayOvertakeTheRequest) {
  H1Server server;
  server.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  auto& stream = server.sink.last();
  server.codec->sendResponse(stream.id, server.answer(200, Body::kUntilEnd));
  stream.response.bytes.append("AB");
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nAB\r\n");
  server.feed("cd");
  EXPECT_TRUE(stream.ended);
  stream.response.finish();
  server.codec->wake(stream.id);
  EXPECT_EQ(server.out(), "0\r\n\r\n");
  EXPECT_EQ(server.codec->state(), CodecState::kOpen);
}

TEST(H1Server, NeverWritesAFieldThatEndsItsLine) {
  const std::pair<std::string_view, std::string_view> kBad[] = {
      {"x", "a\r\nx-injected: 1"},       {"x", "a\nb"}, {"x\r\ny", "a"}, {"x y", "a"}, {"x:", "a"}, {"", "a"},
      {"x", std::string_view("a\0b", 3)}};
  for (const auto& [name, value] : kBad) {
    H1Server server;
    server.feed(kGet);
    base::Arena arena(server.pool);
    ResponseHead head = server.answer(200);
    head.headers.add(arena, name, value);
    server.codec->sendResponse(server.sink.last().id, head);
    EXPECT_EQ(server.out(), "");
    EXPECT_TRUE(server.sink.last().reset);
    EXPECT_TRUE(server.codec->abortive());
  }
}

TEST(H1Server, FramingFieldsInHeadersAreNotWritten) {
  H1Server server;
  server.feed(kGet);
  base::Arena arena(server.pool);
  ResponseHead head = server.answer(200);
  for (const char* name : {"content-length", "transfer-encoding", "connection", "x-kept"})
    head.headers.add(arena, name, "7");
  server.codec->sendResponse(server.sink.last().id, head);
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\nx-kept: 7\r\ncontent-length: 0\r\n\r\n");
}

TEST(H1Server, WritesHeadsLargerThanAChunk) {
  H1Server server;
  server.feed(kGet);
  base::Arena arena(server.pool);
  ResponseHead head = server.answer(200);
  const std::string value(40000, 'v');
  head.headers.add(arena, "x-big", value);
  head.headers.add(arena, "x-end", "1");
  server.codec->sendResponse(server.sink.last().id, head);
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\nx-big: " + value + "\r\nx-end: 1\r\ncontent-length: 0\r\n\r\n");
}

}  // namespace
}  // namespace sluice::http
