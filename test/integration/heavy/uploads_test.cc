// Sends many large uploads at once through a step that buffers each whole: all of them together must stay within
// limits.processorBufferTotal.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

constexpr int kUploads = 64;
constexpr std::size_t kPieces = 800;  // of 64 KiB: 50 MB
constexpr std::size_t kTotalMib = 256;
// This covers memory other than the bodies: each connection and its window, the allocator's overhead, and evicted
// bodies, which are freed only at the end of the round while each connection may bring 128 KiB more in it.
constexpr std::size_t kBesideMib = 32;

class Uploads : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Lengths, Uploads, testing::Bool(),
                         [](const auto& given) { return given.param ? "Stated" : "Unknown"; });

/// Returns the status of one upload, or 0 if the gateway closed the connection.
int upload(std::uint16_t port, bool stated, const std::string& piece) {
  const std::string begin = R"({"model": "x", "text": ")";
  const std::string end = R"("})";
  const std::size_t length = begin.size() + kPieces * piece.size() + end.size();
  BlockingSocket socket = BlockingSocket::connect(port);
  socket.send("POST / HTTP/1.1\r\nHost: any.test\r\nContent-Type: application/json\r\n" +
              (stated ? "Content-Length: " + std::to_string(length) : "Transfer-Encoding: chunked") + "\r\n\r\n");
  const auto send = [&](const std::string& bytes) {
    if (stated) return socket.send(bytes);
    char size[32];
    std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
    return socket.send(size + bytes + "\r\n");
  };
  bool taken = send(begin);
  for (std::size_t i = 0; taken && i < kPieces; ++i) taken = send(piece);
  if (taken && send(end) && !stated) socket.send("0\r\n\r\n");
  return readResponse(socket).status;
}

TEST_P(Uploads, StayWithinTheSharedLimitThroughABufferingStep) {
  if (programPath("sluice", true) == programPath("sluice")) GTEST_SKIP() << "build/release is not there";
  const EchoOrigin origin(std::nullopt, {}, true);
  GatewaySpec spec;
  spec.backends = {{.port = origin.port()}};
  spec.routes = routeOfRules(
      "    - filters: [{type: PayloadProcessing, payloadProcessing: [{name: model, type: 'sluice.dev/BodyRouter:v1', "
      "phase: request-body}]}]\n" +
      backendRefs());
  spec.settings = "limits: {processorBuffer: 64Mi, processorBufferTotal: " + std::to_string(kTotalMib) + "Mi}\n";
  spec.workers = 2;
  spec.release = true;
  GatewayProcess gateway(spec);
  const std::size_t before = gateway.process().peakKib();
  const std::string piece(64 * 1024, 'x');
  std::atomic<int> passed = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < kUploads; ++i) {
    clients.emplace_back([&] {
      const int status = upload(gateway.port(), GetParam(), piece);
      passed += status == 200 ? 1 : 0;
      // A client that goes on sending may lose the answer to the reset that ends it.
      refused += status == 503 || status == 0 ? 1 : 0;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(passed + refused, kUploads);
  EXPECT_LT(gateway.process().peakKib(), before + (kTotalMib + kBesideMib) * 1024);
  EXPECT_GT(passed, 0) << "uploads that progress outlive stalled ones";
  EXPECT_EQ(upload(gateway.port(), GetParam(), piece), 200) << "all buffers have been released";
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sluice::test
