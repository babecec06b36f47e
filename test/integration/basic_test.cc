// Tests requests through the gateway, and the requests that the origin gets, for every pair of HTTP versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct VersionPair {
  const char* name;
  const char* clientOption;  // option of curl
  const char* clientVersion;
  const char* originOption;  // option of sluice-echo
  const char* originVersion;

  friend void PrintTo(const VersionPair& pair, std::ostream* out) { *out << pair.name; }
};

class VersionPairs : public testing::TestWithParam<VersionPair> {
 protected:
  CertifiedKey authority_ = makeAuthority();
  EchoOrigin origin_{issueServer(authority_, "origin.test"), {GetParam().originOption}};
  GatewayProcess gateway_{{.backends = {{.port = origin_.port(), .ca = authority_.certificate}}}};

  ProgramOutcome curl(std::vector<std::string> more) {
    std::vector<std::string> argv = {"curl", "-sS", "--max-time", "20", GetParam().clientOption};
    argv.insert(argv.end(), more.begin(), more.end());
    return run(argv);
  }
};

INSTANTIATE_TEST_SUITE_P(Pairs, VersionPairs,
                         testing::Values(VersionPair{"H1ToH1", "--http1.1", "1.1", "--h1-only", "1.1"},
                                         VersionPair{"H1ToH2", "--http1.1", "1.1", "--h2-only", "2"},
                                         VersionPair{"H2ToH1", "--http2-prior-knowledge", "2", "--h1-only", "1.1"},
                                         VersionPair{"H2ToH2", "--http2-prior-knowledge", "2", "--h2-only", "2"},
                                         VersionPair{"H10ToH1", "--http1.0", "1.1", "--h1-only", "1.1"},
                                         VersionPair{"H10ToH2", "--http1.0", "1.1", "--h2-only", "2"}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_P(VersionPairs, TheOriginGetsItsOwnNameAndTheUnchangedRequest) {
  const ProgramOutcome got =
      curl({"-w", "\n%{http_code} %{http_version}", "-H", "X-One: a", gateway_.url("/some/path?q=1&r=%20")});
  EXPECT_THAT(got.output, HasSubstr(std::string("\n200 ") + GetParam().clientVersion)) << got.errors;
  EXPECT_EQ(echoed(got.output, "method"), "GET");
  EXPECT_EQ(echoed(got.output, "target"), "/some/path?q=1&r=%20");
  EXPECT_EQ(echoed(got.output, "authority"), "origin.test:" + std::to_string(origin_.port()));
  EXPECT_EQ(echoed(got.output, "sni"), "origin.test");
  EXPECT_EQ(echoed(got.output, "version"), GetParam().originVersion);
  EXPECT_THAT(got.output, HasSubstr("\"x-one: a\""));
  // The gateway answers HTTP/1.0 in HTTP/1.1, but the request was in 1.0.
  const bool isHttp10 = GetParam().clientOption == std::string("--http1.0");
  const std::string received = isHttp10 ? "1.0" : GetParam().clientVersion;
  EXPECT_THAT(got.output, HasSubstr("\"via: " + received + " sluice-"));
  EXPECT_THAT(got.output, Not(HasSubstr("x-forwarded-")));
}

TEST_P(VersionPairs, ThePathArrivesAsItWasSpelled) {
  const struct {
    std::string sent;
    std::string received = {};  // empty: the same
  } kCases[] = {{"/%41b%2fc?x=%2f%41"},
                {"//a%2F%3a~%7e//"},
                {"/model/arn%3Aaws%3aprofile%2Fabc/converse"},
                {"/%2ewell-known/%c3%A9;v=%31"},
                {"/%61/./b%3a?%61", "/a/b%3A?%61"},
                {"/x/%2e%2e/%61//b", "/a//b"}};
  // One run each: curl 7.88 cannot use a connection of HTTP/2 again that it has begun with prior knowledge.
  for (const auto& each : kCases) {
    const ProgramOutcome got = curl({"--path-as-is", gateway_.url(each.sent)});
    EXPECT_EQ(echoed(got.output, "target"), each.received.empty() ? each.sent : each.received) << got.errors;
  }
}

TEST_P(VersionPairs, BodiesArriveWholeBothWays) {
  const TempDir folder;
  std::string body;
  for (int i = 0; body.size() < 3'000'000; ++i) body += std::to_string(i) + ",";
  const std::string sent = folder.write("sent", body);
  const std::string received = folder.path() + "/received";
  const ProgramOutcome got =
      curl({"--data-binary", "@" + sent, "-o", received, "-w", "%{http_code}", gateway_.url("/echo")});
  EXPECT_EQ(got.output, "200") << got.errors;
  EXPECT_EQ(run({"cmp", sent, received}).exitCode, 0);
}

TEST_P(VersionPairs, HeadAndNoContentHaveNoBody) {
  EXPECT_THAT(curl({"-I", gateway_.url("/bytes/1234")}).output, HasSubstr("ontent-"));
  EXPECT_EQ(curl({"-w", "%{http_code} %{size_download}", gateway_.url("/status/204")}).output, "204 0");
  EXPECT_EQ(curl({"-w", "%{http_code} %{size_download}", gateway_.url("/status/304")}).output, "304 0");
}

TEST_P(VersionPairs, AnAnswerOfUnstatedLengthArrivesWhole) {
  EXPECT_EQ(curl({"-o", "/dev/null", "-w", "%{http_code} %{size_download}", gateway_.url("/chunked/200000")}).output,
            "200 200000");
}

TEST_P(VersionPairs, TheClientGetsTheBodyAndItsTrailers) {
  EXPECT_THAT(curl({"-i", "-H", "TE: trailers", gateway_.url("/trailers")}).output,
              HasSubstr("a body with trailers\n"));
}

TEST_P(VersionPairs, EveryExchangeIsOneLineOfTheAccessLog) {
  curl({gateway_.url("/log/me?secret=1")});
  const auto lines = gateway_.accessLog(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("/log/me"));
  EXPECT_THAT(lines[0], Not(HasSubstr("secret")));
  EXPECT_THAT(lines[0], HasSubstr("test/all"));
}

TEST(HttpsListener, OffersBothVersionsByAlpn) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  const TempDir folder;
  const std::string ca = folder.write("ca.crt", authority.certificate);
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}},
                                .tls = issueServer(authority, "gateway.test")});
  const std::string port = std::to_string(gateway.tlsPort());
  for (const auto& [option, version] : {std::pair("--http1.1", "1.1"), std::pair("--http2", "2")}) {
    const ProgramOutcome got =
        run({"curl", "-sS", option, "--cacert", ca, "--resolve", "gateway.test:" + port + ":127.0.0.1", "-w",
             "\nHTTP/%{http_version}", "https://gateway.test:" + port + "/"});
    EXPECT_THAT(got.output, HasSubstr(std::string("\nHTTP/") + version)) << got.errors;
    EXPECT_EQ(echoed(got.output, "target"), "/");
  }
}

TEST(PlainBackend, SpeaksHttp11) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const ProgramOutcome got = run({"curl", "-sS", gateway.url("/plain")});
  EXPECT_EQ(echoed(got.output, "version"), "1.1") << got.output << got.errors;
}

TEST(LocalReplies, AreProblemDocumentsWithACode) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .hostname = "only.test"});
  const ProgramOutcome none = run({"curl", "-sS", "-i", "-H", "Host: other.test", gateway.url("/")});
  EXPECT_THAT(none.output, HasSubstr(" 404 "));
  EXPECT_THAT(none.output, HasSubstr("application/problem+json"));
  EXPECT_THAT(none.output, HasSubstr("destination_not_found"));
}

TEST(LocalReplies, ReportThatAnOriginRefusesConnections) {
  const GatewayProcess gateway({.backends = {{.port = freePort()}}});
  const ProgramOutcome got = run({"curl", "-sS", "-i", gateway.url("/")});
  EXPECT_THAT(got.output, HasSubstr(" 503 "));
  EXPECT_THAT(got.output, HasSubstr("connection_refused"));
}

TEST(Interim, EarlyHintsReachTheClientBeforeTheAnswer) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET /interim HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.readUntil("\r\n\r\n"), testing::StartsWith("HTTP/1.1 103"));
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST(Interim, ContinueComesFromTheOriginAndTheBodyAfterIt) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_THAT(client.readUntil("\r\n\r\n"), testing::StartsWith("HTTP/1.1 100"));
  client.send("hello");
  EXPECT_THAT(readResponse(client).body, HasSubstr("\"body_bytes\": 5"));
}

TEST(Connections, PipelinedRequestsAreAnsweredInOrder) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  std::string batch;
  for (int i = 0; i < 20; ++i)
    batch += "GET /delay-ms/" + std::to_string(20 - i) + "?n=" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(batch);
  for (int i = 0; i < 20; ++i) EXPECT_THAT(readResponse(client).body, HasSubstr("?n=" + std::to_string(i) + "\""));
}

TEST(Connections, AreLoggedWithTheirClientIfTheyEndWithTheAnswer) {
  const EchoOrigin origin(std::nullopt);
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "clientHalfClose: Allow\n"});
  for (const char* more : {"Connection: close\r\n\r\n", "\r\n"}) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(std::string("GET / HTTP/1.1\r\nHost: a\r\n") + more);
    client.shutdownWrite();
    EXPECT_EQ(readResponse(client).status, 200);
    EXPECT_EQ(client.readAll(), "");
  }
  for (const std::string& line : gateway.accessLog(2)) {
    EXPECT_THAT(line, HasSubstr("\"client.address\":\"127.0.0.1\""));
    EXPECT_THAT(line, HasSubstr("\"url.scheme\":\"http\""));
  }
}

TEST(Connections, OfClientsThatLeaveWhileTheyWaitEndTheRequestsAtTheOrigin) {
  std::atomic<int> told = 0;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.readAll();
    if (socket.closed() && !self.stopping()) ++told;
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  int left = 0;
  const auto leaves = [&](const auto& leave) {
    ++left;
    ASSERT_TRUE(eventually([&] { return origin.heads().size() == static_cast<std::size_t>(left); }));
    leave();
    EXPECT_TRUE(eventually([&] { return told == left; })) << left;
  };
  BlockingSocket ending = BlockingSocket::connect(gateway.port());
  ending.send(kGet);
  leaves([&] { ending.shutdownWrite(); });
  EXPECT_EQ(ending.readAll(), "");
  BlockingSocket resetting = BlockingSocket::connect(gateway.port());
  resetting.send(kGet);
  leaves([&] { resetting.reset(); });
  for (const std::string& line : gateway.accessLog(2)) {
    EXPECT_THAT(line, HasSubstr("\"error.type\":\"connection_terminated\""));
  }
}

TEST(Connections, OfClientsThatEndTheirSideAreAnsweredWhereThatIsAllowed) {
  HeldOrigin origin;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "clientHalfClose: Allow\n"});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  client.shutdownWrite();
  EXPECT_EQ(askRaw(gateway.port(), "GET /other HTTP/1.1\r\n\r\n").status, 400) << "the worker has seen the end";
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST(Connections, AreReusedTowardsTheOrigin) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 10; ++i) {
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(readResponse(client).body, "ok");
  }
  EXPECT_EQ(origin.connections(), 1);
}

}  // namespace
}  // namespace sluice::test
