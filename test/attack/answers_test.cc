// Tests attacks by external processors, whose answers have no end. A victim whose route has no processor, and one whose
// processor behaves, are served during the attack.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/faults/faulty_ext_proc_server.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

class AnswerAttacks : public testing::Test {
 protected:
  static std::string ruleOf(const std::string& path, const std::string& server, const std::string& mode) {
    return ruleWith(path, server, "requestBody: " + mode + ", responseHeaders: Skip");
  }
  static std::string ruleWith(const std::string& path, const std::string& server, const std::string& modes) {
    return "    - matches: [{path: {type: Exact, value: " + path + "}}]\n      filters: [" +
           inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 60s, config: {backendRefs: [" +
                   backendRef(server) + "], maxMessageTimeout: 60s, processingMode: {" + modes + "}}}") +
           "]\n" + backendRefs();
  }
  static std::string post(const std::string& path) {
    return "POST " + path + " HTTP/1.1\r\nHost: any.test\r\nContent-Length: 5\r\n\r\nhello";
  }

  /// Returns a gateway of one worker with these rules, and one for everything else.
  GatewaySpec specOf(const std::string& rules) const {
    GatewaySpec spec{.backends = {{.port = origin_.port()},
                                  {.name = "rude", .hostname = "rude.test", .port = rude_.port()},
                                  {.name = "good", .hostname = "good.test", .port = good_.port()}},
                     .routes = routeOfRules(rules + "    - backendRefs: [" + backendRef("origin") + "]\n")};
    spec.release = true;
    return spec;
  }

  /// Has the server do that to many requests at once, on a route whose server gets the body in this mode.
  void attack(ServerFault fault, ServerPart part, const std::string& mode) {
    GatewayProcess gateway(specOf(ruleOf("/rude", "rude", mode) + ruleOf("/good", "good", mode)));
    rude_.plan({.fault = fault, .part = part});
    Attack attack(gateway, [&gateway] {
      return askRaw(gateway.port(), post("/plain")).status == 200 &&
             askRaw(gateway.port(), post("/good")).status == 200;
    });
    const int count = inThisRun(20, 200);
    std::vector<BlockingSocket> clients;
    const int failedBefore = rude_.failed();
    for (int i = 0; i < count; ++i) {
      clients.push_back(BlockingSocket::connect(gateway.port()));
      ASSERT_TRUE(clients.back().send(post("/rude")));
    }
    ASSERT_TRUE(eventually([&] { return rude_.failed() == failedBefore + count; }));
    attack.stands();
    for (BlockingSocket& client : clients) client.reset();
    EXPECT_TRUE(eventually([&] { return gateway.metric("http_server_active_requests{") == 0; }));
    EXPECT_TRUE(eventually([&] { return rude_.broken() >= failedBefore + count; })) << "no stream is left";
  }

  FaultyExtProcServer rude_;
  FaultyExtProcServer good_;
  RecordingOrigin origin_{[](std::size_t) { return kOk; }};
};

TEST_F(AnswerAttacks, EndlessPiecesOfABodyInFullDuplex) {
  attack(ServerFault::kEndless, ServerPart::kRequestBody, "FullDuplexStreamed");
}

TEST_F(AnswerAttacks, EndlessEmptyPiecesOfABodyInFullDuplex) {
  attack(ServerFault::kEndlessEmpty, ServerPart::kRequestBody, "FullDuplexStreamed");
}

/// A server gets the bodies of responses in full duplex, and answers with bodies that have no end. A client reads them.
class ResponseAttacks : public AnswerAttacks {
 protected:
  GatewaySpec spec() const {
    return specOf(ruleWith("/rude", "rude", "requestHeaders: Skip, responseBody: FullDuplexStreamed"));
  }
};

TEST_F(ResponseAttacks, EndlessEmptyPiecesBreakTheResponseOff) {
  GatewayProcess gateway(spec());
  rude_.plan({.fault = ServerFault::kEndlessEmpty, .part = ServerPart::kResponseBody});
  Attack attack(gateway, [&gateway] { return askRaw(gateway.port(), post("/plain")).status == 200; });
  std::atomic<bool> done = false;
  std::atomic<int> ended = 0;
  std::thread attacker([&] {
    while (!done) {
      BlockingSocket client = BlockingSocket::connect(gateway.port());
      client.send(post("/rude"));
      EXPECT_EQ(client.readUntil("\r\n\r\n").substr(0, 12), "HTTP/1.1 200");
      EXPECT_EQ(client.readAll(), "") << "no piece is whole";
      if (client.closed()) ++ended;
    }
  });
  EXPECT_TRUE(eventually([&] { return ended > 3; }));
  attack.stands();
  done = true;
  attacker.join();
}

// Time is measured by the bytes that the server has sent meanwhile, so that the result does not depend on the speed of
// the machine.
TEST_F(ResponseAttacks, EndlessTinyPiecesLeaveTurnsToOthers) {
  GatewayProcess gateway(spec());
  rude_.plan({.fault = ServerFault::kEndlessTiny, .part = ServerPart::kResponseBody});
  // Each client's pieces may fill limits.processorBuffer.
  constexpr AttackBounds kBounds{.grownKib = std::size_t{192} * 1024};
  Attack attack(
      gateway, [&gateway] { return askRaw(gateway.port(), post("/plain")).status == 200; }, kBounds);
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    std::vector<BlockingSocket> clients(8);
    for (BlockingSocket& client : clients) {
      client = BlockingSocket::connect(gateway.port());
      EXPECT_TRUE(client.send(post("/rude")));
    }
    constexpr std::size_t kSome = 256;
    const auto takesSome = [](BlockingSocket& client) { return client.readExactly(kSome).size() == kSome; };
    while (!done && std::all_of(clients.begin(), clients.end(), takesSome)) continue;
    EXPECT_TRUE(done) << "the attack did not stand";
    for (BlockingSocket& client : clients) client.reset();
  });
  constexpr std::size_t kMuch = std::size_t{4} * 1024 * 1024;
  EXPECT_TRUE(eventually([&] { return rude_.given() > kMuch; }));
  attack.stands();
  BlockingSocket victim = BlockingSocket::connect(gateway.port());
  std::vector<std::size_t> meanwhile;
  for (int i = 0; i < 31; ++i) {
    const std::size_t before = rude_.given();
    EXPECT_EQ(askRaw(victim, post("/plain")).status, 200);
    meanwhile.push_back(rude_.given() - before);
  }
  std::sort(meanwhile.begin(), meanwhile.end());
  // A request takes a few turns, in each of which some kilobytes of pieces are read. While the gateway waits for a
  // processor that it shares, the server may fill the system's buffers of the eight connections, too.
  constexpr std::size_t kOfBuffers = std::size_t{8} * 64 * 1024;
  EXPECT_LT(meanwhile[meanwhile.size() / 2], std::size_t{256} * 1024 + kOfBuffers) << "bytes that went before it";
  done = true;
  attacker.join();
}

TEST_F(AnswerAttacks, EndlessWishesForMoreTime) {
  attack(ServerFault::kEndlessPatience, ServerPart::kRequestBody, "Buffered");
}

TEST_F(AnswerAttacks, EndlessWishesForMoreTimeBeforeTheHeadersAreAnswered) {
  attack(ServerFault::kEndlessPatience, ServerPart::kRequestHeaders, "Skip");
}

}  // namespace
}  // namespace sluice::test
