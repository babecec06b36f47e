// Every timeout of settings.yaml on both sides: what ends by it, and its counter; what stays within it, and no count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

// Between the steps of something slow; a timeout that shall not strike is many times as long.
void pause(milliseconds time = milliseconds(100)) { poll(nullptr, 0, static_cast<int>(time.count())); }

std::string timeouts(const std::string& text) { return "timeouts: {" + text + "}\n"; }

RawOrigin::Script silence() {
  return [](Socket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  };
}

/// Sends `piece` again and again until an answer has come or the peer has ended.
RawResponse drip(Socket& client, const std::string& piece) {
  std::string text;
  while (!client.closed() && text.empty()) {
    client.sendSome(piece, kPatience);
    text = client.readUntil("\r\n\r\n", milliseconds(50));
  }
  return {text.size() > 12 ? std::stoi(text.substr(9, 3)) : 0, text, client.readAll()};
}

class Timeouts : public testing::Test {
 protected:
  EchoOrigin origin_{std::nullopt};
  Gateway gatewayWith(const std::string& settings) {
    return Gateway({.backends = {{.port = origin_.port()}}, .settings = timeouts(settings)});
  }
};

// --- requestHeader
// ----------------------------------------------------------------------------------------------------

TEST_F(Timeouts, RequestHeaderEndsAHeadThatDrips) {
  const Gateway gateway = gatewayWith("requestHeader: 300ms");
  Socket client = Socket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n");
  const RawResponse got = drip(client, "X-Drip: a\r\n");
  EXPECT_EQ(got.status, 408);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(Timeouts, RequestHeaderRunsFromTheFirstByte) {
  const Gateway gateway = gatewayWith("requestHeader: 300ms");
  Socket client = Socket::connect(gateway.port());
  client.send("P");  // not even the version is known
  EXPECT_EQ(readResponse(client).status, 408);
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(Timeouts, RequestHeaderEndsAnHttp2HeadThatIsNotCompleted) {
  const Gateway gateway = gatewayWith("requestHeader: 300ms");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::block(h2::get()), true, false));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(Timeouts, RequestHeaderLetsAHeadInPiecesPass) {
  const Gateway gateway = gatewayWith("requestHeader: 20s");
  Socket client = Socket::connect(gateway.port());
  for (const std::string piece : {"G", "ET / HT", "TP/1.1\r\nHos", "t: a\r\n\r", "\n"}) {
    client.send(piece);
    pause();
  }
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(gateway.limitHits("requestHeader"), 0);
}

TEST_F(Timeouts, RequestHeaderIsOfEachHeadAlone) {
  const Gateway gateway = gatewayWith("requestHeader: 1s");
  H2Client client(gateway.port());
  const auto request = [](std::uint32_t stream) { return h2::headers(stream, h2::get(), true); };
  client.send(request(1).substr(0, 15));
  for (std::uint32_t stream = 1; stream < 30;
       stream += 2) {  // longer than the timeout, and there is always half a head
    client.send(request(stream).substr(15) + request(stream + 2).substr(0, 15));
    ASSERT_TRUE(client.readStream(stream)) << stream;
    pause();
  }
  EXPECT_EQ(gateway.limitHits("requestHeader"), 0);
}

// --- bodyIdle
// -----------------------------------------------------------------------------------------------------------

TEST_F(Timeouts, BodyIdleEndsABodyThatDoesNotCome) {
  const Gateway gateway = gatewayWith("bodyIdle: 300ms");
  Socket client = Socket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
  const RawResponse got = readResponse(client);
  EXPECT_EQ(got.status, 408);
  EXPECT_THAT(got.body, HasSubstr("http_request_error"));
  EXPECT_TRUE(gateway.limitWasHit("bodyIdle"));
}

TEST_F(Timeouts, BodyIdleEndsABodyThatDrips) {
  const Gateway gateway = gatewayWith("bodyIdle: 300ms");
  Socket client = Socket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  EXPECT_EQ(drip(client, "x").status, 408);
  EXPECT_TRUE(gateway.limitWasHit("bodyIdle"));
}

TEST_F(Timeouts, BodyIdleAnswersAnHttp2StreamAndLetsTheOthersGoOn) {
  const Gateway gateway = gatewayWith("bodyIdle: 300ms");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post(), false) + h2::data(1, "abc", false));
  EXPECT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "408");
  client.send(h2::headers(3, h2::get(), true));
  EXPECT_TRUE(client.readStream(3));
  EXPECT_EQ(client.status(3), "200");
  EXPECT_TRUE(gateway.limitWasHit("bodyIdle"));
}

TEST_F(Timeouts, BodyIdleLetsASteadyBodyTakeLonger) {
  const Gateway gateway = gatewayWith("bodyIdle: 1s");
  Socket client = Socket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n");
  for (int i = 0; i < 15; ++i) {
    client.send(std::string(2000, 'x'));
    pause();
  }
  EXPECT_THAT(readResponse(client).body, HasSubstr("\"body_bytes\": 30000"));
  EXPECT_EQ(gateway.limitHits("bodyIdle"), 0);
}

// --- clientIdle
// ---------------------------------------------------------------------------------------------------------

TEST_F(Timeouts, ClientIdleEndsAConnectionThatSaysNothing) {
  const Gateway gateway = gatewayWith("clientIdle: 300ms");
  Socket client = Socket::connect(gateway.port());
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("clientIdle"));
}

TEST_F(Timeouts, ClientIdleEndsAConnectionBehindItsLastResponse) {
  const Gateway gateway = gatewayWith("clientIdle: 300ms");
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("clientIdle"));
}

TEST_F(Timeouts, ClientIdleSaysGoodbyeOverHttp2) {
  const Gateway gateway = gatewayWith("clientIdle: 300ms");
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::get(), true));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.status(1), "200");
  EXPECT_EQ(client.goawayCode(), h2error::kNoError);
  EXPECT_TRUE(gateway.limitWasHit("clientIdle"));
}

TEST_F(Timeouts, ClientIdleDoesNotCountTheTimeOfAnExchange) {
  const Gateway gateway = gatewayWith("clientIdle: 300ms");
  Socket client = Socket::connect(gateway.port());
  client.send("GET /delay-ms/1000 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST_F(Timeouts, ClientIdleKeepsAConnectionThatComesBack) {
  const Gateway gateway = gatewayWith("clientIdle: 20s");
  Socket client = Socket::connect(gateway.port());
  for (int i = 0; i < 3; ++i) {
    client.send(kGet);
    EXPECT_EQ(readResponse(client).status, 200);
    pause();
  }
  EXPECT_EQ(gateway.limitHits("clientIdle"), 0);
}

// --- tlsHandshake
// -------------------------------------------------------------------------------------------------------

TEST_F(Timeouts, TlsHandshakeEndsAClientThatNeverFinishesIt) {
  const Gateway gateway({.backends = {{.port = origin_.port()}},
                         .settings = timeouts("tlsHandshake: 300ms"),
                         .tls = issueServer(makeAuthority(), "listener.test")});
  for (const std::string& begun : {std::string(), std::string("\x16\x03\x01\x02", 4)}) {
    Socket client = Socket::connect(gateway.tlsPort());
    client.send(begun);
    EXPECT_EQ(client.readAll(), "");
    EXPECT_TRUE(client.closed());
  }
  EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"tlsHandshake\"}", 2));
}

TEST_F(Timeouts, TlsHandshakeDoesNotConcernWhatComesBehindIt) {
  const Gateway gateway({.backends = {{.port = origin_.port()}},
                         .settings = timeouts("tlsHandshake: 2s"),
                         .tls = issueServer(makeAuthority(), "listener.test")});
  const std::string url = "https://127.0.0.1:" + std::to_string(gateway.tlsPort()) + "/delay-ms/2500";
  EXPECT_THAT(run({"curl", "-sSik", url}).output, HasSubstr(" 200"));
  EXPECT_EQ(gateway.limitHits("tlsHandshake"), 0);
}

// --- connect
// ------------------------------------------------------------------------------------------------------------

/// A listener whose queue is full: the kernel answers no further SYN.
class FullListener {
 public:
  FullListener() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), length);
    listen(listener_.fd(), 0);
    getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    for (int i = 0; i < 4; ++i) {
      fillers_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      connect(fillers_.back().fd(), reinterpret_cast<sockaddr*>(&address), length);
    }
  }
  std::uint16_t port() const { return port_; }

 private:
  Socket listener_;
  std::vector<Socket> fillers_;
  std::uint16_t port_ = 0;
};

TEST(ConnectTimeout, EndsAConnectionThatIsNotAccepted) {
  const FullListener origin;
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("connect: 300ms")});
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  const RawResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("connection_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("connect"));
}

TEST(ConnectTimeout, BoundsTheTlsHandshakeWithTheBackendToo) {
  RawOrigin origin([](Socket&, RawOrigin& self) { self.waitUntilItStops(); });
  const Gateway gateway({.backends = {{.port = origin.port(), .ca = makeAuthority().certificate}},
                         .settings = timeouts("connect: 300ms")});
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  const RawResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("connection_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("connect"));
}

TEST(ConnectTimeout, DoesNotConcernWhatComesBehindIt) {
  const Identity authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  const Gateway gateway(
      {.backends = {{.port = origin.port(), .ca = authority.certificate}}, .settings = timeouts("connect: 2s")});
  EXPECT_THAT(run({"curl", "-sSi", gateway.url("/delay-ms/2500")}).output, HasSubstr(" 200"));
  EXPECT_EQ(gateway.limitHits("connect"), 0);
}

// --- streamIdle and request
// -----------------------------------------------------------------------------------------------

TEST(StreamIdle, EndsWaitingForABackendThatSaysNothing) {
  RawOrigin origin(silence());
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("streamIdle: 300ms")});
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  const RawResponse got = readResponse(client);
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

TEST(StreamIdle, CutsAResponseThatStopsInTheMiddle) {
  RawOrigin origin([](Socket& socket, RawOrigin& self) {
    if (!self.readHead(socket).empty())
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    self.waitUntilItStops();
  });
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("streamIdle: 300ms")});
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  EXPECT_THAT(client.readAll(), testing::Not(HasSubstr("0\r\n\r\n")));
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

TEST_F(Timeouts, StreamIdleCutsAClientThatTakesNothing) {
  const Gateway gateway = gatewayWith("streamIdle: 300ms");
  H2Client client(gateway.port(), std::string(h2::preface()) + h2::settings({{4, 0}}));  // a window that never opens
  client.send(h2::headers(1, h2::get("/bytes/1000"), true));
  EXPECT_TRUE(client.readFrame(H2Type::kRstStream, 1));
  EXPECT_TRUE(gateway.limitWasHit("streamIdle"));
}

TEST(StreamIdle, LetsASteadyResponseTakeLonger) {
  RawOrigin origin([](Socket& socket, RawOrigin& self) {
    if (self.readHead(socket).empty()) return;
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n");
    for (int i = 0; i < 15; ++i) {
      pause();
      socket.send("x");
    }
    self.waitUntilItStops();
  });
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("streamIdle: 1s")});
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  EXPECT_EQ(readResponse(client).body, std::string(15, 'x'));
  EXPECT_EQ(gateway.limitHits("streamIdle"), 0);
}

TEST(RequestTimeout, EndsAnExchangeHoweverMuchHappensInIt) {
  RawOrigin origin([](Socket& socket, RawOrigin& self) {
    if (self.readHead(socket).empty()) return;
    while (!self.stopping() && socket.send("HTTP/1.1 103 Early Hints\r\n\r\n")) pause();
  });
  const Gateway gateway({.backends = {{.port = origin.port()}},
                         .settings = timeouts("request: 500ms") + "limits: {informationalResponses: 1000}\n"});
  Socket client = Socket::connect(gateway.port());
  client.send(kGet);
  RawResponse got;
  while ((got = readResponse(client)).status == 103) {
  }
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("request"));
}

TEST_F(Timeouts, RequestLetsAnExchangeWithinItPass) {
  const Gateway gateway = gatewayWith("request: 20s");
  EXPECT_THAT(run({"curl", "-sSi", gateway.url("/delay-ms/300")}).output, HasSubstr(" 200 "));
  EXPECT_EQ(gateway.limitHits("request"), 0);
}

// --- upstreamIdle
// -----------------------------------------------------------------------------------------------------------

TEST(UpstreamIdle, ClosesAConnectionThatNobodyUses) {
  std::atomic<bool> ended = false;
  RawOrigin origin([&](Socket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send(kOk);
    ended = socket.closed() && !self.stopping();
  });
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("upstreamIdle: 300ms")});
  EXPECT_EQ(run({"curl", "-sS", gateway.url("/")}).output, "ok");
  EXPECT_TRUE(gateway.limitWasHit("upstreamIdle"));
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(run({"curl", "-sS", gateway.url("/")}).output, "ok") << "by another one";
  EXPECT_EQ(origin.connections(), 2);
}

TEST(UpstreamIdle, KeepsAConnectionThatIsUsedAgainInTime) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("upstreamIdle: 20s")});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run({"curl", "-sS", gateway.url("/")}).output, "ok");
    pause();
  }
  EXPECT_EQ(origin.connections(), 1);
  EXPECT_EQ(gateway.limitHits("upstreamIdle"), 0);
}

TEST(UpstreamIdle, DoesNotCountTheTimeOfAnExchange) {
  const EchoOrigin origin(std::nullopt);
  const Gateway gateway({.backends = {{.port = origin.port()}}, .settings = timeouts("upstreamIdle: 300ms")});
  EXPECT_THAT(run({"curl", "-sSi", gateway.url("/delay-ms/1000")}).output, HasSubstr(" 200 "));
}

}  // namespace
}  // namespace sluice::test
