// Tests the corners of HTTP/1.1's grammar (RFC 9112): valid messages pass unchanged, ambiguous ones are refused, and a
// message that ends early or late never becomes part of another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string lines(const std::string& requestLine, const std::string& fields = "Host: a\r\n") {
  return requestLine + " HTTP/1.1\r\n" + fields + "\r\n";
}

// --- requests, from the client to the origin ---

/// Shares one gateway before an origin that answers each head with its request line.
class H1Grammar : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    origin_ = new RawOrigin([](BlockingSocket& socket, RawOrigin& self) {
      for (std::string head; !(head = self.readHead(socket)).empty();) {
        const std::string line = head.substr(0, head.find("\r\n"));
        socket.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(line.size()) + "\r\n\r\n");
        if (!head.starts_with("HEAD")) socket.send(line);
      }
    });
    gateway_ = new GatewayProcess({.backends = {{.port = origin_->port()}}});
  }
  static void TearDownTestSuite() {
    delete gateway_;
    delete origin_;
  }

  static RawOrigin* origin_;
  static GatewayProcess* gateway_;
};

RawOrigin* H1Grammar::origin_ = nullptr;
GatewayProcess* H1Grammar::gateway_ = nullptr;

TEST_F(H1Grammar, AuthoritiesHaveOneFormOrNone) {
  const struct {
    std::string target;
    std::string host;
    int status;
  } kCases[] = {
      {"/", "EXAMPLE.com", 200},
      {"/", "example.com.", 200},
      {"/", "example.com:0", 200},
      {"/", "example.com:80", 200},
      {"/", "[::1]:8080", 200},
      {"/", "[2001:DB8::1]", 200},
      {"/", "127.0.0.1", 200},
      {"/", "example.com:", 200},
      {"/", "example.com:65536", 400},
      {"/", "example.com:8a", 400},
      {"/", "[::1", 400},
      {"/", "::1", 400},
      {"/", "[::1]x", 400},
      {"/", "[fe80::1%25eth0]", 400},
      {"/", "u@example.com", 400},
      {"/", "a..b", 400},
      {"/", ".", 400},
      {"/", "", 400},
      {"/", "a,b", 400},
      {"/", "a b", 400},
      {"/", "ex%61mple.com", 200},
      {"/", "ex%2fmple.com", 400},
      {"/", "a/b", 400},
      {"/", std::string(256, 'a'), 400},
      {"http://EXAMPLE.com/x", "example.com", 200},
      {"http://a", "a", 200},
      {"http://a?q", "a", 200},
      {"http://a/x", "b", 400},
      {"http://a:80/x", "a", 200},
      {"http://a:81/x", "a", 400},
      {"http://u@a/x", "a", 400},
      {"https://a/x", "a", 200},
      {"http:///x", "a", 400},
      {"http://a#f", "a", 400},
      {"ftp://a/", "a", 400},
  };
  for (const auto& c : kCases) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(lines("GET " + c.target, "Host: " + c.host + "\r\n"));
    EXPECT_EQ(readResponse(client).status, c.status) << c.target << " at " << c.host;
  }
}

TEST_F(H1Grammar, AsteriskIsForwardedToTheBackend) {
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send(lines("OPTIONS *") + lines("OPTIONS http://a"));
  EXPECT_EQ(readResponse(client).body, "OPTIONS * HTTP/1.1");
  EXPECT_EQ(readResponse(client).body, "OPTIONS * HTTP/1.1") << "RFC 9112 section 3.2.4";
}

TEST_F(H1Grammar, AnEmptyPostStatesItsLength) {
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  for (const char* fields : {"Host: a\r\n", "Host: a\r\nContent-Length: 0\r\n"}) {
    client.send(lines("POST /", fields));
    EXPECT_EQ(readResponse(client).status, 200);
    EXPECT_THAT(origin_->heads().back(), HasSubstr("\r\ncontent-length: 0\r\n"));
  }
  client.send(lines("DELETE /"));
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_THAT(origin_->heads().back(), Not(HasSubstr("content-length")));
}

TEST_F(H1Grammar, PipelinedRequestsAreAnsweredInOrderUpToTheFirstBadOne) {
  const std::size_t before = origin_->heads().size();
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send(lines("GET /1") + lines("HEAD /2") + lines("POST /3", "Host: a\r\nContent-Length: 0\r\n") +
              lines("GET /4", "Host: a\r\nHost: b\r\n") + lines("GET /smug"));
  EXPECT_EQ(readResponse(client).body, "GET /1 HTTP/1.1");
  EXPECT_EQ(readResponse(client, true).status, 200);
  EXPECT_EQ(readResponse(client).body, "POST /3 HTTP/1.1");
  const ReceivedResponse refusal = readResponse(client);
  EXPECT_EQ(refusal.status, 400);
  EXPECT_EQ(refusal.field("connection"), "close");
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(origin_->heads().size(), before + 3);
}

TEST_F(H1Grammar, NothingIsReadAfterConnectionClose) {
  for (const char* option : {"close", "keep-alive, CLOSE", "x-a,close,"}) {
    const std::size_t before = origin_->heads().size();
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(lines("GET /", "Host: a\r\nConnection: " + std::string(option) + "\r\n") + lines("GET /smug"));
    const ReceivedResponse got = readResponse(client);
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.field("connection"), "close");
    EXPECT_EQ(client.readAll(), "");
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(origin_->heads().size(), before + 1);
  }
}

TEST_F(H1Grammar, Http10ClientsStayConnectedOnlyIfTheyAsk) {
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send("GET /1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n");
  EXPECT_EQ(readResponse(client).field("connection"), "keep-alive");
  const ReceivedResponse last = readResponse(client);
  EXPECT_EQ(last.body, "GET /2 HTTP/1.1");
  EXPECT_EQ(last.field("connection"), "close");
  EXPECT_EQ(client.readAll(), "");
}

TEST_F(H1Grammar, ALoneCrHidesNoField) {
  const std::size_t before = origin_->heads().size();
  for (const std::string& request :
       {lines("POST /", "Host: a\r\n\r\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + lines("GET /smug"),
        lines("POST /", "Host: a\r\n\r\r\nContent-Length: 100\r\n") + lines("GET /smug"),
        lines("GET /", "Host: a\r\n\rX: y\r\n")}) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(request);
    EXPECT_EQ(readResponse(client).status, 400);
    EXPECT_EQ(client.readAll(), "");
  }
  EXPECT_EQ(origin_->heads().size(), before);
}

TEST_F(H1Grammar, FieldsOfExactlyTheirBoundPass) {
  // "host: a" and the other field line count 32 bytes each besides their own.
  const std::string atBound(64 * 1024 - (4 + 1 + 32) - (3 + 32), 'b');
  for (const auto& [value, status] : {std::pair(atBound, 200), std::pair(atBound + "b", 431)}) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(lines("GET /", "Host: a\r\nx-a: " + value + "\r\n"));
    EXPECT_EQ(readResponse(client).status, status);
    if (status == 200) {
      EXPECT_THAT(origin_->heads().back(), HasSubstr(value));
    }
  }
  const std::string line(16 * 1024 - std::string("GET / HTTP/1.1").size(), 'p');
  for (const auto& [path, status] : {std::pair(line, 200), std::pair(line + "p", 414)}) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(lines("GET /" + path));
    EXPECT_EQ(readResponse(client).status, status);
  }
}

// --- bodies ----------------------------------------------------------------------------------------------------------

// The upload is larger than every window, and the next requests follow right behind it: none of its bytes may be read
// as one of them.
TEST(H1Bodies, UploadsBeyondTheWindowKeepTheRequestsAfterThem) {
  EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  std::string body;
  while (body.size() < 2'000'000) body += lines("GET /smug") + "0\r\n\r\n";
  std::string chunks;
  for (std::size_t at = 0; at < body.size(); at += 70'000) {
    const std::string chunk = body.substr(at, 70'000);
    char size[16];
    snprintf(size, sizeof size, "%zx\r\n", chunk.size());
    chunks += size + chunk + "\r\n";
  }
  const std::string upload =
      lines("POST /upload", "Host: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n") + body +
      lines("POST /upload", "Host: a\r\nTransfer-Encoding: chunked\r\n") + chunks + "0\r\nX-Sum: 1\r\n\r\n" +
      lines("GET /1");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  std::thread sender([&] { client.send(upload); });
  for (int i = 0; i < 2; ++i) {
    const ReceivedResponse got = readResponse(client);
    EXPECT_EQ(got.status, 200);
    EXPECT_THAT(got.body, HasSubstr(std::to_string(body.size()))) << got.body.substr(0, 300);
  }
  EXPECT_THAT(readResponse(client).body, HasSubstr("\"/1\""));
  sender.join();
}

struct Exchanged {
  ReceivedResponse response;
  std::string rest;
};

// Returns the response that a client gets when the origin answers with `answer`.
Exchanged relayed(const std::string& answer, const std::string& request, bool bodiless = false) {
  RawOrigin origin(RawOrigin::answering(answer));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(request);
  Exchanged got;
  got.response = readResponse(client, bodiless);
  client.shutdownWrite();
  got.rest = client.readAll();
  return got;
}

TEST(H1Responses, HeadOfAChunkedAnswerHasNoBody) {
  const Exchanged got = relayed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", lines("HEAD /"), true);
  EXPECT_EQ(got.response.status, 200);
  EXPECT_EQ(got.response.field("content-length"), std::nullopt);
  EXPECT_EQ(got.rest, "");
}

// Some clients and servers distinguish the case of names, although they must not (RFC 9110 section 5.1).
TEST_F(H1Grammar, NamesKeepTheirCaseTowardsTheOrigin) {
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send(lines("GET /",
                    "Host: a\r\nSOAPAction: \"urn:x\"\r\nx-MiXed: 1\r\nX-A-Name-Of-More-Than-Thirty-Two-Bytes: 2\r\n"
                    "X_Odd!: 3\r\nCookie: a\r\nCookie: b\r\n"));
  EXPECT_EQ(readResponse(client).status, 200);
  const std::string head = origin_->heads().back();
  for (const char* line : {"SOAPAction: \"urn:x\"", "x-MiXed: 1", "X-A-Name-Of-More-Than-Thirty-Two-Bytes: 2",
                           "X_Odd!: 3", "Cookie: a; b", "via: 1.1 sluice-"}) {
    EXPECT_THAT(head, HasSubstr("\r\n" + std::string(line)));
  }
}

TEST(H1Responses, NamesKeepTheirCase) {
  const Exchanged got = relayed(
      "HTTP/1.1 200 OK\r\nX-RateLimit-Remaining: 7\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-SUM: "
      "1\r\n\r\n",
      lines("GET /"), true);
  EXPECT_THAT(got.response.head, HasSubstr("\r\nX-RateLimit-Remaining: 7\r\nETag: \"a\"\r\n"));
  EXPECT_EQ(got.rest, "0\r\nX-SUM: 1\r\n\r\n");
}

TEST(H1Responses, NotModifiedKeepsALengthWithoutABody) {
  const Exchanged got =
      relayed("HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\nETag: \"a\"\r\n\r\n", lines("GET /"), true);
  EXPECT_EQ(got.response.status, 304);
  EXPECT_EQ(got.response.field("content-length"), "1234");
  EXPECT_EQ(got.rest, "");
}

TEST(H1Responses, Http10ClientsGetNoChunksNoTrailersAndNoInterims) {
  const Exchanged got = relayed(
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true);
  EXPECT_EQ(got.response.status, 200);
  EXPECT_EQ(got.response.field("transfer-encoding"), std::nullopt);
  EXPECT_EQ(got.response.field("connection"), "close");
  EXPECT_EQ(got.rest, "hello");
}

TEST(H1Responses, InterimsComeBeforeTheFinalOne) {
  RawOrigin origin(
      RawOrigin::answering("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: close\r\n\r\n"
                           "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(lines("GET /"));
  EXPECT_THAT(client.readUntil("\r\n\r\n"), StartsWith("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"));
  EXPECT_THAT(client.readUntil("\r\n\r\n"), StartsWith("HTTP/1.1 102 Processing\r\n"));
  EXPECT_EQ(readResponse(client).body, "ok");
}

TEST(H1Responses, TrailersKeepOnlyFieldsAllowedInThem) {
  const Exchanged got = relayed(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
      "X-Sum: 1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: b\r\nConnection: close\r\nSet-Cookie: "
      "a\r\n\r\n",
      lines("GET /"), true);
  EXPECT_EQ(got.response.status, 200);
  EXPECT_EQ(got.rest, "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n");
}

TEST(H1Responses, ABodyUntilTheEndOfTheConnectionIsDelimitedAnew) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    if (!self.readHead(socket).empty())
      socket.send("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 2; ++i) {
    client.send(lines("GET /"));
    EXPECT_EQ(readResponse(client).body, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }
}

// Something in front of the gateway may have ended TLS, as with ":scheme: https" over HTTP/2.
TEST_F(H1Grammar, AbsoluteFormsOfBothSchemesAreServed) {
  for (const char* target : {"http://a/x", "HTTPS://A/x", "https://%61:443/x", "https://a:/x"}) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send(lines(std::string("GET ") + target));
    EXPECT_EQ(readResponse(client).body, "GET /x HTTP/1.1") << target;
  }
}

// --- one form of the path, for matching ---

std::string markingRule(const std::string& type, const std::string& value, const std::string& mark) {
  return "    - matches: [{path: {type: " + type + ", value: " + value +
         "}}]\n      filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-rule, value: " +
         mark + "}]}}]\n      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: ";
}

// These thirty spellings have led to /admin in other proxies. The normal form of the path chooses the rule, whatever
// the Backend gets, or the request is refused. No dot segment gets through.
TEST(PathConfusion, TheNormalFormChoosesTheRule) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const std::string port = std::to_string(origin.port()) + "}]\n";
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}},
       .routes = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: paths}\n"
                 "spec:\n  parentRefs: [{name: egress}]\n  rules:\n" +
                 markingRule("Exact", "/admin", "exact") + port + markingRule("PathPrefix", "/admin", "prefix") + port +
                 markingRule("PathPrefix", "/", "all") + port});
  const struct {
    std::string path;
    std::string rule;            // empty: the request is refused
    std::string forwarded = {};  // empty: the path as it was sent
  } kCases[] = {{"/admin", "exact"},
                {"/admin/", "prefix"},
                {"/admin/x", "prefix"},
                {"/adminx", "all"},
                {"/public/../admin", "exact", "/admin"},
                {"//admin", "exact"},
                {"/./admin", "exact", "/admin"},
                {"/%61dmin", "exact"},
                {"/%2e%2e/admin", ""},
                {"/a/%2e%2e/%61dmin", "exact", "/admin"},
                {"/a/..%2fadmin", ""},
                {"/a%2f..%2fadmin", ""},
                {"/a/..%5cadmin", ""},
                {"/a\\..\\admin", ""},
                {"/admin;x=1", "all"},
                {"/admin/;x", "prefix"},
                {"/a/..;/admin", ""},
                {"/.;/admin", ""},
                {"/admin%00", ""},
                {"/admin%20", "all"},
                {"/ADMIN", "all"},
                {"/admin?x=%2f", "exact"},
                {"/admin#x", ""},
                {"/%c0%ae%c0%ae/admin", "all"},
                {"/%252e%252e/admin", "all"},
                {"/a/b/../../admin/../admin", "exact", "/admin"},
                {"/admin/..", "all", "/"},
                {"/admin/.", "prefix", "/admin/"},
                {"/%u0061dmin", ""},
                {"/admin%2f", ""}};
  for (const auto& each : kCases) {
    SCOPED_TRACE(each.path);
    const std::size_t before = origin.heads().size();
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(lines("GET " + each.path));
    EXPECT_EQ(readResponse(client).status, each.rule.empty() ? 400 : 200);
    ASSERT_EQ(origin.heads().size(), before + (each.rule.empty() ? 0 : 1));
    if (each.rule.empty()) continue;
    const std::string head = origin.heads().back();
    EXPECT_THAT(head, StartsWith("GET " + (each.forwarded.empty() ? each.path : each.forwarded) + " HTTP/1.1"));
    EXPECT_THAT(head, HasSubstr("\r\nx-rule: " + each.rule + "\r\n"));
  }
}

}  // namespace
}  // namespace sluice::test
