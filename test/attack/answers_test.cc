// Tests attacks by external processors, whose answers have no end. A victim whose route has no processor, and one whose
// processor behaves, are served while the attack stands.
#include <gtest/gtest.h>

#include <string>
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
    return "    - matches: [{path: {type: Exact, value: " + path + "}}]\n      filters: [" +
           inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 60s, config: {backendRefs: [" +
                   backendRef(server) + "], maxMessageTimeout: 60s, processingMode: {requestBody: " + mode +
                   ", responseHeaders: Skip}}}") +
           "]\n" + backendRefs();
  }
  static std::string post(const std::string& path) {
    return "POST " + path + " HTTP/1.1\r\nHost: any.test\r\nContent-Length: 5\r\n\r\nhello";
  }

  /// Has the server do that to many requests at once, on a route whose server gets the body in this mode.
  void attack(ServerFault fault, ServerPart part, const std::string& mode) {
    GatewaySpec spec{.backends = {{.port = origin_.port()},
                                  {.name = "rude", .hostname = "rude.test", .port = rude_.port()},
                                  {.name = "good", .hostname = "good.test", .port = good_.port()}},
                     .routes = routeOfRules(ruleOf("/rude", "rude", mode) + ruleOf("/good", "good", mode) +
                                            "    - backendRefs: [" + backendRef("origin") + "]\n")};
    spec.release = true;
    GatewayProcess gateway(spec);
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

TEST_F(AnswerAttacks, EndlessWishesForMoreTime) {
  attack(ServerFault::kEndlessPatience, ServerPart::kRequestBody, "Buffered");
}

TEST_F(AnswerAttacks, EndlessWishesForMoreTimeBeforeTheHeadersAreAnswered) {
  attack(ServerFault::kEndlessPatience, ServerPart::kRequestHeaders, "Skip");
}

}  // namespace
}  // namespace sluice::test
