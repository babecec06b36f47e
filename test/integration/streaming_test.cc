// Tests bodies larger than any buffer between peers of different speed: nothing is lost, and memory stays bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;
// limits.exchangeBuffer applies to each way; the sockets' own buffers are in the kernel, and the remaining memory is
// for the sanitizers.
constexpr std::size_t kBoundKib = 24 * 1024;

class Streaming : public testing::TestWithParam<const char*> {
 protected:
  CertifiedKey authority_ = makeAuthority();
  EchoOrigin origin_{issueServer(authority_, "origin.test"), {GetParam()}};
  GatewayProcess gateway_{{.backends = {{.port = origin_.port(), .ca = authority_.certificate}}}};
};

INSTANTIATE_TEST_SUITE_P(Upstream, Streaming, testing::Values("--h1-only", "--h2-only"),
                         [](const auto& given) { return given.param == std::string("--h1-only") ? "H1" : "H2"; });

TEST_P(Streaming, ASlowClientHoldsBackAFastOrigin) {
  const std::string size = std::to_string(200 * kMiB);
  run({"curl", "-s", gateway_.url("/bytes/1000")});
  const std::size_t before = gateway_.process().residentKib();
  BlockingSocket client = BlockingSocket::connect(gateway_.port(), 16 * 1024);
  client.send("GET /bytes/" + size + " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.readUntil("\r\n\r\n"), testing::StartsWith("HTTP/1.1 200"));
  // While the client reads only a little, every buffer behind it is full.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.readExactly(10'000).size(), 10'000u);
  EXPECT_LT(gateway_.process().residentKib(), before + kBoundKib);
  const std::size_t rest = 20 * kMiB;
  EXPECT_EQ(client.readExactly(rest).size(), rest);
  EXPECT_LT(gateway_.process().residentKib(), before + kBoundKib);
}

TEST_P(Streaming, BothDirectionsRunAtOnce) {
  BlockingSocket client = BlockingSocket::connect(gateway_.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 50; ++i) {
    const std::string part = "part " + std::to_string(100 + i);
    client.send("8\r\n" + part + "\r\n");
    EXPECT_THAT(client.readUntil(part), testing::EndsWith(part));
  }
  client.send("0\r\n\r\n");
  EXPECT_THAT(client.readUntil("0\r\n\r\n"), testing::EndsWith("0\r\n\r\n"));
}

TEST_P(Streaming, AnEarlyAnswerArrivesWhileTheUploadGoesOn) {
  BlockingSocket client = BlockingSocket::connect(gateway_.port());
  client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
  EXPECT_EQ(readResponse(client).status, 200);
}

// The response is more than sockets hold, so it has begun and has not ended.
TEST_P(Streaming, AResponseThatHasBegunGoesOnToAClientThatEndsItsSide) {
  constexpr std::size_t kLong = 30'000'000;
  BlockingSocket client = BlockingSocket::connect(gateway_.port());
  client.send("GET /bytes/" + std::to_string(kLong) + " HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string head = client.readUntil("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
  client.shutdownWrite();
  EXPECT_EQ(client.readAll().size(), kLong);
}

TEST(SlowOrigins, HoldBackAFastClient) {
  RawOrigin slow([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  });
  GatewayProcess gateway({.backends = {{.port = slow.port()}}, .settings = "drainTimeout: 100ms\n"});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
  const std::size_t before = gateway.process().residentKib();
  const std::string block(4 * kMiB, 'x');
  std::size_t sent = 0;
  for (int i = 0; i < 10; ++i) sent += client.sendSome(block, std::chrono::milliseconds(50));
  EXPECT_LT(sent, 40 * kMiB) << "the client was held back";
  EXPECT_LT(gateway.process().residentKib(), before + kBoundKib);
}

TEST(SlowReaders, AreHeldBackByTheWindowOverHttp2) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}}});
  const ProgramOutcome got = run({"nghttp", "-w", "10", "-W", "10", "-n", "-v", gateway.url("/bytes/3000000")});
  EXPECT_EQ(got.exitCode, 0) << got.errors;
  EXPECT_THAT(got.output, testing::HasSubstr(":status: 200"));
}

}  // namespace
}  // namespace sluice::test
