// Tests HTTP/2 requests to an origin that speaks HTTP/1.1: bytes that could begin a line, a message or a second reading
// there are refused, and none of them gets through (RFC 9113 sections 8.1.1, 8.2 and 10.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kSmuggled = "GET /smug HTTP/1.1\r\nHost: a\r\n\r\n";

/// Shares one gateway between all vectors; its origin records every byte and serves one request per connection.
class H2Downgrade : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    seen_.clear();
    taken_ = 0;
    origin_ = new RawOrigin([](BlockingSocket& socket, RawOrigin&) {
      std::string bytes = socket.readUntil("\r\n\r\n");
      if (bytes.starts_with("GET /fine")) {
        socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
      }
      bytes += socket.readAll();
      const std::lock_guard lock(mutex_);
      seen_.push_back(bytes);
    });
    gateway_ = new GatewayProcess({.backends = {{.port = origin_->port()}}});
  }
  static void TearDownTestSuite() {
    delete gateway_;
    delete origin_;
  }

  /// Returns a request that is well-formed but for the given lines.
  static std::string request(const H2Lines& lines, const std::string& body = {}) {
    const std::string head = h2::headers(1, lines, body.empty());
    return body.empty() ? head : head + h2::data(1, body, true);
  }
  static H2Lines with(const std::string& name, const std::string& value, H2Lines lines = h2::get("/bad")) {
    lines.emplace_back(name, value);
    return lines;
  }
  /// Returns that request with another value in the pseudo-header field `name`.
  static H2Lines instead(const std::string& name, const std::string& value) {
    H2Lines lines = h2::get("/bad");
    for (auto& line : lines) {
      if (line.first == name) line.second = value;
    }
    return lines;
  }
  static H2Lines without(const std::string& name) {
    H2Lines lines = h2::get("/bad");
    std::erase_if(lines, [&](const auto& line) { return line.first == name; });
    return lines;
  }

  /// Expects RST_STREAM, GOAWAY or 4xx (501 for another protocol than websocket), and no bytes at the origin.
  static void expectRefused(const std::string& what, const std::string& frames) {
    SCOPED_TRACE(what);
    sendAndSettle(frames);
    EXPECT_THAT(takeSeen(), ElementsAre(kFine));
  }
  /// Expects that the backend gets at most a part of the request, on a connection that serves no other request: the
  /// head was valid and had been forwarded before the rest turned out to be malformed.
  static void expectCut(const std::string& what, const std::string& frames) {
    SCOPED_TRACE(what);
    sendAndSettle(frames);
    for (const std::string& bytes : takeSeen()) {
      if (bytes == kFine) continue;
      EXPECT_THAT(bytes, StartsWith("POST /bad HTTP/1.1"));
      EXPECT_THAT(bytes, Not(AnyOf(HasSubstr("smug"), HasSubstr("GET"), HasSubstr("\r\n0\r\n"))));
    }
  }

  static void sendAndSettle(const std::string& frames) {
    H2Client client(gateway_->port());
    client.send(frames);
    EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
    EXPECT_THAT(client.status(1), AnyOf("", StartsWith("4"), "501"));
  }
  /// Returns the bytes of each connection since the last call, and one harmless request as kFine. That request has a
  /// connection of its own, the last to be accepted, so everything sent to the origin earlier is in the connections
  /// whose end this function waits for.
  static std::vector<std::string> takeSeen() {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET /fine HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(readResponse(client).status, 200);
    const auto ended = [] {
      const std::lock_guard lock(mutex_);
      return taken_ + seen_.size();
    };
    EXPECT_TRUE(eventually([&] { return ended() == static_cast<std::size_t>(origin_->connections()); }));
    const std::lock_guard lock(mutex_);
    taken_ += seen_.size();
    std::vector<std::string> taken;
    for (const std::string& bytes : std::exchange(seen_, {})) {
      if (bytes.empty()) continue;
      const bool fine = bytes.starts_with("GET /fine HTTP/1.1\r\n") && bytes.find("\r\n\r\n") == bytes.size() - 4;
      taken.push_back(fine ? kFine : bytes);
    }
    return taken;
  }

  static constexpr const char* kFine = "one harmless request";
  static std::mutex mutex_;
  static std::vector<std::string> seen_;  // from connections that have ended
  static std::size_t taken_;
  static RawOrigin* origin_;
  static GatewayProcess* gateway_;
};

std::mutex H2Downgrade::mutex_;
std::vector<std::string> H2Downgrade::seen_;
std::size_t H2Downgrade::taken_ = 0;
RawOrigin* H2Downgrade::origin_ = nullptr;
GatewayProcess* H2Downgrade::gateway_ = nullptr;

TEST_F(H2Downgrade, FieldValuesCannotBeginALine) {
  const std::string nul(1, '\0');
  for (const std::string& value :
       {std::string("1\r\nx-b: 2"), "1\r\n\r\n" + kSmuggled, std::string("1\nb"), std::string("1\rb"), "a" + nul + "b",
        std::string("\r\n"), std::string("a\x7f"), std::string("a\x01"), std::string(" a"), std::string("a ")}) {
    expectRefused("x-a: " + value, request(with("x-a", value)));
    expectRefused("cookie: " + value, request(with("cookie", value)));
  }
}

TEST_F(H2Downgrade, FieldNamesAreLowerCaseTokens) {
  for (const std::string& name :
       {std::string("X-Upper"), std::string("x a"), std::string("x:a"), std::string("x-a: b"),
        std::string("x-a\r\nx-b"), std::string("x-a\nb"), std::string("x\0a", 3), std::string(""), std::string("x\x80"),
        std::string("x(a)"), std::string("Transfer-Encoding"), std::string(" x-a"), std::string("x-a "),
        std::string(":unknown"), std::string("x-a: b\r\n\r\nGET /smug HTTP/1.1\r\nx")}) {
    expectRefused(name, request(with(name, "1")));
  }
}

TEST_F(H2Downgrade, PseudoHeaderFieldsStayWithinTheirGrammar) {
  const std::vector<std::pair<std::string, std::string>> cases = {{":method", "GET / HTTP/1.1\r\nx: y"},
                                                                  {":method", "GET /"},
                                                                  {":method", ""},
                                                                  {":method", "G\nT"},
                                                                  {":method", std::string("G\0T", 3)},
                                                                  {":method", "CONNECT"},
                                                                  {":path", "/a HTTP/1.1\r\nx: y"},
                                                                  {":path", "/a b"},
                                                                  {":path", "/a\tb"},
                                                                  {":path", "/a\nb"},
                                                                  {":path", std::string("/a\0b", 4)},
                                                                  {":path", ""},
                                                                  {":path", "a"},
                                                                  {":path", "*"},
                                                                  {":path", "http://evil/"},
                                                                  {":path", "/a#b"},
                                                                  {":path", "/\x80"},
                                                                  {":path", "/../admin"},
                                                                  {":path", "/%2e%2e/admin"},
                                                                  {":path", "/..%2fb"},
                                                                  {":path", "/a%5cb"},
                                                                  {":path", "/a%00b"},
                                                                  {":authority", "a\r\nx: y"},
                                                                  {":authority", "a b"},
                                                                  {":authority", "user@a"},
                                                                  {":authority", "a:1:2"},
                                                                  {":authority", "a/b"},
                                                                  {":authority", "a:99999"},
                                                                  {":authority", std::string("a\0b", 3)},
                                                                  {":scheme", "file"},
                                                                  {":scheme", "http\r\nx: y"},
                                                                  {":scheme", ""},
                                                                  {":scheme", "http://evil/?"}};
  for (const auto& [name, value] : cases) expectRefused(name + " " + value, request(instead(name, value)));
}

// RFC 9113 section 8.3.1: a balancer in front of a cleartext listener may have ended TLS.
TEST_F(H2Downgrade, AnHttpsSchemeIsServedWithoutTls) {
  H2Lines lines = h2::get("/fine");
  for (auto& line : lines) {
    if (line.first == ":scheme") line.second = "https";
  }
  H2Client client(gateway_->port());
  client.send(request(lines));
  EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
  EXPECT_EQ(client.status(1), "200");
  takeSeen();
}

TEST_F(H2Downgrade, PseudoHeaderFieldsComeOnceAndFirst) {
  for (const char* name : {":method", ":scheme", ":path", ":authority"}) {
    expectRefused(std::string("no ") + name, request(without(name)));
    H2Lines twice = h2::get("/bad");
    twice.insert(twice.begin(), twice.front());
    for (const auto& line : h2::get("/bad")) {
      if (line.first == name) twice.front() = line;
    }
    expectRefused(std::string("two ") + name, request(twice));
    H2Lines late = without(name);
    late.emplace_back("x-a", "1");
    for (const auto& line : h2::get("/bad")) {
      if (line.first == name) late.push_back(line);
    }
    expectRefused(std::string("late ") + name, request(late));
  }
  expectRefused("a response's", request(with(":status", "200")));
  expectRefused("extended CONNECT", request(with(":protocol", "connect-udp", instead(":method", "CONNECT"))));
  expectRefused("a protocol without CONNECT", request(with(":protocol", "websocket")));
}

TEST_F(H2Downgrade, ConnectionSpecificFieldsAreMalformed) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"connection", "close"},
                                                                                    {"connection", "x-a"},
                                                                                    {"keep-alive", "5"},
                                                                                    {"proxy-connection", "close"},
                                                                                    {"transfer-encoding", "chunked"},
                                                                                    {"transfer-encoding", "identity"},
                                                                                    {"transfer-encoding", ""},
                                                                                    {"upgrade", "h2c"},
                                                                                    {"te", "gzip"},
                                                                                    {"te", "trailers, chunked"},
                                                                                    {"te", ""}}) {
    expectRefused(name, request(with(name, value)));
    expectRefused(name + " with a body", request(with(name, value, h2::post("/bad")), "0\r\n\r\n" + kSmuggled));
  }
}

TEST_F(H2Downgrade, LengthsMatchTheBody) {
  for (const char* value :
       {"-1", "+5", "0x5", "5, 5", "", "5 ", "18446744073709551616", "9223372036854775808", "5\r\nx: y"}) {
    expectRefused(value, request(with("content-length", value, h2::post("/bad")), "hello"));
  }
  expectRefused("two lengths",
                request(with("content-length", "5", with("content-length", "5", h2::post("/bad"))), "hello"));
  expectRefused("a length without a body", request(with("content-length", "5")));
  expectCut("a body beyond its length", request(with("content-length", "0", h2::post("/bad")), kSmuggled));
  expectCut("a body behind its length", request(with("content-length", "1", h2::post("/bad")), kSmuggled));
  expectCut("a body before its length", request(with("content-length", "50", h2::post("/bad")), "hello"));
}

TEST_F(H2Downgrade, HostMatchesTheAuthority) {
  expectRefused("another host", request(with("host", "other.test")));
  expectRefused("two hosts", request(with("host", "example.com", with("host", "example.com"))));
  expectRefused("a host of two lines", request(with("host", "example.com\r\nx: y")));
  expectRefused("another port", request(with("host", "example.com:81")));
  expectRefused("neither", request(without(":authority")));
}

TEST_F(H2Downgrade, TrailersFollowTheRulesOfFields) {
  const auto trailers = [](const std::string& name, const std::string& value) {
    return h2::headers(1, h2::post("/bad"), false) + h2::headers(1, H2Lines{{name, value}}, true);
  };
  expectCut("a line break", trailers("x-a", "1\r\n\r\n" + kSmuggled));
  expectCut("an upper-case name", trailers("X-A", "1"));
  expectCut("a pseudo-header field", trailers(":path", "/smug"));
  expectCut("a connection-specific field", trailers("transfer-encoding", "chunked"));
  expectCut("trailers that do not end the stream",
            h2::headers(1, h2::post("/bad"), false) + h2::headers(1, H2Lines{{"x-a", "1"}}, false));
}

}  // namespace
}  // namespace sluice::test
