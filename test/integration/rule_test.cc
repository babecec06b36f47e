// Tests redirects and timeouts of rules, by curl and nghttp through the binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// --- redirects

class Redirects : public testing::Test {
 protected:
  /// Returns head and body of the answer to one request; `more` are further options of curl.
  std::string ask(const std::string& redirect, const std::string& path, const std::vector<std::string>& more = {}) {
    const GatewayProcess gateway({.backends = {{.port = origin_.port()}},
                                  .routes = routeOfRules("    - matches: [{path: {value: /old}}]\n"
                                                         "      filters: [{type: RequestRedirect, requestRedirect: {" +
                                                         redirect + "}}]\n    -\n" + backendRefs())});
    port_ = std::to_string(gateway.port());
    return test::ask(gateway, path, more);
  }
  EchoOrigin origin_{std::nullopt};
  std::string port_;
};

TEST_F(Redirects, SendTheClientElsewhere) {
  const std::string answer =
      ask("scheme: https, hostname: new.test, statusCode: 301", "/old/page?q=1", {"-H", "Host: shop.test"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 301 Moved Permanently\r\n"));
  EXPECT_THAT(answer, HasSubstr("location: https://new.test/old/page?q=1\r\n"));
  EXPECT_THAT(answer, HasSubstr("content-length: 0\r\n"));
}

TEST_F(Redirects, ReplaceThePrefixAndKeepTheListenersPort) {
  const std::string answer = ask("path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}", "/old/page");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 302 Found\r\n"));
  EXPECT_THAT(answer, HasSubstr("location: http://127.0.0.1:" + port_ + "/new/page\r\n"));
}

TEST_F(Redirects, AreFollowedByARealClient) {
  const std::string answer =
      ask("path: {type: ReplaceFullPath, replaceFullPath: /found}, statusCode: 307", "/old", {"-L", "--data", "kept"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 307 Temporary Redirect\r\n"));
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(echoed(answer, "target"), "/found");
  EXPECT_EQ(echoed(answer, "method"), "POST");
}

TEST_F(Redirects, AreSentOverHttp2Too) {
  const std::string answer =
      ask("hostname: new.test, port: 443, scheme: https, statusCode: 308", "/old", {"--http2-prior-knowledge"});
  EXPECT_THAT(answer, HasSubstr("HTTP/2 308"));
  EXPECT_THAT(answer, HasSubstr("location: https://new.test/old\r\n"));
}

TEST_F(Redirects, TakeTheTrafficOfTheirBackendsWeight) {
  const GatewayProcess gateway(
      {.backends = {{.port = origin_.port()}},
       .routes = routeOfRules("    -\n" + backendRefs(", filters: [{type: RequestRedirect, requestRedirect: "
                                                      "{hostname: share.test, statusCode: 303, port: 80}}]"))});
  const std::string answer = run({"curl", "-sS", "-i", gateway.url("/x")}).output;
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 303 See Other\r\n"));
  EXPECT_THAT(answer, HasSubstr("location: http://share.test/x\r\n"));
}

TEST_F(Redirects, AreNoErrorsInTheAccessLog) {
  GatewayProcess gateway({.backends = {{.port = origin_.port()}},
                          .routes = routeOfRules("    - filters: [{type: RequestRedirect, requestRedirect: {}}]\n")});
  EXPECT_EQ(run({"curl", "-sS", "-o", "/dev/null", gateway.url("/")}).exitCode, 0);
  const auto lines = gateway.accessLog(1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("\"http.response.status_code\":302,\"error.type\":null"));
}

// --- timeouts of a rule

class RuleTimeouts : public testing::Test {
 protected:
  GatewayProcess gatewayWith(const std::string& timeouts, const std::string& settings = {}) {
    return GatewayProcess({.backends = {{.port = origin_.port()}},
                           .settings = settings,
                           .routes = routeOfRules("    - timeouts: {" + timeouts + "}\n" + backendRefs()),
                           .startedBy = time_.startedBy()});
  }
  /// Sends a request to an origin that never answers, and returns what the client gets once `after` has passed.
  ReceivedResponse askInVain(const GatewayProcess& gateway, std::chrono::seconds after) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(eventually([&] {
      return gateway.adminGet("/exchanges").find(R"("requestState":"sent","responseState":"waiting")") !=
             std::string::npos;
    }));
    time_.pass(gateway, after);
    return readResponse(client);
  }
  ReceivedResponse ask(const GatewayProcess& gateway, const std::string& target) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return readResponse(client);
  }
  EchoOrigin origin_{std::nullopt};
  PassedTime time_;
};

TEST_F(RuleTimeouts, RequestEndsAWholeRequest) {
  const GatewayProcess gateway = gatewayWith("request: 40s");
  const ReceivedResponse got = askInVain(gateway, std::chrono::seconds(40));
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("request"));
  EXPECT_EQ(ask(gateway, "/").status, 200);
}

TEST_F(RuleTimeouts, BackendRequestEndsAnAttempt) {
  const GatewayProcess gateway = gatewayWith("backendRequest: 40s");
  const ReceivedResponse got = askInVain(gateway, std::chrono::seconds(40));
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("http_response_timeout"));
  EXPECT_TRUE(gateway.limitWasHit("backendRequest"));
  EXPECT_EQ(ask(gateway, "/").status, 200);
}

TEST_F(RuleTimeouts, BackendRequestEndsAResponseThatDoesNotEnd) {
  RawOrigin endless([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun");
    self.waitUntilItStops();
  });
  const GatewayProcess gateway({.backends = {{.port = endless.port()}},
                                .routes = routeOfRules("    - timeouts: {backendRequest: 40s}\n" + backendRefs()),
                                .startedBy = time_.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.readUntil("begun"), testing::EndsWith("\r\n\r\nbegun"));
  time_.pass(gateway, std::chrono::seconds(40));
  EXPECT_EQ(client.readAll(), "");
  EXPECT_TRUE(client.closed()) << "a cut response must not look like a whole one";
}

TEST_F(RuleTimeouts, RequestOverridesThatOfTheSettings) {
  EXPECT_EQ(ask(gatewayWith("request: 0s", "timeouts: {request: 100ms}\n"), "/delay-ms/400").status, 200);
  EXPECT_EQ(ask(gatewayWith("backendRequest: 10s", "timeouts: {request: 100ms}\n"), "/silent").status, 504);
}

}  // namespace
}  // namespace sluice::test
