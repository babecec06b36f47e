// Tests the client's codec from the backend's side: requests out, responses in.
#include <gtest/gtest.h>

#include <string>

#include "test/http/h1_client_fixture.h"

namespace sluice::http {
namespace {

using test::H1Client;
using test::kOk;

TEST(H1Client, SendsAndIsReused) {
  H1Client client;
  EXPECT_EQ(client.codec->availableStreams(), 1U);
  base::Arena arena(client.pool);
  RequestHead head = client.request();
  head.headers.add(arena, "accept", "*/*");
  client.send(head);
  EXPECT_EQ(client.codec->availableStreams(), 0U);
  EXPECT_EQ(client.send(head), 0U) << "one at a time";
  EXPECT_EQ(client.out(), "GET /x?y HTTP/1.1\r\nhost: a.example\r\naccept: */*\r\n\r\n");
  EXPECT_TRUE(client.sink.stream(0).sent);
  client.feed(kOk);
  EXPECT_EQ(client.sink.stream(0).body, "ok");
  EXPECT_TRUE(client.sink.stream(0).ended);
  EXPECT_EQ(client.codec->state(), CodecState::kOpen);
  EXPECT_EQ(client.codec->availableStreams(), 1U);
  client.get();
  client.feed("HTTP/1.1 204\r\n\r\n");
  EXPECT_EQ(client.last().message.head.status, 204);
  EXPECT_EQ(client.codec->availableStreams(), 1U);
}

TEST(H1Client, HoldsNoMemoryWhileIdle) {
  H1Client client;
  client.get();
  client.feed(kOk);
  client.last().message.arena.clear();
  EXPECT_EQ(client.pool.inUse(), 0U);
}

TEST(H1Client, FramesTheRequestItself) {
  const struct {
    Method method;
    std::string_view text;
    Body body;
    std::uint64_t length;
    std::string_view fields;
  } kCases[] = {
      {Method::kPost, "POST", Body::kNone, 0, "content-length: 0\r\n"},
      {Method::kDelete, "DELETE", Body::kNone, 0, ""},
      {Method::kPost, "POST", Body::kLength, 2, "content-length: 2\r\n"},
      {Method::kGet, "GET", Body::kUntilEnd, 0, "transfer-encoding: chunked\r\n"},
  };
  for (const auto& c : kCases) {
    H1Client client;
    RequestHead head = client.request(c.method, c.text);
    head.body = c.body;
    head.contentLength = c.length;
    client.send(head);
    EXPECT_EQ(client.out(),
              std::string(c.text) + " /x?y HTTP/1.1\r\nhost: a.example\r\n" + std::string(c.fields) + "\r\n");
  }
}

TEST(H1Client, AsksForTrailersAndContinue) {
  H1Client client;
  RequestHead head = client.request();
  head.acceptsTrailers = head.expectContinue = true;
  client.send(head);
  EXPECT_EQ(client.out(),
            "GET /x?y HTTP/1.1\r\nhost: a.example\r\nexpect: 100-continue\r\nte: trailers\r\nconnection: te\r\n\r\n");
}

/// Sends the head of a request of five bytes that asks for a 100 (Continue).
StreamId expecting(H1Client& client) {
  RequestHead head = client.request(Method::kPost, "POST");
  head.body = Body::kLength;
  head.contentLength = 5;
  head.expectContinue = true;
  const StreamId id = client.send(head);
  client.out();
  return id;
}

void sendBody(H1Client& client, StreamId id) {
  client.last().request.bytes.append("hello");
  client.last().request.finish();
  client.codec->wake(id);
}

TEST(H1Client, IsReusedIfTheBodyFollowedAContinue) {
  H1Client client;
  const StreamId id = expecting(client);
  client.feed("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.last().interims, std::vector<std::uint16_t>{100});
  sendBody(client, id);
  EXPECT_EQ(client.out(), "hello");
  client.feed(kOk);
  EXPECT_EQ(client.codec->state(), CodecState::kOpen);
  EXPECT_EQ(client.codec->availableStreams(), 1U);
}

// The backend may take the body for another request.
TEST(H1Client, SendsNoBodyAfterAFinalStatusWithoutContinueAndIsNotReused) {
  for (const std::string_view rest : {"", "no"}) {
    H1Client client;
    const StreamId id = expecting(client);
    client.feed("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 403 Forbidden\r\nContent-Length: " +
                std::to_string(rest.size()) + "\r\n\r\n");
    sendBody(client, id);
    EXPECT_EQ(client.out(), "");
    client.feed(rest);
    EXPECT_EQ(client.last().body, rest);
    EXPECT_TRUE(client.last().ended);
    EXPECT_FALSE(client.last().reset);
    EXPECT_EQ(client.out(), "");
    EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  }
}

TEST(H1Client, IsNotReusedIfTheBodyWasSentWithoutContinue) {
  H1Client client;
  sendBody(client, expecting(client));
  EXPECT_EQ(client.out(), "hello");
  client.feed(kOk);
  EXPECT_EQ(client.last().body, "ok");
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

TEST(H1Client, StreamsARequestBody) {
  H1Client client;
  RequestHead head = client.request(Method::kPost, "POST");
  head.body = Body::kUntilEnd;
  const StreamId id = client.send(head);
  client.out();
  EXPECT_FALSE(client.codec->wantsProduce());
  client.last().request.bytes.append("hello");
  client.codec->wake(id);
  EXPECT_TRUE(client.codec->wantsProduce());
  EXPECT_EQ(client.out(), "5\r\nhello\r\n");
  EXPECT_EQ(client.last().taken, 5U);
  Trailers trailers(client.pool);
  trailers.fields.add(trailers.arena, "x-sum", "1");
  client.last().request.finish(std::move(trailers));
  client.codec->wake(id);
  EXPECT_EQ(client.out(), "0\r\nx-sum: 1\r\n\r\n");
  EXPECT_TRUE(client.last().sent);
  client.feed(kOk);
  EXPECT_EQ(client.codec->state(), CodecState::kOpen);
}

TEST(H1Client, ARequestOfTheWrongLengthIsCutSoThatItShows) {
  for (const std::string_view body : {"1", "123"}) {
    H1Client client;
    RequestHead head = client.request(Method::kPost, "POST");
    head.body = Body::kLength;
    head.contentLength = 2;
    client.send(head);
    client.last().request.bytes.append(body);
    client.last().request.finish();
    client.out();
    EXPECT_TRUE(client.last().reset) << body;
    EXPECT_FALSE(client.last().unprocessed) << body;
    EXPECT_TRUE(client.codec->abortive()) << body;
    EXPECT_EQ(client.codec->state(), CodecState::kClosed) << body;
  }
}

TEST(H1Client, ABrokenRequestBodyEndsTheConnection) {
  H1Client client;
  RequestHead head = client.request(Method::kPost, "POST");
  head.body = Body::kUntilEnd;
  const StreamId id = client.send(head);
  client.out();
  client.last().request.breakOff();
  client.codec->wake(id);
  EXPECT_EQ(client.out(), "");
  EXPECT_TRUE(client.codec->abortive());
  EXPECT_TRUE(client.last().reset);
}

TEST(H1Client, ReportsTheSameHoweverTheBytesAreCut) {
  const std::string responses[] = {
      std::string(kOk),
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "3;a=b\r\nabc\r\n0\r\nGrpc-Status: 0\r\n\r\n",
      "HTTP/1.0 200 OK\r\n\r\nuntil close",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "HTTP/1.1 204 No Content\r\n\r\n",
  };
  for (const std::string& response : responses) {
    H1Client whole;
    whole.get();
    whole.feed(response);
    whole.codec->feedEnd(true);
    for (std::size_t cut = 1; cut < response.size(); ++cut) {
      H1Client split;
      split.get();
      split.feed(response.substr(0, cut));
      split.feed(response.substr(cut));
      split.codec->feedEnd(true);
      EXPECT_EQ(split.sink.transcript(), whole.sink.transcript()) << response << " at " << cut;
    }
  }
}

TEST(H1Client, ReadsInterimsTrailersAndChunks) {
  H1Client client;
  client.get();
  client.feed(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\nGrpc-Status: 0\r\n\r\n");
  EXPECT_EQ(client.sink.transcript(), "interim 100\ninterim 103\n200 1.1\nuntil end\n[abc]\ngrpc-status: 0\nend\n");
  EXPECT_EQ(client.codec->state(), CodecState::kOpen);
}

TEST(H1Client, InterimResponsesAreBounded) {
  Limits limits;
  limits.informationalResponses = 3;
  H1Client client(limits);
  client.get();
  for (int i = 0; i < 3; ++i) client.feed("HTTP/1.1 103 Early Hints\r\n\r\n");
  EXPECT_FALSE(client.last().reset);
  client.feed("HTTP/1.1 103 Early Hints\r\n\r\n");
  EXPECT_TRUE(client.last().reset);
  EXPECT_EQ(client.last().error.type, base::ErrorType::kHttpProtocolError);
  EXPECT_EQ(client.sink.limits, std::vector<Limit>{Limit::kInformationalResponses});
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

TEST(H1Client, ALostConnectionTellsWhetherTheBackendMayHaveBegun) {
  for (const bool handedOver : {false, true}) {
    H1Client client;
    client.send(client.request());
    if (handedOver) client.out();
    client.codec->feedLost(base::Error::upstream(base::ErrorType::kConnectionTerminated, "reset"));
    EXPECT_TRUE(client.last().reset);
    EXPECT_EQ(client.last().unprocessed, !handedOver);
  }
}

TEST(H1Client, UnsolicitedBytesEndTheConnection) {
  H1Client before;
  before.feed(kOk);
  EXPECT_EQ(before.codec->state(), CodecState::kClosed);
  EXPECT_EQ(before.codec->availableStreams(), 0U);

  H1Client behind;
  behind.get();
  behind.feed(std::string(kOk) + std::string(kOk));
  EXPECT_EQ(behind.last().body, "ok");
  EXPECT_TRUE(behind.last().ended);
  EXPECT_EQ(behind.codec->state(), CodecState::kClosed);

  H1Client later;
  later.get();
  later.feed(kOk);
  later.feed("\r\n");
  EXPECT_EQ(later.codec->state(), CodecState::kClosed);
}

TEST(H1Client, ABodyWhereNoneIsAllowedRetiresTheConnection) {
  const struct {
    Method method;
    std::string_view text;
    std::string_view response;
  } kCases[] = {
      {Method::kHead, "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"},
      {Method::kHead, "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {Method::kGet, "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok"},
      {Method::kGet, "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok"},
  };
  for (const auto& c : kCases) {
    H1Client client;
    client.send(client.request(c.method, c.text));
    client.out();
    client.feed(c.response);
    EXPECT_TRUE(client.last().ended) << c.response;
    EXPECT_EQ(client.last().body, "") << c.response;
    EXPECT_EQ(client.codec->state(), CodecState::kClosed) << c.response;
  }
  H1Client head;
  head.send(head.request(Method::kHead, "HEAD"));
  head.out();
  head.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(head.codec->availableStreams(), 1U) << "a proper HEAD answer keeps the connection";
}

TEST(H1Client, AResponseBeforeTheRequestsEndRetiresTheConnection) {
  H1Client client;
  RequestHead head = client.request(Method::kPost, "POST");
  head.body = Body::kUntilEnd;
  const StreamId id = client.send(head);
  client.last().request.bytes.append("GET /smug HTTP/1.1\r\n\r\n");
  client.out();
  client.feed("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(client.last().ended);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  client.last().request.bytes.append("more");
  client.codec->wake(id);
  EXPECT_FALSE(client.codec->wantsProduce());
  EXPECT_EQ(client.out(), "");
}

TEST(H1Client, HonoursClose) {
  for (const std::string_view response : {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
                                          "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"}) {
    H1Client client;
    client.get();
    client.feed(response);
    EXPECT_TRUE(client.last().ended);
    EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  }
  H1Client kept;
  kept.get();
  kept.feed("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(kept.codec->availableStreams(), 1U);
}

TEST(H1Client, OnlyACleanEndCompletesABodyWithoutLength) {
  for (const bool clean : {true, false}) {
    H1Client client;
    client.get();
    client.feed("HTTP/1.1 200 OK\r\n\r\nsome");
    EXPECT_EQ(client.codec->state(), CodecState::kDraining);
    client.codec->feedEnd(clean);
    EXPECT_EQ(client.last().body, "some");
    EXPECT_EQ(client.last().ended, clean);
    EXPECT_EQ(client.last().reset, !clean);
    EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  }
}

TEST(H1Client, TellsWhetherTheBackendMayHaveBegun) {
  const struct {
    bool produced;
    std::string_view before;
    bool clean;
    bool unprocessed;
  } kCases[] = {{false, "", true, true},
                {false, "", false, true},
                {true, "", true, false},
                {true, "", false, false},
                {true, "H", true, false},
                {true, "HTTP/1.1 100 Continue\r\n\r\n", true, false},
                {true, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", true, false}};
  for (const auto& c : kCases) {
    H1Client client;
    client.send(client.request());
    if (c.produced) client.out();
    client.feed(c.before);
    client.codec->feedEnd(c.clean);
    EXPECT_TRUE(client.last().reset) << c.before;
    EXPECT_EQ(client.last().error.type, base::ErrorType::kConnectionTerminated) << c.before;
    EXPECT_EQ(client.last().unprocessed, c.unprocessed) << c.before;
    EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  }
  H1Client idle;
  idle.codec->feedEnd(true);
  EXPECT_EQ(idle.codec->state(), CodecState::kClosed);
}

TEST(H1Client, DeliversABodyOnlyByCredit) {
  Limits limits;
  limits.streamWindow = 4;
  for (const std::string_view response :
       {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nabcdef"}) {
    H1Client client(limits);
    const StreamId id = client.get();
    client.feed(response);
    client.codec->feedEnd(true);
    EXPECT_EQ(client.last().body, "abcd") << response;
    EXPECT_FALSE(client.last().reset) << "what has arrived is not lost";
    EXPECT_EQ(client.codec->readBudget(), 0U);
    client.codec->grant(id, 4);
    EXPECT_EQ(client.last().body, "abcdef") << response;
    EXPECT_TRUE(client.last().ended) << response;
  }
}

TEST(H1Client, CancelEndsTheConnectionSilently) {
  H1Client client;
  const StreamId id = client.get();
  client.feed("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
  client.codec->reset(id, ResetReason::kCancelled);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
  EXPECT_FALSE(client.codec->abortive()) << "the whole request was sent";
  client.feed("defghij");
  EXPECT_EQ(client.last().body, "abc");
  EXPECT_FALSE(client.last().reset);
}

TEST(H1Client, ACancelledUploadMustNotLookWhole) {
  H1Client client;
  RequestHead head = client.request(Method::kPost, "POST");
  head.body = Body::kUntilEnd;
  const StreamId id = client.send(head);
  client.out();
  client.codec->reset(id, ResetReason::kCancelled);
  EXPECT_TRUE(client.codec->abortive());
}

TEST(H1Client, Drains) {
  H1Client idle;
  idle.codec->drain();
  EXPECT_EQ(idle.codec->state(), CodecState::kClosed);
  H1Client busy;
  busy.get();
  busy.codec->drain();
  EXPECT_EQ(busy.codec->state(), CodecState::kDraining);
  busy.feed(kOk);
  EXPECT_TRUE(busy.last().ended);
  EXPECT_EQ(busy.codec->state(), CodecState::kClosed);
}

TEST(H1Client, NeverWritesBytesThatCouldBeAnotherRequest) {
  H1Client valid;
  base::Arena arena(valid.pool);
  std::vector<RequestHead> heads(8, valid.request());
  heads[0].target = "/x HTTP/1.1\r\nHost: b\r\n\r\nGET /smug";
  heads[1].target = "/x y";
  heads[2].target = "x";
  heads[3].methodText = "GET /smug HTTP/1.1\r\n\r\nGET";
  heads[4].methodText = "";
  heads[5].authority = "a\r\nx: y";
  heads[6].headers.add(arena, "x", "a\r\nb: c");
  heads[7].headers.add(arena, "x\r\ny", "a");
  for (const RequestHead& head : heads) {
    H1Client client;
    EXPECT_NE(client.send(head), 0U);
    EXPECT_TRUE(client.codec->wantsProduce());
    EXPECT_EQ(client.out(), "");
    EXPECT_TRUE(client.last().reset);
    EXPECT_EQ(client.last().error.origin, base::ErrorOrigin::kInternal);
    EXPECT_FALSE(client.last().unprocessed);
  }
}

TEST(H1Client, ResponseHeadsAreBounded) {
  Limits limits;
  limits.responseFields = 2;
  H1Client fits(limits);
  fits.get();
  fits.feed("HTTP/1.1 204 X\r\nA: 1\r\nB: 2\r\n\r\n");
  EXPECT_TRUE(fits.last().ended);
  H1Client exceeds(limits);
  exceeds.get();
  exceeds.feed("HTTP/1.1 204 X\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n");
  EXPECT_TRUE(exceeds.last().reset);
  EXPECT_EQ(exceeds.sink.limits, std::vector<Limit>{Limit::kResponseFields});
  H1Client endless;
  endless.get();
  for (int i = 0; i < 1000; ++i) endless.feed(std::string(1000, 'x'));
  EXPECT_TRUE(endless.last().reset);
  EXPECT_EQ(endless.sink.limits, std::vector<Limit>{Limit::kHeaderBytes});
}

}  // namespace
}  // namespace sluice::http
