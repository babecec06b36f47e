// The WebSocket handshake (RFC 6455 section 4): requests that ask for a tunnel, and answers that agree to it.
#include "proxy/http/tunnel.h"

#include <gtest/gtest.h>

#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

struct HandshakeRequest {
  std::string_view method = "GET";
  Version version = Version::kHttp11;
  std::vector<std::pair<std::string_view, std::string_view>> fields = {{"host", "a"},
                                                                       {"connection", "Upgrade"},
                                                                       {"upgrade", "websocket"},
                                                                       {"sec-websocket-key", kKey},
                                                                       {"sec-websocket-version", "13"}};
  /// Replaces the fields of that name.
  HandshakeRequest& with(std::string_view name, std::vector<std::string_view> values) {
    std::erase_if(fields, [&](const auto& field) { return field.first == name; });
    for (const std::string_view value : values) fields.emplace_back(name, value);
    return *this;
  }
};

class Handshake : public testing::Test {
 protected:
  base::Result<RequestHead> check(const HandshakeRequest& asked) {
    RawRequest raw;
    raw.method = asked.method;
    raw.target = "/chat";
    raw.version = asked.version;
    for (const auto& [name, value] : asked.fields) raw.fields.add(arena_, name, value);
    return checkRequest(arena_, raw, Scheme::kHttp);
  }
  bool asksForATunnel(const HandshakeRequest& asked) {
    const auto head = check(asked);
    EXPECT_TRUE(head.ok());
    if (!head.ok()) return false;
    EXPECT_EQ(head->headers.find(FieldId::kUpgrade), nullptr);
    EXPECT_EQ(head->tunnel == Tunnel::kWebSocket, head->body == Body::kTunnel);
    return head->body == Body::kTunnel;
  }
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(Handshake, AsksForATunnel) {
  const auto head = check({});
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->body, Body::kTunnel);
  EXPECT_NE(head->headers.find("sec-websocket-version"), nullptr);
  EXPECT_EQ(webSocketKey(head->headers), kKey);
  EXPECT_TRUE(asksForATunnel(HandshakeRequest().with("upgrade", {"WebSocket"})));
  EXPECT_TRUE(asksForATunnel(HandshakeRequest().with("connection", {"keep-alive, upgrade"})));
  EXPECT_TRUE(asksForATunnel(HandshakeRequest().with("sec-websocket-version", {"99"}))) << "the backend judges";
  EXPECT_TRUE(asksForATunnel(HandshakeRequest().with("content-length", {"0"})));
}

// RFC 8441 section 5.
TEST_F(Handshake, IsAskedForByExtendedConnectWithoutAKey) {
  const auto extended = [this](std::string_view protocol, std::string_view extra, std::string_view method = "CONNECT") {
    RawRequest raw;
    raw.method = method;
    raw.target = "/chat";
    raw.scheme = "http";
    raw.authority = "a";
    raw.protocol = protocol;
    raw.version = Version::kHttp2;
    raw.fields.add(arena_, "sec-websocket-version", "13");
    if (!extra.empty()) raw.fields.add(arena_, extra, extra == "content-length" ? "5" : kKey);
    return checkRequest(arena_, raw, Scheme::kHttp);
  };
  const auto head = extended("websocket", "sec-websocket-key");
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->body, Body::kTunnel);
  EXPECT_EQ(head->method, Method::kGet);
  EXPECT_EQ(head->methodText, "GET");
  EXPECT_EQ(head->headers.find("sec-websocket-key"), nullptr);
  EXPECT_NE(head->headers.find("sec-websocket-version"), nullptr);
  EXPECT_EQ(extended("connect-udp", "").error().status, 501);
  EXPECT_EQ(extended("", "").error().status, 405);
  EXPECT_EQ(extended("websocket", "content-length").error().status, 400);
  EXPECT_EQ(extended("websocket", "", "GET").error().status, 400);
}

// An upgrade must name WebSocket, and nothing else, and Connection must name the field.
TEST_F(Handshake, AsksForNothingIfItIsNotWhole) {
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("upgrade", {"h2c"})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("upgrade", {"websocket, h2c"})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("upgrade", {"websocket", "h2c"})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("upgrade", {"websocket/13"})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("upgrade", {})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("connection", {})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("connection", {"keep-alive"})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("connection", {"upgrade, sec-websocket-key"})));
  EXPECT_FALSE(asksForATunnel({.method = "POST"}));
  EXPECT_FALSE(asksForATunnel({.version = Version::kHttp10}));
  for (const std::string_view key :
       {"", "short==", "dGhlIHNhbXBsZSBub25jZQ=a", "dGhlIHNhbXBsZSBub25jZ*==", "dGhlIHNhbXBsZSBub25jZQ==="}) {
    EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("sec-websocket-key", {key}))) << key;
  }
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("sec-websocket-key", {})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("sec-websocket-key", {kKey, kKey})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("content-length", {"5"})));
  EXPECT_FALSE(asksForATunnel(HandshakeRequest().with("transfer-encoding", {"chunked"})));
}

class Agreement : public testing::Test {
 protected:
  using Lines = std::vector<std::pair<std::string_view, std::string_view>>;
  bool agrees(const Lines& lines, Version version = Version::kHttp11) {
    RawResponse raw;
    raw.status = 101;
    raw.version = version;
    for (const auto& [name, value] : lines) raw.fields.add(arena_, name, value);
    const auto head = checkSwitch(arena_, raw, Tunnel::kWebSocket, kAccept);
    if (!head.ok()) return false;
    EXPECT_EQ(head->body, Body::kTunnel);
    EXPECT_EQ(head->tunnel, Tunnel::kWebSocket);
    EXPECT_EQ(head->headers.find(FieldId::kUpgrade), nullptr);
    return true;
  }
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(Agreement, NamesTheProtocolAndAnswersTheKey) {
  EXPECT_TRUE(agrees({{"upgrade", "WebSocket"}, {"connection", "Upgrade"}, {"sec-websocket-accept", kAccept}}));
  EXPECT_TRUE(agrees({{"connection", "keep-alive, upgrade"},
                      {"upgrade", "websocket"},
                      {"content-length", "0"},
                      {"sec-websocket-accept", kAccept}}));
}

// A 101 must fit the request.
TEST_F(Agreement, RefusesAnythingLess) {
  EXPECT_FALSE(agrees({}));
  EXPECT_FALSE(agrees({{"upgrade", "websocket"}, {"sec-websocket-accept", kAccept}}));
  EXPECT_FALSE(agrees({{"connection", "upgrade"}, {"sec-websocket-accept", kAccept}}));
  EXPECT_FALSE(agrees({{"connection", "upgrade"}, {"upgrade", "h2c"}, {"sec-websocket-accept", kAccept}}));
  EXPECT_FALSE(agrees({{"connection", "upgrade"}, {"upgrade", "websocket"}}));
  EXPECT_FALSE(agrees({{"connection", "upgrade"}, {"upgrade", "websocket"}, {"sec-websocket-accept", kKey}}));
  EXPECT_FALSE(agrees({{"connection", "upgrade"},
                       {"upgrade", "websocket"},
                       {"transfer-encoding", "chunked"},
                       {"sec-websocket-accept", kAccept}}));
  EXPECT_FALSE(agrees({{"connection", "upgrade"}, {"upgrade", "websocket"}, {"sec-websocket-accept", kAccept}},
                      Version::kHttp10));
}

}  // namespace
}  // namespace sluice::http
