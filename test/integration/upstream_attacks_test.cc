// Tests origins that break the protocol: the client gets a whole answer or an error, and never bytes of another
// response.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BrokenOrigins, HeadsOutsideTheProtocolAre502) {
  for (const std::string answer :
       {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/9.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX A: b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\nok"}) {
    SCOPED_TRACE(answer);
    RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
      if (!self.readHead(socket).empty()) socket.send(answer);
      socket.readAll();
    });
    const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
    const ReceivedResponse got = askRaw(gateway.port());
    EXPECT_EQ(got.status, 502);
    EXPECT_THAT(got.body, HasSubstr("http_protocol_error"));
  }
}

TEST(BrokenOrigins, BytesAfterAResponseReachNoClient) {
  RawOrigin origin(RawOrigin::answering(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 5; ++i) {
    client.send(kGet);
    EXPECT_EQ(readResponse(client).body, "ok");
  }
  EXPECT_GE(origin.connections(), 5) << "a connection with bytes left over is not used again";
}

TEST(BrokenOrigins, BodiesWhereNoneIsAllowedRetireTheConnection) {
  for (const auto& [request, answer] :
       {std::pair("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"),
        std::pair("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\nEVIL"),
        std::pair("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nEVIL")}) {
    SCOPED_TRACE(answer);
    RawOrigin origin(RawOrigin::answering(answer));
    const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    for (int i = 0; i < 3; ++i) {
      client.send(request);
      const ReceivedResponse got = readResponse(client, true);
      EXPECT_THAT(got.status, testing::AnyOf(200, 204, 304));
      EXPECT_THAT(got.head, Not(HasSubstr("EVIL")));
    }
    EXPECT_GE(origin.connections(), 3);
  }
}

TEST(BrokenOrigins, InterimResponsesAreBounded) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    if (self.readHead(socket).empty()) return;
    while (!self.stopping() && socket.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", std::chrono::seconds(1))) {
    }
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  int interim = 0;
  std::string head;
  while ((head = client.readUntil("\r\n\r\n")).starts_with("HTTP/1.1 103")) ++interim;
  EXPECT_LE(interim, 10);
  EXPECT_THAT(head, testing::StartsWith("HTTP/1.1 502"));
}

TEST(BrokenOrigins, AnEarlyAnswerEndsTheUploadWithoutSmugglingIt) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
  EXPECT_EQ(readResponse(client).status, 413);
  client.sendSome("GET /smug HTTP/1.1\r\nHost: a\r\n\r\n", std::chrono::milliseconds(200));
  EXPECT_EQ(askRaw(gateway.port()).status, 413);
  for (const std::string& head : origin.heads()) EXPECT_THAT(head, Not(HasSubstr("/smug")));
  EXPECT_GE(origin.connections(), 2) << "the connection of the unfinished upload is not used again";
}

TEST(BrokenOrigins, AFinalAnswerWithoutContinueNeverTurnsTheBodyIntoARequest) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 18\r\n\r\n");
  ReceivedResponse got = readResponse(client);
  if (got.status == 100)
    got = readResponse(client);  // the gateway may invite the body itself (RFC 9110 section 10.1.1)
  EXPECT_EQ(got.status, 200);
  client.send("GET / HTTP/1.1\r\n\r\n");  // the body, which looks like a request
  EXPECT_EQ(askRaw(gateway.port()).status, 200);
  for (const std::string& head : origin.heads()) EXPECT_THAT(head, testing::ContainsRegex("[Hh]ost: origin"));
}

TEST(BrokenOrigins, ATruncatedAnswerNeverLooksWhole) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    if (!self.readHead(socket).empty())
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  EXPECT_THAT(client.readAll(), Not(HasSubstr("0\r\n\r\n")));
  EXPECT_TRUE(client.closed());
}

TEST(BrokenOrigins, SilenceIsAnsweredByTheTimeout) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.readAll();
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "timeouts: {request: 300ms}\n"});
  const ReceivedResponse got = askRaw(gateway.port());
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
}

TEST(StaleConnections, AreRetriedOnceWhenNothingReachedThePeer) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    if (!self.readHead(socket).empty()) socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(askRaw(gateway.port()).status, 200);
}

TEST(Aborts, AClientThatLeavesEndsTheWorkUpstream) {
  std::atomic<bool> ended = false;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.readAll();
    ended = socket.closed();
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(kGet);
    EXPECT_TRUE(eventually([&] { return !origin.heads().empty(); }));
    client.reset();
  }
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

}  // namespace
}  // namespace sluice::test
