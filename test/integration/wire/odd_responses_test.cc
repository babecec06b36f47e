// Tests responses of origins that are odd and still clear: they are passed on, and a fault behind a head that has not
// left is an error of the gateway.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMostFields = 200;

/// Returns a gateway that sends everything to an origin of HTTP/2 without TLS.
GatewaySpec towardsHttp2(const RawOrigin& origin) {
  return {.backends = {{.port = origin.port()}},
          .routes = routeOfRules("    - backendRefs: [{group: sluice.dev, kind: Backend, name: two}]\n") +
                    "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: two}\n"
                    "spec: {destination: {type: Fqdn, fqdn: {hostname: origin.test}, ports: [{number: " +
                    std::to_string(origin.port()) + ", protocol: HTTP2}]}}\n"};
}

TEST(OddResponses, OverHttp11ArePassedOn) {
  Changing<std::string> answer;
  const RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    if (!self.readHead(socket).empty()) socket.send(answer.get());
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const auto ask = [&](const std::string& sent) {
    answer.set(sent);
    return askRaw(gateway.port());
  };
  EXPECT_EQ(ask("HTTP/1.1 999 Request denied\r\nContent-Length: 1\r\n\r\nx").status, 999);
  const ReceivedResponse spaced = ask("HTTP/1.1 200 OK\r\nX-A \t: b\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_EQ(spaced.status, 200);
  EXPECT_THAT(spaced.head, HasSubstr("\r\nX-A: b\r\n"));
  const std::string identity = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n";
  EXPECT_EQ(ask(identity + "Content-Length: 1\r\n\r\nx").body, "x");
  EXPECT_EQ(ask(identity + "\r\n1\r\nx\r\n0\r\n\r\n").body, "1\r\nx\r\n0\r\n\r\n") << "until the end";
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(ask(chunked + "1 ; a = b\r\nx\r\n0\r\n\r\n").body, "x");
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx").status, 502);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n").status, 502);
}

TEST(OddResponses, WithTheCodingIdentityAreTheLastOnTheirConnection) {
  RawOrigin origin(
      RawOrigin::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nx"
                           "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(askRaw(client).body, "x");
  EXPECT_EQ(origin.connections(), 3);
}

TEST(OddResponses, OverHttp2ArePassedOn) {
  Changing<H2Lines> head;
  RawOrigin origin(
      RawOrigin::answeringOverHttp2([&](std::uint32_t stream) { return h2::headers(stream, head.get(), true); }));
  const GatewayProcess gateway(towardsHttp2(origin));
  head.set({{":status", "204"}, {"content-length", "5"}});
  EXPECT_EQ(askRaw(gateway.port(), kGet, true).status, 204);
  EXPECT_EQ(askRaw(gateway.port(), kGet, true).field("content-length"), std::nullopt);
  head.set({{":status", "999"}});
  EXPECT_EQ(askRaw(gateway.port()).status, 999);
  H2Lines lines = {{":status", "200"}};
  lines.insert(lines.end(), kMostFields, {"x-a", "1"});
  head.set(lines);
  EXPECT_EQ(askRaw(gateway.port()).status, 200);
  EXPECT_EQ(gateway.limitHits("responseFields"), 0);
  lines.emplace_back("x-a", "1");
  head.set(lines);
  EXPECT_EQ(askRaw(gateway.port()).status, 502);
  EXPECT_TRUE(gateway.limitWasHit("responseFields"));
}

/// Asks the gateway over both versions, and expects an error that says why.
void expectErrors(const GatewayProcess& gateway) {
  const ReceivedResponse got = askRaw(gateway.port());
  EXPECT_EQ(got.status, 502);
  EXPECT_THAT(got.body, HasSubstr("\"limit\":\"responseFields\""));
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::get("/"), true));
  EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
  EXPECT_EQ(client.status(1), "502");
}

TEST(OddResponses, WithTooLargeTrailersAreErrorsIfTheirHeadHasNotLeft) {
  std::string trailers;
  for (std::size_t i = 0; i <= kMostFields; ++i) trailers += "x-a: 1\r\n";
  RawOrigin one(
      RawOrigin::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + trailers + "\r\n"));
  expectErrors(GatewayProcess({.backends = {{.port = one.port()}}}));
  RawOrigin two(RawOrigin::answeringOverHttp2([](std::uint32_t stream) {
    return h2::headers(stream, {{":status", "200"}}, false) + h2::data(stream, "x", false) +
           h2::headers(stream, H2Lines(kMostFields + 1, {"x-a", "1"}), true);
  }));
  expectErrors(GatewayProcess(towardsHttp2(two)));
}

}  // namespace
}  // namespace sluice::test
