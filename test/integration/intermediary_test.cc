// Tests the duties of every intermediary by RFC 9110: Via, Max-Forwards and Date, from curl to an origin that shows the
// request that it got.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr const char* kWithoutDate = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

TEST(Via, NamesTheVersionInWhichTheRequestCame) {
  RawOrigin origin(RawOrigin::answering(kWithoutDate));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const struct {
    const char* option;
    const char* via;
  } kCases[] = {{"--http1.0", "\r\nvia: 1.0 sluice-"},
                {"--http1.1", "\r\nvia: 1.1 sluice-"},
                {"--http2-prior-knowledge", "\r\nvia: 2 sluice-"}};
  for (const auto& each : kCases) {
    EXPECT_EQ(statusOf(gateway, "/", {each.option}), "200") << each.option;
    EXPECT_THAT(origin.heads().back(), HasSubstr(each.via));
  }
}

TEST(MaxForwards, IsCountedDownInOptionsAndTrace) {
  RawOrigin origin(RawOrigin::answering(kWithoutDate));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  for (const char* method : {"OPTIONS", "TRACE"}) {
    for (const auto& [sent, forwarded] : {std::pair("2", "1"), std::pair("1", "0")}) {
      EXPECT_EQ(statusOf(gateway, "/", {"-X", method, "-H", "Max-Forwards: " + std::string(sent)}), "200") << method;
      EXPECT_THAT(origin.heads().back(), HasSubstr("\r\nmax-forwards: " + std::string(forwarded) + "\r\n"));
    }
  }
  EXPECT_EQ(statusOf(gateway, "/", {"-H", "Max-Forwards: 2"}), "200");
  EXPECT_THAT(origin.heads().back(), HasSubstr("\r\nMax-Forwards: 2\r\n")) << "it has no meaning in GET";
  const std::size_t before = origin.heads().size();
  EXPECT_EQ(statusOf(gateway, "/", {"-X", "OPTIONS", "-H", "Max-Forwards: 0"}), "204");
  EXPECT_EQ(statusOf(gateway, "/", {"-X", "TRACE", "-H", "Max-Forwards: 0"}), "501");
  EXPECT_EQ(statusOf(gateway, "/", {"-X", "OPTIONS", "-H", "Max-Forwards: many"}), "400");
  EXPECT_EQ(origin.heads().size(), before);
}

// A client that takes the gateway for a forward proxy.
TEST(Connect, IsNotAllowed) {
  RawOrigin origin(RawOrigin::answering(kWithoutDate));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const ProgramOutcome refused =
      run({"curl", "-sS", "-i", "--proxy", gateway.url(""), "--proxytunnel", "http://origin.test/"});
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.output, HasSubstr("HTTP/1.1 405 Method Not Allowed"));
  EXPECT_THAT(refused.output, HasSubstr("\r\nallow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE\r\n"));
  EXPECT_TRUE(origin.heads().empty());
}

TEST(Date, IsAddedWhereTheOriginSendsNone) {
  RawOrigin origin(RawOrigin::answering(kWithoutDate));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const std::string date = ".*\r\n[Dd]ate: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT\r\n.*";
  EXPECT_THAT(ask(gateway, "/"), MatchesRegex(date));
  EXPECT_THAT(ask(gateway, "/", {"--http2-prior-knowledge"}), MatchesRegex(date));
}

TEST(Date, OfTheOriginStays) {
  const std::string theirs = "Sun, 06 Nov 1994 08:49:37 GMT";
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nDate: " + theirs + "\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr(theirs));
  EXPECT_THAT(answer.substr(answer.find(theirs) + theirs.size()), Not(HasSubstr("GMT")));
}

TEST(Date, IsInTheGatewaysOwnAnswers) {
  const GatewayProcess gateway({.backends = {{.port = freePort()}}});
  EXPECT_THAT(ask(gateway, "/"), MatchesRegex("HTTP/1.1 503 .*\r\n[Dd]ate: [A-Z][a-z]{2}, .* GMT\r\n.*"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.readAll(), MatchesRegex("HTTP/1.1 400 .*\r\n[Dd]ate: [A-Z][a-z]{2}, .* GMT\r\n.*"));
}

// RFC 9112 section 3.
TEST(RequestLine, ThatIsTooLongIs414OrForItsMethod501) {
  const GatewayProcess gateway({.backends = {{.port = freePort()}}, .settings = "limits: {requestLineBytes: 100}\n"});
  const std::string long200(200, 'A');
  const struct {
    std::string line;
    int status;
  } kCases[] = {{"GET /" + long200 + " HTTP/1.1\r\n", 414}, {long200 + " / HTTP/1.1\r\n", 501}, {long200, 501}};
  for (const auto& each : kCases) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(each.line);
    EXPECT_EQ(readResponse(client).status, each.status) << each.line;
  }
}

}  // namespace
}  // namespace sluice::test
