// Tests external processors that fail in every way, at every part and in every body mode, with the real binary and
// against an oracle: exchanges that fail closed are refused, exchanges that fail open are byte-exact, and the next
// request finds everything in order.
#include "test/integration/processors/ext_proc_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace sluice::test {
namespace {

/// Faults that a server with all the time in the world can show at any part.
constexpr std::array kServerFaults = {
    ServerFault::kSlow,          ServerFault::kStreamReset, ServerFault::kStreamRefused, ServerFault::kConnectionReset,
    ServerFault::kHangUp,        ServerFault::kErrorStatus, ServerFault::kCleanEnd,      ServerFault::kGarbageMessage,
    ServerFault::kGarbageFrames, ServerFault::kWrongPart,   ServerFault::kTooLong,       ServerFault::kLastGoaway,
    ServerFault::kErrorGoaway,   ServerFault::kGoodGoaway,  ServerFault::kGoneBehind,    ServerFault::kGoneChanged};

constexpr std::array<std::size_t, 3> kBodySizes = {0, 5, 300'000};

bool hasPieces(const FaultRule& rule) {
  return rule.mode == ProcessorMode::kStreamed || rule.mode == ProcessorMode::kFullDuplex;
}

/// Returns false for cells that do not exist, or whose result depends on a race.
bool exists(const FaultCell& cell) {
  const bool isLong = cell.size > 5;
  switch (cell.fault) {
    case ServerFault::kGoneChanged:
      return cell.atBody && hasPieces(cell.rule) && isLong;  // there must be a second piece
    case ServerFault::kGoneBehind:
      // After the answer to the last part the gateway does not notice the fault. If a body follows the headers, the
      // stream may fail before or after the head has gone on.
      if (!cell.atBody) return cell.rule.mode == ProcessorMode::kSkip;
      return !hasPieces(cell.rule) || isLong;
    default:
      return true;
  }
}

/// Returns the cells of one way. Each fault comes at each part of each rule, open and closed. Of the six pairs of body
/// size and client's version it comes there with two, by turns: each fault meets all six, and so does each part of each
/// mode. The other four would cost three times the time, and the gateway's client side does not know which fault it is.
///
/// Two kinds of servers are left out: one that disappears in the middle of a body that comes in one message, and one
/// that sends nothing or is down at a later part: the latter has answered before, so it is a slow server or a broken
/// connection.
std::vector<FaultCell> cellsOf(bool ofRequest) {
  std::vector<FaultCell> cells;
  std::size_t turn = 0;
  for (const FaultRule& rule : faultRulesOf(ofRequest)) {
    for (const bool atBody : {false, true}) {
      if (atBody ? rule.mode == ProcessorMode::kSkip : !rule.saysHeaders) continue;
      for (const ServerFault fault : kServerFaults) {
        std::vector<FaultCell> pairs;
        for (const std::size_t size : kBodySizes) {
          for (const bool isHttp2 : {false, true}) {
            const FaultCell cell{rule, fault, atBody, size, isHttp2};
            if (exists(cell)) pairs.push_back(cell);
          }
        }
        for (std::size_t i = 0; i < std::min<std::size_t>(pairs.size(), 2); ++i) {
          cells.push_back(pairs[turn++ * 5 % pairs.size()]);
        }
      }
    }
    // A server that is down, or sends nothing at all, fails at the first part.
    for (const ServerReach reach : {ServerReach::kHasty, ServerReach::kDown}) {
      FaultRule other = rule;
      other.reach = reach;
      for (int i = 0; i < 2; ++i) {
        const std::size_t pair = turn++ * 5 % 6;
        cells.push_back({other, ServerFault::kMute, !rule.saysHeaders, kBodySizes[pair / 2], pair % 2 == 1});
      }
    }
  }
  return cells;
}

class ExternalProcessorFaults : public FaultMatrix {
 protected:
  void runAll(bool ofRequest) {
    start(ofRequest, "replayBuffer: 1Mi");
    for (const FaultCell& cell : cellsOf(ofRequest)) {
      runCell(cell);
      if (HasFailure()) return;
    }
    finish();
  }
};

TEST_F(ExternalProcessorFaults, InRequestsStayClosedOrAreByteExact) { runAll(true); }
TEST_F(ExternalProcessorFaults, InResponsesStayClosedOrAreByteExact) { runAll(false); }

}  // namespace
}  // namespace sluice::test
