// Tests HTTP/1.1 requests that must never reach an origin: the raw bytes get the right status, and the connection is
// closed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"
#include "test/support/client_hello.h"

namespace sluice::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

struct RawAttack {
  std::string what;
  std::string bytes;
  int status;  // 0: the connection may also close without an answer
};

/// Shares one gateway between all tests; its origin counts the requests that get through.
class H1Attacks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    origin_ = new RawOrigin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    gateway_ = new GatewayProcess(
        {.backends = {{.port = origin_->port()}}, .settings = "timeouts: {requestHeader: 60s, bodyIdle: 60s}\n"});
  }
  static void TearDownTestSuite() {
    delete gateway_;
    delete origin_;
  }

  /// Expects that no attack is forwarded, that each gets its status, and that the connection ends.
  static void expectRefused(const std::vector<RawAttack>& attacks) {
    for (const RawAttack& attack : attacks) {
      SCOPED_TRACE(attack.what);
      const std::size_t before = origin_->heads().size();
      BlockingSocket client = BlockingSocket::connect(gateway_->port());
      client.send(attack.bytes);
      const ReceivedResponse got = readResponse(client);
      EXPECT_EQ(got.status, attack.status) << got.head;
      EXPECT_EQ(client.readAll(), "") << "nothing may follow";
      EXPECT_TRUE(client.closed());
      EXPECT_EQ(origin_->heads().size(), before) << "was forwarded: " << origin_->heads().back();
    }
  }

  /// Returns the answer of a gateway whose timeout for the rest of a request is short and whose origin never answers.
  static ReceivedResponse askInVain(const std::string& bytes) {
    RawOrigin silent([](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); });
    const GatewayProcess gateway(
        {.backends = {{.port = silent.port()}}, .settings = "timeouts: {requestHeader: 300ms, bodyIdle: 300ms}\n"});
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(bytes);
    ReceivedResponse got = readResponse(client);
    client.readAll();
    EXPECT_TRUE(client.closed());
    return got;
  }

  static std::string get(const std::string& lines) { return "GET / HTTP/1.1\r\n" + lines + "\r\n"; }
  static std::string post(const std::string& lines, const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + body;
  }

  static RawOrigin* origin_;
  static GatewayProcess* gateway_;
};

RawOrigin* H1Attacks::origin_ = nullptr;
GatewayProcess* H1Attacks::gateway_ = nullptr;

TEST_F(H1Attacks, BothFramingsAreRefused) {
  expectRefused({
      {"CL.TE", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"TE.CL",
       post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\nGET /smug HTTP/1.1\r\nHost: a\r\n\r\n"),
       400},
  });
}

TEST_F(H1Attacks, TransferEncodingsOtherThanChunkedAreRefused) {
  std::vector<RawAttack> attacks;
  for (const std::string value : {"xchunked", "chunked, chunked", "identity, chunked", "chunked\x0b", "\"chunked\"",
                                  "chunked;q=1", "gzip, chunked", "identity", "", "chunked,", "chu nked"}) {
    const int status = value.find("gzip") == 0 || value == "identity" || value == "xchunked" ? 501 : 400;
    attacks.push_back(
        {"Transfer-Encoding: " + value, post("Transfer-Encoding: " + value + "\r\n", "0\r\n\r\n"), status});
  }
  for (RawAttack& attack : attacks) {
    SCOPED_TRACE(attack.what);
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(attack.bytes);
    EXPECT_THAT(readResponse(client).status, AnyOf(400, 501));
    EXPECT_EQ(client.readAll(), "");
  }
  expectRefused({{"twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
                 {"HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400}});
}

TEST_F(H1Attacks, ContentLengthsThatAreNotOneNumberAreRefused) {
  std::vector<RawAttack> attacks;
  for (const std::string value : {"+5", "-1", "0x5", "5, 5", "5,6", "", "5 5", "1e3", "18446744073709551616",
                                  "99999999999999999999", "5;", "\"5\"", "5\x0b"}) {
    attacks.push_back({"Content-Length: " + value, post("Content-Length: " + value + "\r\n", "hello"), 400});
  }
  attacks.push_back({"two equal", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400});
  attacks.push_back({"two different", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), 400});
  expectRefused(attacks);
}

TEST_F(H1Attacks, MalformedFieldLinesAreRefused) {
  expectRefused({
      {"empty name", get("Host: a\r\n: x\r\n"), 400},
      {"obsolete folding", get("Host: a\r\nX-A: b\r\n c\r\n"), 400},
      {"folding by tab", get("Host: a\r\nX-A: b\r\n\tc\r\n"), 400},
      {"space before the colon", get("Host : a\r\n"), 400},
      {"tab before the colon", get("Host: a\r\nContent-Length\t: 5\r\n"), 400},
      {"space before the first name", get(" Host: a\r\n"), 400},
      {"no colon", get("Host: a\r\nX-A\r\n"), 400},
      {"space within a name", get("Host: a\r\nX A: b\r\n"), 400},
      {"control in a value", get("Host: a\r\nX-A: b\x01\r\n"), 400},
      {"NUL in a value", get(std::string("Host: a\r\nX-A: b\0c\r\n", 19)), 400},
  });
}

TEST_F(H1Attacks, LinesThatDoNotEndInCrlfAreRefused) {
  expectRefused({
      {"bare LF everywhere", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare LF behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"bare LF behind a field", "GET / HTTP/1.1\r\nHost: a\nX-A: b\r\n\r\n", 400},
      {"bare CR in a value", get("Host: a\r\nX-A: b\rc\r\n"), 400},
      {"bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"bare LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
  });
}

TEST_F(H1Attacks, RequestLinesOutsideTheGrammarAreRefused) {
  expectRefused({
      {"HTTP/0.9", "GET /\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"lower-case protocol", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"trailing space", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TLS on a plain port",
       std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + std::string(64, 'x') + "\r\n\r\n", 400},
  });
}

TEST_F(H1Attacks, AClientOfTlsIsToldWhatThePortSpeaks) {
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send(clientHello("a.test"));
  const ReceivedResponse answer = readResponse(client);
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("this port speaks plain HTTP; use http:// or a listener with TLS"));
}

TEST_F(H1Attacks, ProxyProtocolIsRefused) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string addresses("\x7f\x00\x00\x01\x7f\x00\x00\x01\x04\xd2\x00\x50", 12);
  expectRefused({
      {"version 1", "PROXY TCP4 10.1.2.3 10.1.2.4 1234 80\r\n" + get, 400},
      {"version 1 of the unknown", "PROXY UNKNOWN\r\n" + get, 400},
      {"version 2", std::string("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", 16) + addresses + get, 400},
  });
}

TEST_F(H1Attacks, ChunksOutsideTheGrammarAreRefused) {
  const std::string te = "Transfer-Encoding: chunked\r\n";
  for (const std::string body :
       {"0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n", "5_\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n",
        "10000000000000000\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n", "5;a\nb\r\nhello\r\n0\r\n\r\n", "5;a\rb\r\nhello\r\n0\r\n\r\n",
        "g\r\nhello\r\n0\r\n\r\n"}) {
    SCOPED_TRACE(body);
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(post(te, body + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_EQ(readResponse(client).status, 400);
    EXPECT_EQ(client.readAll(), "");
    for (const std::string& head : origin_->heads()) EXPECT_THAT(head, Not(HasSubstr("/smuggled")));
  }
}

TEST_F(H1Attacks, AuthoritiesThatDisagreeAreRefused) {
  expectRefused({
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", get("Host: a\r\nHost: b\r\n"), 400},
      {"two equal Hosts", get("Host: a\r\nHost: a\r\n"), 400},
      {"absolute form of another host", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"userinfo", get("Host: user@a\r\n"), 400},
      {"path in Host", get("Host: a/b\r\n"), 400},
      {"space in Host", get("Host: a b\r\n"), 400},
      {"list in Host", get("Host: a, b\r\n"), 400},
      {"port out of range", get("Host: a:99999\r\n"), 400},
      {"port that is no number", get("Host: a:80x\r\n"), 400},
      {"another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"port of another scheme", "GET https://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"host that is encoded twice", get("Host: %2561\r\n"), 400},
      {"port that is encoded", get("Host: a%3a80\r\n"), 400},
  });
}

TEST_F(H1Attacks, PathsWithoutOneNormalFormAreRefused) {
  std::vector<RawAttack> attacks;
  for (const std::string target : {"/a/..%2fb", "/a%2F..%2Fb", "/a%5cb", "/a\\b", "/a%00b", "/../b", "/a/../../b",
                                   "/%2e%2e/b", "/a%zz", "/a%2", "/a#b", "/a\x80", "/a%0d%0ab"}) {
    attacks.push_back({target, "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", 400});
  }
  expectRefused(attacks);
}

TEST_F(H1Attacks, PathsWithDotSegmentsAreForwardedInTheirNormalForm) {
  for (const auto& [target, normal] :
       {std::pair("/a/./b/../c", "/a/c"), std::pair("//a///b", "//a///b"), std::pair("/a%2fb", "/a%2fb"),
        std::pair("/%61?%2f", "/%61?%2f"), std::pair("/a%3a/%2e/b", "/a%3A/b")}) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(readResponse(client).status, 200) << target;
    EXPECT_THAT(origin_->heads().back(), testing::StartsWith("GET " + std::string(normal) + " HTTP/1.1\r\n"));
  }
}

TEST_F(H1Attacks, HeadsBeyondTheirBoundsAreRefused) {
  std::string fields = "Host: a\r\n";
  for (int i = 0; i < 5000; ++i) fields += "x-" + std::to_string(i) + ": y\r\n";
  expectRefused({
      {"long request line", "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"long field", get("Host: a\r\nX-A: " + std::string(70'000, 'b') + "\r\n"), 431},
      {"many fields", get(fields), 431},
  });
}

TEST_F(H1Attacks, ADrippingHeadIsEndedByItsTimeout) {
  EXPECT_EQ(askInVain("GET / HTTP/1.1\r\nHost: a\r\nX-A: ").status, 408);
}

TEST_F(H1Attacks, ADrippingBodyIsEndedByItsTimeout) {
  EXPECT_EQ(askInVain(post("Content-Length: 100\r\n", "a few")).status, 408);
}

TEST_F(H1Attacks, UnknownExpectationsAreRefused) {
  expectRefused({{"two expectations", post("Expect: y 100-continue\r\nContent-Length: 5\r\n", "hello"), 417}});
}

TEST_F(H1Attacks, FieldsNamedByConnectionAreRemovedExceptTheGatewaysOwn) {
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send(
      get("Host: a\r\nConnection: keep-alive, x-secret, via, host\r\nX-Secret: 1\r\nKeep-Alive: 5\r\nProxy-Connection: "
          "x\r\n"
          "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nTE: gzip\r\nProxy-Authorization: Basic eA==\r\n"));
  EXPECT_EQ(readResponse(client).status, 200);
  const std::string head = origin_->heads().back();
  for (const char* gone :
       {"x-secret", "keep-alive", "proxy-connection", "upgrade", "http2-settings", "gzip", "proxy-authorization"}) {
    EXPECT_THAT(head, Not(HasSubstr(gone)));
  }
  EXPECT_THAT(head, HasSubstr("via: 1.1 sluice-"));
  EXPECT_THAT(head, testing::ContainsRegex("[Hh]ost: origin\\.test"));
}

TEST_F(H1Attacks, TheGatewayServesOnAfterAllAttacks) {
  EXPECT_EQ(run({"curl", "-s", gateway_->url("/")}).output, "ok");
}

}  // namespace
}  // namespace sluice::test
