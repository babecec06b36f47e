// Tests how the client's codec reads responses: ambiguous ones are refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/http/h1_client_fixture.h"

namespace sluice::http {
namespace {

using test::H1Client;
using test::kOk;

TEST(H1Client, RefusesResponsesThatCouldBeReadInTwoWays) {
  for (const std::string_view response : {"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding\t: chunked\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n"
                                          "Transfer-Encoding: identity\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\n: a\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
                                          "HTTP/1.1 200 O\x01K\r\n\r\n",
                                          "HTTP/1.1 20 OK\r\n\r\n",
                                          "HTTP/1.1 2000 OK\r\n\r\n",
                                          "HTTP/1.1 200OK\r\n\r\n",
                                          "HTTP/1.1  200 OK\r\n\r\n",
                                          "HTTP/2.0 200 OK\r\n\r\n",
                                          "http/1.1 200 OK\r\n\r\n",
                                          "ICY 200 OK\r\n\r\n",
                                          "HTTP/1.1 099 X\r\n\r\n",
                                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
                                          "\r\n",
                                          "HTTP/1.1\r\n\r\n",
                                          "HTTP/1.1 +20 OK\r\n\r\n",
                                          "\x15\x03\x01\r\n",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n",
                                          "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    H1Client client;
    client.get();
    client.feed(response);
    EXPECT_TRUE(client.last().reset) << response;
    EXPECT_EQ(client.last().error.type, base::ErrorType::kHttpProtocolError) << response;
    EXPECT_FALSE(client.last().unprocessed) << response;
    EXPECT_EQ(client.codec->state(), CodecState::kClosed) << response;
    EXPECT_EQ(client.codec->availableStreams(), 0U);
  }
}

// RFC 9112 section 6.3: the response ends with its head. Bytes that follow are not read as the next response.
TEST(H1Client, AResponseWithoutBodyEndsWithItsHeadWhateverItsCoding) {
  H1Client client;
  client.get();
  client.feed("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(client.sink.transcript(), "204 1.1\nno body\n[]\nend\n");
  EXPECT_EQ(client.codec->availableStreams(), 0U);
  H1Client interim;
  interim.get();
  interim.feed("HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(kOk));
  EXPECT_TRUE(interim.last().ended);
}

TEST(H1Client, TakesAnyStatusOfThreeDigits) {
  for (const char* status : {"200", "599", "600", "999"}) {
    H1Client client;
    client.get();
    client.feed("HTTP/1.1 " + std::string(status) + " X\r\nContent-Length: 2\r\n\r\nok");
    EXPECT_TRUE(client.last().ended) << status;
    EXPECT_EQ(client.last().message.head.status, std::stoi(status));
    EXPECT_EQ(client.codec->availableStreams(), 1U);
  }
}

TEST(H1Client, TakesTheCodingIdentityForNone) {
  H1Client until;
  until.get();
  until.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\n\r\n0\r\n\r\n");
  EXPECT_FALSE(until.last().ended);
  until.codec->feedEnd(true);
  EXPECT_TRUE(until.last().ended);
  EXPECT_EQ(until.last().body, "0\r\n\r\n");
  H1Client counted;
  counted.get();
  counted.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(counted.last().ended);
  EXPECT_EQ(counted.last().body, "ok");
  EXPECT_EQ(counted.codec->availableStreams(), 0U) << "others may find another end of that response";
}

TEST(H1Client, LeavesOutSpacesBeforeAColon) {
  H1Client client;
  client.get();
  client.feed("HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(client.last().ended);
  ASSERT_EQ(client.last().message.head.headers.size(), 1U);
  EXPECT_EQ(client.last().message.head.headers.begin()->receivedName(), "X-A");
}

TEST(H1Client, TrailersAreBounded) {
  for (const bool bytes : {true, false}) {
    Limits limits;
    limits.responseFields = bytes ? 100 : 10;
    limits.headerBytes = bytes ? 10 * 43 : 1'000'000;  // each line counts 3 + 8 + 32 bytes
    for (const std::size_t count : {10U, 11U}) {
      H1Client client(limits);
      client.get();
      client.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n");
      for (std::size_t i = 0; i < count; ++i) client.feed("x-a: 12345678\r\n");
      client.feed("\r\n");
      const bool passes = count == 10;
      EXPECT_EQ(client.last().body, "hello");
      EXPECT_EQ(client.last().ended, passes);
      EXPECT_EQ(client.last().trailers.size(), passes ? 10U : 0U);
      EXPECT_EQ(client.last().reset, !passes);
      EXPECT_EQ(client.codec->state(), passes ? CodecState::kOpen : CodecState::kClosed);
      const std::vector<Limit> hit{bytes ? Limit::kHeaderBytes : Limit::kResponseFields};
      EXPECT_EQ(client.sink.limits, passes ? std::vector<Limit>{} : hit);
      if (passes) continue;
      EXPECT_EQ(client.last().error.type, base::ErrorType::kHttpProtocolError);
    }
  }
}

TEST(H1Client, ReadsAHigherMinorVersionAsHttp11) {
  H1Client client;
  client.get();
  client.feed("HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(client.last().ended);
  EXPECT_EQ(client.last().message.head.version, Version::kHttp11);
  EXPECT_EQ(client.codec->state(), CodecState::kOpen);
}

TEST(H1Client, ALoneCrNeverEndsAHead) {
  H1Client client;
  client.get();
  client.feed("HTTP/1.1 200 OK\r\n\r\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_TRUE(client.last().reset);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

// Bytes that are there before a byte of the request has left cannot be its answer: they belong to an earlier answer, or
// are an attack.
TEST(H1Client, AnAnswerBeforeTheRequestIsNotItsAnswer) {
  H1Client client;
  client.send(client.request());
  client.feed(kOk);
  EXPECT_TRUE(client.last().reset);
  EXPECT_FALSE(client.last().answered);
  EXPECT_TRUE(client.last().unprocessed);
  EXPECT_EQ(client.codec->state(), CodecState::kClosed);
}

}  // namespace
}  // namespace sluice::http
