// A gateway with a rule for each engine, phase and form of the body, whose step fails as the path of a request says,
// and the oracle of the outcome.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/processors/fault_outcomes.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/silent_origin.h"

namespace sluice::test {

inline constexpr std::array kFaultPhases = {"request-headers",  "request-body",     "connect",      "backend-request",
                                            "backend-response", "response-headers", "response-body"};

/// One rule of the gateway, with one step.
struct EngineRule {
  std::string engine;  // "lua", "library" or "builtin"
  std::string phase;
  std::string form = "none";  // of the body: "none", "whole", "chunks" or "inspect"
  bool isOpen = false;
  bool isHasty = false;  // a step that waits has nearly no time

  bool ofRequest() const { return !phase.starts_with("response") && phase != "backend-response"; }
  bool hasBody() const { return form != "none"; }
  std::string path() const {
    return "/" + engine + "/" + phase + "/" + form + (isOpen ? "/open" : "/closed") + (isHasty ? "/hasty" : "/patient");
  }
};

/// A call of a Backend ends with the time of its step. Either the step fails, or the script is told that the call does.
inline constexpr const char* kInTheEnd = "timeout or script_error";

struct EngineFault {
  std::string name;    // a word of the path
  std::string reason;  // of sluice_processor_failures_total; empty if nothing fails
};

struct EngineCell {
  EngineRule rule;
  EngineFault fault;
  std::string point = "head";  // "first" and "end": at pieces of the body
  bool changes = false;        // the step puts the body into upper case, as far as it comes
  std::size_t size = 0;
  bool isHttp2 = false;

  std::string path() const {
    return rule.path() + "/" + fault.name + "/" + point + (changes ? "/changed" : "/unchanged");
  }
  std::string name() const { return path() + ", " + std::to_string(size) + " bytes, HTTP/" + (isHttp2 ? "2" : "1.1"); }
};

/// The oracle: the outcome that the reference promises.
inline FaultOutcome outcomeOf(const EngineCell& cell) {
  const EngineRule& rule = cell.rule;
  FaultOutcome outcome;
  outcome.fails = !cell.fault.reason.empty();
  const bool isPiecewise = rule.form == "chunks" && cell.point != "head";
  const bool isReplayable = !(isPiecewise && cell.changes && cell.point == "end" && cell.size > 0);
  if (!outcome.fails || (rule.isOpen && isReplayable)) return outcome;
  // The head of a response and the piece behind it may come at once.
  const bool isEarly = cell.point == "first" || cell.size <= 5;
  const auto ofResponse = isEarly ? FaultOutcome::Kind::kRefusedOrCut : FaultOutcome::Kind::kCut;
  outcome.kind = isPiecewise && !rule.ofRequest() ? ofResponse : FaultOutcome::Kind::kRefused;
  outcome.status = cell.fault.reason == "timeout" ? 504 : 500;
  if (cell.fault.reason == kInTheEnd) outcome.otherStatus = 504;
  // A body that is not what the step reads is the fault of its sender.
  if (cell.fault.reason == "bad_body") outcome.status = rule.ofRequest() ? 400 : 502;
  outcome.mayReachOrigin = isPiecewise || !rule.ofRequest();
  return outcome;
}

/// Returns a script whose functions, one for each phase, fail as the path says. In "chunks" it fails before the first
/// piece, at the first one or at the end.
inline std::string faultScript(const std::string& form) {
  std::string script = R"(
local function fail(m, fault)
  if fault == "error" then error("on purpose") end
  if fault == "loop" then while true do end end
  if fault == "storm" then
    local all = {}
    for i = 1, 1000000000 do all[i] = string.rep("x", 4096) .. i end
  end
  if fault == "type" then m.headers:set({}, 7) end
  if fault == "answer" then m:respond("no status") end
  if fault == "member" then m.nothing = 1 end
  if fault == "told" then
    local answer, why = call("silent", {path = "/", timeout = "10ms"})
    error(why)
  end
  if fault == "call" then
    local answer, why = call("silent", {path = "/"})
    error(why)
  end
end
local function words(m) return re.match("/([a-z]+)/([a-z]+)/([a-z]+)$", m.path) end
)";
  const std::string head = "  local fault, point, changes = words(m)\n  m.headers:set(\"x-guard\", \"seen\")\n";
  const std::string atHead = "  if point == \"head\" then fail(m, fault) end\n";
  for (const std::string phase : kFaultPhases) {
    std::string name = phase;
    std::replace(name.begin(), name.end(), '-', '_');
    script += "function " + name + "(m)\n" + (phase == "connect" ? "  local fault, point, changes = words(m)\n" : head);
    const bool canHaveBody = phase == "request-body" || phase == "response-body" || phase.starts_with("backend");
    if (form == "whole" && canHaveBody)
      script += "  if changes == \"changed\" then m.body:replace(m.body:text():upper()) end\n";
    script += atHead;
    if (form == "chunks" && canHaveBody) {
      script += R"(  local first = true
  repeat
    local piece, last = m.body:chunk()
    if changes == "changed" then m.body:replace(piece:upper()) end
    if point == "first" and first and #piece > 0 then fail(m, fault) end
    if #piece > 0 then first = false end
    if point == "end" and last then fail(m, fault) end
  until last
)";
    }
    script += "end\n";
  }
  return script;
}

class EngineFaultMatrix : public OutcomeChecks {
 protected:
  void start(const std::vector<EngineRule>& rules) {
    GatewaySpec spec;
    spec.settings = "processorCatalogs: [{namespace: test, name: types}]\n" + limits("replayBuffer: 1Mi");
    spec.options = {"--library-dir", SLUICE_PROGRAMS "/libraries"};
    spec.backends = {{.port = origin_.port()}, {.name = "silent", .hostname = "silent.test", .port = silent_.port()}};
    std::vector<std::string> texts;
    for (const EngineRule& rule : rules) texts.push_back(ruleOf(rule));
    std::string phases;
    for (const std::string phase : kFaultPhases) phases += (phases.empty() ? "" : ", ") + phase;
    std::vector<std::pair<std::string, std::string>> entries = {
        {"library.yaml", entryOf("acme.test/Library:v1", "library", phases, "library: {file: faults.so}\n")}};
    for (const std::string form : {"none", "whole", "chunks"}) {
      entries.emplace_back(form + ".yaml", entryOf("acme.test/" + form + ":v1", "lua", phases,
                                                   "lua:\n  memory: 4Mi\n  backends: [{name: silent}]\n" +
                                                       blockOf("script", faultScript(form), "  ")));
    }
    spec.routes = routesOf(texts) + configMapOf("types", entries) +
                  configMapOf("schema", {{"schema.json", R"({"type": "object"})"}});
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }

  /// Runs one cell, and a good request behind it.
  void runCell(const EngineCell& cell) {
    SCOPED_TRACE(cell.name());
    const FaultOutcome expected = outcomeOf(cell);
    const PeerRequest request = requestOf(cell);
    const PeerMessage answer = client(cell.isHttp2).ask(request);
    if (expected.fails) ++reasons_[cell.fault.reason];
    if (expected.kind == FaultOutcome::Kind::kWhole) {
      if (expected.fails) ++failedOpen_;
      // A step that is left out leaves nothing behind, unless its head had gone on.
      const bool headIsGone = cell.rule.form == "chunks" && cell.point != "head";
      checkWhole(cell, request, answer, !expected.fails || headIsGone);
    } else {
      checkRefused(cell.name(), cell.rule.ofRequest(), expected, request, answer);
    }
    EngineCell good = cell;
    good.fault = {"none", ""};
    good.rule.isHasty = false;
    good.size = 5;
    SCOPED_TRACE("the next request");
    const PeerRequest next = requestOf(good);
    const PeerMessage nextAnswer = client(cell.isHttp2).ask(next);
    checkWhole(good, next, nextAnswer, true);
  }
  /// Ends everything, and checks the reasons of all failures, if they do not depend on a race.
  void finishAll() {
    const bool isRace = reasons_.contains(kInTheEnd);
    for (const auto& [reason, count] : reasons_) {
      const int counted = failuresCounted("open", reason) + failuresCounted("closed", reason);
      EXPECT_TRUE(isRace || counted == count) << reason << ": " << counted << " failures, not " << count;
    }
    finish();
  }

 private:
  PeerRequest requestOf(const EngineCell& cell) {
    return requestFor(cell.path(), cell.rule.ofRequest(), cell.rule.hasBody(), cell.size);
  }
  void checkWhole(const EngineCell& cell, const PeerRequest& request, const PeerMessage& answer, bool isMarked) {
    std::string sent = request.body;
    std::string said = patternOf(request.answerSize);
    if (cell.changes && cell.fault.reason.empty()) {
      std::string& changed = cell.rule.ofRequest() ? sent : said;
      for (char& each : changed) each = static_cast<char>(std::toupper(each));
    }
    checkBodies(request, answer, sent, said);
    const auto heard = origin_.heard(request.number);
    if (!heard || cell.rule.phase == "connect") return;  // which cannot change fields
    EXPECT_EQ(cell.rule.ofRequest() ? heard->isMarked : answer.isMarked, isMarked) << "its edits of the head";
  }
  static std::string ruleOf(const EngineRule& rule) {
    return "    - matches: [{path: {type: PathPrefix, value: " + rule.path() + "}}]\n      filters: [" +
           inlined("{name: " + rule.engine + ", phase: " + rule.phase +
                   ", timeout: " + (rule.isHasty ? "30ms" : "60s") + (rule.isOpen ? ", failOpen: true" : "") + ", " +
                   (rule.engine == "builtin" ? expressionOf(rule) : typeOf(rule)) + "}") +
           "]\n" + backendRefs();
  }
  static std::string typeOf(const EngineRule& rule) {
    return "type: 'acme.test/" + (rule.engine == "lua" ? rule.form : "Library") + ":v1', config: {body: " + rule.form +
           "}";
  }
  /// Returns a use of InProcess whose one expression fails as the path says.
  static std::string expressionOf(const EngineRule& rule) {
    const std::string way = rule.ofRequest() ? "request" : "response";
    std::string value =
        R"(request.path.contains("/field/") ? request.headers["x-absent"] : )"
        R"(request.path.contains("/division/") ? string(1 / (size(request.path) - size(request.path))) : )"
        R"(request.path.contains("/line/") ? "a\nb" : "seen")";
    if (rule.hasBody()) {
      value =
          "request.path.contains(\"/json/\") ? json(" + way + ".body).a : size(" + way + ".body) < 0 ? \"\" : " + value;
    }
    return "type: 'sluice.dev/InProcess:v1', config: {" + way + ": {setHeaders: [{name: x-guard, value: '" + value +
           "'}]}}";
  }

  SilentOrigin silent_;
  std::map<std::string, int> reasons_;
};

}  // namespace sluice::test
