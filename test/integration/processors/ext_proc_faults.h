// A gateway with a rule for each way of asking an external processor, a server that fails on command, and an oracle
// that predicts the outcome of a request.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/processors/fault_outcomes.h"
#include "test/integration/support/faults/faulty_ext_proc_server.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"

namespace sluice::test {

enum class ProcessorMode : std::uint8_t { kSkip, kBuffered, kStreamed, kBufferedPartial, kFullDuplex };

inline const char* nameOf(ProcessorMode mode) {
  static constexpr std::array kNames = {"Skip", "Buffered", "Streamed", "BufferedPartial", "FullDuplexStreamed"};
  return kNames[static_cast<std::size_t>(mode)];
}

/// The gateway's timeout for a server, or the lack of a server.
enum class ServerReach : std::uint8_t {
  kPatient,  // it gives the server more time than any machine needs
  kHasty,    // it gives it nearly none, which is for servers that send nothing at all
  kDown      // no server listens
};

/// One rule of the gateway: the server gets one way, and all of the other one goes on unseen.
struct FaultRule {
  bool ofRequest = true;
  ProcessorMode mode = ProcessorMode::kSkip;
  bool saysHeaders = true;
  bool isOpen = false;
  ServerReach reach = ServerReach::kPatient;

  std::string path() const {
    static constexpr std::array kReaches = {"patient", "hasty", "down"};
    return std::string("/") + (ofRequest ? "request" : "response") + "/" + nameOf(mode) +
           (saysHeaders ? "/headers/" : "/alone/") + (isOpen ? "open/" : "closed/") +
           kReaches[static_cast<std::size_t>(reach)];
  }
};

struct FaultCell {
  FaultRule rule;
  ServerFault fault = ServerFault::kNone;
  bool atBody = false;  // or at the headers
  std::size_t size = 0;
  bool isHttp2 = false;

  std::string name() const {
    return rule.path() + ": " + nameOf(fault) + " at the " + (atBody ? "body" : "headers") + ", " +
           std::to_string(size) + " bytes, HTTP/" + (isHttp2 ? "2" : "1.1");
  }
};

/// Returns the rules of one way whose server is kPatient.
inline std::vector<FaultRule> faultRulesOf(bool ofRequest, ServerReach reach = ServerReach::kPatient) {
  std::vector<FaultRule> rules;
  for (const ProcessorMode mode : {ProcessorMode::kSkip, ProcessorMode::kBuffered, ProcessorMode::kStreamed,
                                   ProcessorMode::kBufferedPartial, ProcessorMode::kFullDuplex}) {
    for (const bool saysHeaders : {true, false}) {
      if (mode == ProcessorMode::kSkip && !saysHeaders) continue;
      for (const bool isOpen : {false, true}) rules.push_back({ofRequest, mode, saysHeaders, isOpen, reach});
    }
  }
  return rules;
}

/// The oracle: the outcome that the reference promises.
inline FaultOutcome outcomeOf(const FaultCell& cell) {
  const FaultRule& rule = cell.rule;
  const bool isDuplex = rule.mode == ProcessorMode::kFullDuplex;
  const bool hasPieces = isDuplex || rule.mode == ProcessorMode::kStreamed;
  FaultOutcome outcome;
  outcome.fails = true;
  if (cell.fault == ServerFault::kGoodGoaway || cell.fault == ServerFault::kOwnEnd) outcome.fails = false;
  if (cell.fault == ServerFault::kGoneBehind) outcome.fails = cell.atBody && hasPieces;
  if (cell.fault == ServerFault::kCleanEnd) outcome.fails = isDuplex && (cell.atBody || cell.size > 0);
  const bool isReplayable = cell.fault != ServerFault::kGoneChanged;
  if (!outcome.fails || (rule.isOpen && isReplayable)) return outcome;
  // The head of a body that is not buffered goes on when it was answered.
  const bool headIsGone = cell.atBody && rule.mode != ProcessorMode::kBuffered;
  const bool isLate = cell.fault == ServerFault::kSlow || cell.fault == ServerFault::kMute;
  if (headIsGone && !rule.ofRequest) {
    // In full duplex the answer to the headers and the fault may be read at once.
    outcome.kind = isDuplex && rule.saysHeaders ? FaultOutcome::Kind::kRefusedOrCut : FaultOutcome::Kind::kCut;
  } else {
    outcome.kind = FaultOutcome::Kind::kRefused;
  }
  outcome.status = isLate && rule.reach != ServerReach::kDown ? 504 : 500;
  outcome.mayReachOrigin = headIsGone || !rule.ofRequest;
  return outcome;
}

class FaultMatrix : public OutcomeChecks {
 protected:
  void start(bool ofRequest, const std::string& bounds) {
    GatewaySpec spec;
    spec.settings = limits(bounds);
    spec.backends = {{.port = origin_.port()},
                     {.name = "guard", .hostname = "guard.test", .port = server_.port()},
                     {.name = "down", .hostname = "down.test", .port = freePort()}};
    std::vector<std::string> rules;
    for (const ServerReach reach : {ServerReach::kPatient, ServerReach::kHasty, ServerReach::kDown}) {
      for (const FaultRule& rule : faultRulesOf(ofRequest, reach)) rules.push_back(ruleOf(rule));
    }
    spec.routes = routesOf(rules);
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }

  /// Runs one cell, and a good request behind it.
  void runCell(const FaultCell& cell) { runCell(cell, planOf(cell), outcomeOf(cell)); }
  void runCell(const FaultCell& cell, const ServerPlan& plan, const FaultOutcome& expected) {
    SCOPED_TRACE(cell.name());
    const int before = server_.failed();
    server_.plan(plan);
    const PeerRequest request = requestOf(cell);
    const PeerMessage answer = client(cell.isHttp2).ask(request);
    if (cell.rule.reach == ServerReach::kPatient) {
      EXPECT_GT(server_.failed(), before) << "the fault never came";
    }
    check(cell, expected, request, answer);
    server_.plan({});
    FaultCell good = cell;
    good.fault = ServerFault::kNone;
    good.rule.reach = ServerReach::kPatient;
    good.size = 5;
    const PeerRequest next = requestOf(good);
    const PeerMessage nextAnswer = client(cell.isHttp2).ask(next);
    SCOPED_TRACE("the next request");
    checkWhole(good, next, nextAnswer);
    const bool isMarked = cell.rule.ofRequest ? origin_.heard(next.number)->isMarked : nextAnswer.isMarked;
    EXPECT_EQ(isMarked, cell.rule.saysHeaders) << "the server has marked the head";
  }

  static ServerPlan planOf(const FaultCell& cell) {
    const bool isDuplex = cell.rule.mode == ProcessorMode::kFullDuplex;
    ServerPlan plan;
    plan.fault = cell.fault;
    plan.part = cell.rule.ofRequest ? (cell.atBody ? ServerPart::kRequestBody : ServerPart::kRequestHeaders)
                                    : (cell.atBody ? ServerPart::kResponseBody : ServerPart::kResponseHeaders);
    // In full duplex nothing is late before the body has ended, and a clean end is one of two things until then.
    plan.atEnd = isDuplex && (cell.fault == ServerFault::kSlow || cell.fault == ServerFault::kCleanEnd);
    return plan;
  }

  PeerRequest requestOf(const FaultCell& cell) {
    return requestFor(cell.rule.path(), cell.rule.ofRequest, cell.atBody, cell.size);
  }

  void check(const FaultCell& cell, const FaultOutcome& expected, const PeerRequest& request,
             const PeerMessage& answer) {
    if (expected.kind == FaultOutcome::Kind::kWhole) {
      if (expected.fails) ++failedOpen_;
      return checkWhole(cell, request, answer);
    }
    checkRefused(cell.name(), cell.rule.ofRequest, expected, request, answer);
  }

  void checkWhole(const FaultCell& cell, const PeerRequest& request, const PeerMessage& answer) {
    // The server's own body takes the place of the one that it was sent.
    const bool isOwn = cell.fault == ServerFault::kOwnEnd;
    const std::string sent = isOwn && cell.rule.ofRequest ? kOwnBody : request.body;
    const std::string said = isOwn && !cell.rule.ofRequest ? kOwnBody : patternOf(request.answerSize);
    checkBodies(request, answer, sent, said);
  }

  static std::string ruleOf(const FaultRule& rule) {
    const auto way = [](const std::string& name, bool saysHeaders, ProcessorMode mode) {
      return name + "Headers: " + (saysHeaders ? "Send" : "Skip") + ", " + name + "Body: " + nameOf(mode);
    };
    const std::string modes =
        way("request", rule.ofRequest && rule.saysHeaders, rule.ofRequest ? rule.mode : ProcessorMode::kSkip) + ", " +
        way("response", !rule.ofRequest && rule.saysHeaders, rule.ofRequest ? ProcessorMode::kSkip : rule.mode);
    return "    - matches: [{path: {type: Exact, value: " + rule.path() + "}}]\n      filters: [" +
           inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: " +
                   std::string(rule.reach == ServerReach::kHasty ? "30ms" : "60s") +
                   (rule.isOpen ? ", failOpen: true" : "") + ", config: {backendRefs: [" +
                   backendRef(rule.reach == ServerReach::kDown ? "down" : "guard") +
                   "], maxMessageTimeout: 10s, maxMessageSize: 1048576, processingMode: {" + modes + "}}}") +
           "]\n" + backendRefs();
  }

  FaultyExtProcServer server_;
};

}  // namespace sluice::test
