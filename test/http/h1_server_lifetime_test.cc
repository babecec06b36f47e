// Tests how exchanges and connections of the HTTP/1.x server codec end: in order, early, cut short or drained.
#include <gtest/gtest.h>

#include <string>

#include "proxy/http/h1/h1_codec.h"
#include "test/http/h1_server_fixture.h"

namespace sluice::http {
namespace {

using test::H1Server;
using test::kGet;

TEST(H1ServerLifetime, HoldsNoMemoryWhileIdle) {
  H1Server server;
  for (int i = 0; i < 3; ++i) {
    server.feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r");
    server.feed("\n");
    server.respond(200, "y");
    server.out();
    server.sink.last().message.arena.clear();
    EXPECT_EQ(server.pool.inUse(), 0U);
  }
  server.feed("\r\n");
  EXPECT_EQ(server.pool.inUse(), 0U);
  EXPECT_FALSE(server.codec->headPending());
  EXPECT_LT(sizeof(H1ServerCodec), 313U);
  EXPECT_LT(sizeof(H1ClientCodec), 308U);
}

TEST(H1ServerLifetime, AResponseOfTheWrongLengthIsCutSoThatItShows) {
  for (const std::string_view body : {"1234", "123456"}) {
    H1Server server;
    server.feed(kGet);
    auto& stream = server.sink.last();
    server.codec->sendResponse(stream.id, server.answer(200, Body::kLength, 5));
    stream.response.bytes.append(body);
    stream.response.finish();
    server.codec->wake(stream.id);
    server.out();
    EXPECT_FALSE(stream.sent) << body;
    EXPECT_TRUE(stream.reset) << body;
    EXPECT_TRUE(server.codec->abortive()) << body;
    EXPECT_EQ(server.codec->state(), CodecState::kClosed) << body;
  }
}

TEST(H1ServerLifetime, ABrokenResponseEndsTheConnectionAtOnce) {
  H1Server server;
  server.feed(kGet);
  auto& stream = server.sink.last();
  server.codec->sendResponse(stream.id, server.answer(200, Body::kUntilEnd));
  stream.response.bytes.append("half");
  stream.response.breakOff();
  server.codec->wake(stream.id);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_TRUE(server.codec->abortive());
  EXPECT_EQ(server.out(), "");
  EXPECT_TRUE(stream.reset);
  EXPECT_FALSE(stream.answerable);
}

TEST(H1ServerLifetime, AnOwnerThatIsGoneEndsTheConnection) {
  H1Server server;
  server.feed(kGet);
  server.codec->sendResponse(server.sink.last().id, server.answer(200, Body::kUntilEnd));
  server.sink.last().gone = true;
  server.out();
  EXPECT_TRUE(server.codec->abortive());
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(H1ServerLifetime, ResetSendsNothingMore) {
  H1Server server;
  server.feed(kGet);
  server.respond(200, "x");
  server.codec->reset(server.sink.last().id, ResetReason::kFailed);
  EXPECT_EQ(server.out(), "");
  EXPECT_FALSE(server.sink.last().sent);
  EXPECT_FALSE(server.sink.last().reset);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(H1ServerLifetime, ARefusedStreamEndsTheConnection) {
  for (const std::string_view bytes : {kGet, std::string_view("x\r\n\r\n")}) {
    H1Server server;
    server.sink.refuse = true;
    server.feed(std::string(bytes) + std::string(kGet));
    EXPECT_EQ(server.codec->state(), CodecState::kClosed);
    EXPECT_EQ(server.sink.count(), 0U);
  }
}

TEST(H1ServerLifetime, ClosesWhenItIsAskedTo) {
  for (const std::string_view request :
       {"GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: x, Close\r\n\r\n"}) {
    H1Server server;
    server.feed(std::string(request) + std::string(kGet));
    EXPECT_EQ(server.codec->state(), CodecState::kDraining);
    server.respond(200, "x");
    EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx");
    EXPECT_EQ(server.codec->state(), CodecState::kClosed);
    server.codec->resume();
    EXPECT_EQ(server.sink.count(), 1U) << "what follows is not served";
    EXPECT_EQ(server.pool.inUse(), 1U) << "but for the exchange's own arena";
  }
}

TEST(H1ServerLifetime, AnEarlyResponseClosesTheConnection) {
  H1Server server;
  server.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nGET /smug HTTP/1.1\r\n");
  server.respond(413, "no");
  EXPECT_EQ(server.out(), "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno");
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(server.codec->abortive());
  server.feed("Host: a\r\n\r\n");
  server.codec->resume();
  EXPECT_EQ(server.sink.count(), 1U);
}

TEST(H1ServerLifetime, ABrokenRequestBodyIsAnsweredIfNothingWasYet) {
  constexpr std::string_view kChunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  H1Server server;
  server.feed(std::string(kChunked) + "zz\r\n" + std::string(kGet));
  EXPECT_TRUE(server.sink.last().reset);
  EXPECT_TRUE(server.sink.last().answerable);
  EXPECT_EQ(server.sink.last().error.status, 400);
  EXPECT_EQ(server.codec->state(), CodecState::kDraining);
  server.respond(400, "bad");
  EXPECT_EQ(server.out(), "HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbad");
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_EQ(server.sink.count(), 1U);

  H1Server begun;
  begun.feed(kChunked);
  begun.codec->sendResponse(begun.sink.last().id, begun.answer(200, Body::kUntilEnd));
  begun.out();
  begun.feed("zz\r\n");
  EXPECT_TRUE(begun.sink.last().reset);
  EXPECT_FALSE(begun.sink.last().answerable);
  EXPECT_TRUE(begun.codec->abortive());
}

TEST(H1ServerLifetime, AWholeRequestIsAnsweredAfterTheClientsEnd) {
  H1Server server;
  server.feed(std::string(kGet) + std::string(kGet) + "GET /partial");
  server.codec->feedEnd();
  EXPECT_EQ(server.codec->readBudget(), 0U);
  server.respond(200, "1");
  EXPECT_EQ(server.out(), "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1");
  server.codec->resume();
  ASSERT_EQ(server.sink.count(), 2U);
  server.respond(200, "2");
  server.out();
  server.codec->resume();
  EXPECT_EQ(server.sink.count(), 2U);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
}

TEST(H1ServerLifetime, TheClientsEndEndsWhatIsUnfinished) {
  H1Server idle;
  idle.codec->feedEnd();
  EXPECT_EQ(idle.codec->state(), CodecState::kClosed);

  H1Server head;
  head.feed("GET / HT");
  EXPECT_TRUE(head.codec->headPending());
  head.codec->feedEnd();
  EXPECT_EQ(head.codec->state(), CodecState::kClosed);
  EXPECT_EQ(head.pool.inUse(), 0U);

  H1Server body;
  body.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  body.codec->feedEnd();
  EXPECT_TRUE(body.sink.last().reset);
  EXPECT_EQ(body.sink.last().error.type, base::ErrorType::kConnectionTerminated);
}

TEST(H1ServerLifetime, AClientThatEndsWithinARequestHasLeft) {
  H1Server body;
  body.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  EXPECT_EQ(body.codec->departure(0), Departure::kLeft);
  EXPECT_EQ(body.codec->departure(1), Departure::kLeft);
  EXPECT_EQ(body.codec->departure(2), Departure::kStays) << "the rest may be there, not read yet";

  H1Server chunked;
  chunked.feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
  EXPECT_EQ(chunked.codec->departure(100), Departure::kLeft);
  chunked.codec->sendResponse(chunked.sink.last().id, chunked.answer(200, Body::kUntilEnd));
  EXPECT_EQ(chunked.codec->departure(100), Departure::kStays) << "it may read the response";
}

TEST(H1ServerLifetime, AClientThatEndsBehindItsOnlyRequestWaits) {
  H1Server server;
  EXPECT_EQ(server.codec->departure(100), Departure::kStays) << "a request may be among what is not read yet";
  server.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd");
  EXPECT_EQ(server.codec->departure(0), Departure::kWaits);
  EXPECT_EQ(server.codec->departure(1), Departure::kStays) << "another request may follow";
  server.feed(kGet);
  EXPECT_EQ(server.codec->departure(0), Departure::kStays) << "it does";

  H1Server answered;
  answered.feed(kGet);
  EXPECT_EQ(answered.codec->departure(0), Departure::kWaits);
  answered.codec->sendResponse(answered.sink.last().id, answered.answer(200, Body::kUntilEnd));
  EXPECT_EQ(answered.codec->departure(0), Departure::kStays);
}

TEST(H1ServerLifetime, ALostConnectionEndsTheExchange) {
  H1Server server;
  server.feed(kGet);
  server.codec->feedLost();
  EXPECT_TRUE(server.sink.last().reset);
  EXPECT_FALSE(server.sink.last().answerable);
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_EQ(server.codec->activeStreams(), 0U);
}

TEST(H1ServerLifetime, ASlowHeadIsAnswered408) {
  H1Server server;
  server.codec->expireHead();
  EXPECT_EQ(server.sink.count(), 0U);
  server.feed("GET / HTTP/1.1\r\nHo");
  server.codec->expireHead();
  ASSERT_EQ(server.sink.count(), 1U);
  EXPECT_EQ(server.sink.last().error.status, 408);
  server.respond(408, "slow");
  EXPECT_EQ(server.out(), "HTTP/1.1 408 Request Timeout\r\ncontent-length: 4\r\nconnection: close\r\n\r\nslow");
  EXPECT_EQ(server.codec->state(), CodecState::kClosed);
  EXPECT_EQ(server.pool.inUse(), 0U);
}

TEST(H1ServerLifetime, AnnouncesTheEndWithTheNextResponse) {
  H1Server idle;
  idle.feed(kGet);
  idle.respond(200, "x");
  EXPECT_EQ(idle.out().find("connection: close"), std::string::npos);
  idle.codec->announceEnd();
  EXPECT_NE(idle.codec->state(), CodecState::kClosed);
  idle.feed(kGet);
  ASSERT_EQ(idle.sink.count(), 2U);
  idle.respond(200, "y");
  EXPECT_NE(idle.out().find("connection: close"), std::string::npos);
  EXPECT_EQ(idle.codec->state(), CodecState::kClosed);
}

TEST(H1ServerLifetime, DrainsBehindTheRequestUnderWay) {
  H1Server idle;
  idle.codec->drain();
  EXPECT_EQ(idle.codec->state(), CodecState::kClosed);

  H1Server busy;
  busy.feed(kGet);
  busy.codec->drain();
  EXPECT_EQ(busy.codec->state(), CodecState::kDraining);
  busy.respond(200, "x");
  EXPECT_EQ(busy.out(), "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx");
  EXPECT_EQ(busy.codec->state(), CodecState::kClosed);

  H1Server begun;
  begun.feed(kGet.substr(0, 5));
  begun.codec->drain();
  begun.feed(kGet.substr(5));
  begun.respond(200, "x");
  EXPECT_NE(begun.out().find("connection: close"), std::string::npos);
}

}  // namespace
}  // namespace sluice::http
