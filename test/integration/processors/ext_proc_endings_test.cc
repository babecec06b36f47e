// Tests external processors that fail or end where the gateway can hardly recover: after they got more bytes than the
// gateway keeps, after a body of their own, or never.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/processors/ext_proc_faults.h"

namespace sluice::test {
namespace {

constexpr std::size_t kReplayed = 65'536;

/// The way of the body is a parameter: true for requests.
class ExternalProcessorEndings : public FaultMatrix, public testing::WithParamInterface<bool> {
 protected:
  static FaultRule ruleOf(ProcessorMode mode, bool saysHeaders, bool isOpen) {
    return {.ofRequest = GetParam(), .mode = mode, .saysHeaders = saysHeaders, .isOpen = isOpen};
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, ExternalProcessorEndings, testing::Bool(),
                         [](const auto& each) { return each.param ? "Request" : "Response"; });

TEST_P(ExternalProcessorEndings, FailClosedOnlyWithMoreInTheirHandsThanTheReplayBufferHolds) {
  start(GetParam(), "replayBuffer: 64Ki");
  int unreplayable = 0;
  for (const ProcessorMode mode : {ProcessorMode::kBuffered, ProcessorMode::kStreamed, ProcessorMode::kFullDuplex}) {
    for (const std::size_t size : {kReplayed, kReplayed + 1}) {
      for (const bool isHttp2 : {false, true}) {
        const FaultCell cell{ruleOf(mode, true, true), ServerFault::kStreamReset, true, size, isHttp2};
        ServerPlan plan = planOf(cell);
        plan.behind = size;
        FaultOutcome expected = outcomeOf(cell);
        if (mode != ProcessorMode::kBuffered && size > kReplayed) {
          FaultCell closed = cell;
          closed.rule.isOpen = false;
          expected = outcomeOf(closed);
          ++unreplayable;
        }
        runCell(cell, plan, expected);
      }
    }
  }
  EXPECT_TRUE(gateway_->limitWasHit("replayBuffer"));
  EXPECT_EQ(gateway_->metric("sluice_processor_unreplayable_total{"), unreplayable);
  finish();
}

TEST_P(ExternalProcessorEndings, MayEndTheCallBehindABodyOfTheirOwn) {
  start(GetParam(), "replayBuffer: 1Mi");
  for (const bool saysHeaders : {false, true}) {
    for (const bool isOpen : {false, true}) {
      for (const std::size_t size : {std::size_t{5}, std::size_t{300'000}}) {
        for (const bool isHttp2 : {false, true}) {
          runCell({ruleOf(ProcessorMode::kFullDuplex, saysHeaders, isOpen), ServerFault::kOwnEnd, true, size, isHttp2});
        }
      }
    }
  }
  finish();
}

TEST_P(ExternalProcessorEndings, GiveAnEndlessBodyUntilTheClientHasEnough) {
  start(GetParam(), "replayBuffer: 1Mi");
  for (const bool isOpen : {false, true}) {
    const FaultCell cell{ruleOf(ProcessorMode::kFullDuplex, true, isOpen), ServerFault::kEndless, true, 5, false};
    SCOPED_TRACE(cell.name());
    server_.plan(planOf(cell));
    const int before = server_.broken();
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send((GetParam() ? "POST " : "GET ") + cell.rule.path() +
                " HTTP/1.1\r\nHost: any.test\r\nx-number: " + std::to_string(++number_) + "\r\nx-wish: length 5\r\n" +
                (GetParam() ? "Content-Length: 5\r\n\r\nhello" : "\r\n"));
    constexpr std::size_t kEnough = std::size_t{4} * 1024 * 1024;
    if (GetParam()) {
      EXPECT_TRUE(eventually([&] { return origin_.bytes(number_) > kEnough; }));
      refused_.push_back({number_, true, cell.name()});
    } else {
      EXPECT_EQ(client.readExactly(kEnough).size(), kEnough);
    }
    client.reset();  // the end of its sending side alone would not mean that it has stopped reading
    EXPECT_TRUE(eventually([&] { return server_.broken() > before; })) << "the server is told that nobody reads";
    server_.plan({});
  }
  finish();
}

class ExternalProcessorFloods : public FaultMatrix {};

TEST_F(ExternalProcessorFloods, GiveNoMoreOfABodyThanTheGatewayHasRoomForWhileTheClientTakesNothing) {
  start(false, "replayBuffer: 1Mi");
  FaultCell cell{{.ofRequest = false, .mode = ProcessorMode::kFullDuplex}, ServerFault::kEndless, true, 5, false};
  server_.plan(planOf(cell));
  BlockingSocket client = BlockingSocket::connect(gateway_->port(), 4096);
  client.send("GET " + cell.rule.path() + " HTTP/1.1\r\nHost: any.test\r\nx-number: " + std::to_string(++number_) +
              "\r\nx-wish: length 5\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return server_.given() > 0; }));
  server_.plan({});
  cell.fault = ServerFault::kNone;
  for (int i = 0; i < 100; ++i) {
    const PeerRequest request = requestOf(cell);
    checkWhole(cell, request, this->client(false).ask(request));
  }
  // Sockets and windows hold some of it, and the gateway limits.processorBuffer at most.
  EXPECT_LT(server_.given(), std::size_t{16} * 1024 * 1024);
  client.reset();
  finish();
}

}  // namespace
}  // namespace sluice::test
