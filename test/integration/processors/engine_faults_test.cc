// Tests scripts and libraries that fail in every way, in every phase, at every point and with every form of the body,
// with the real binary and against an oracle: exchanges that fail closed are refused, exchanges that fail open are
// byte-exact, and the next request finds everything in order.
#include "test/integration/processors/engine_faults.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace sluice::test {
namespace {

constexpr std::array<std::size_t, 3> kFaultSizes = {0, 5, 300'000};

const std::vector<EngineFault> kScriptFaults = {
    {"error", "script_error"},  {"loop", "budget"},         {"storm", "budget"},     {"type", "script_error"},
    {"answer", "script_error"}, {"member", "script_error"}, {"told", "script_error"}};
const std::vector<EngineFault> kLibraryFaults = {{"error", "error"},   {"throw", "error"}, {"verdict", "error"},
                                                 {"answer", "error"},  {"size", "error"},  {"nowhere", "error"},
                                                 {"nothing", "error"}, {"twice", ""}};

/// Returns the rules of one engine and one way.
std::vector<EngineRule> engineRulesOf(const std::string& engine, bool ofRequest,
                                      const std::vector<std::string>& forms) {
  std::vector<EngineRule> rules;
  for (const std::string phase : kFaultPhases) {
    const bool hasBody = phase == "request-body" || phase == "response-body" || phase.starts_with("backend");
    for (const std::string& form : forms) {
      if (form != "none" && !hasBody) continue;
      for (const bool isOpen : {false, true}) {
        for (const bool isHasty : {false, true}) {
          const EngineRule rule{engine, phase, form, isOpen, isHasty};
          if (rule.ofRequest() == ofRequest) rules.push_back(rule);
        }
      }
    }
  }
  return rules;
}

/// Returns false for cells that do not exist, or whose result depends on how the bytes arrive.
bool existsCell(const EngineCell& cell) {
  const bool isPiecewise = cell.rule.form == "chunks" || cell.rule.form == "inspect";
  if (cell.point != "head" && !isPiecewise) return false;
  // A step that inspects is not asked before the first piece.
  if (cell.point == "head" && cell.rule.form == "inspect") return false;
  if (cell.point == "first" && cell.size == 0) return false;
  // The only piece of a short body may be the last one.
  if (cell.point == "end" && cell.changes && cell.size > 0 && cell.size <= 5) return false;
  return !cell.changes || cell.rule.form == "chunks" || cell.rule.form == "whole";
}

/// Returns the cells of these rules with these faults: each fault at each point, open and closed, changed and
/// unchanged. Of the six pairs of body size and client's version each has one, by turns, so that each fault meets all.
std::vector<EngineCell> engineCellsOf(const std::vector<EngineRule>& rules, const std::vector<EngineFault>& faults,
                                      bool isHasty) {
  std::vector<EngineCell> cells;
  std::size_t turn = 0;
  for (const EngineRule& rule : rules) {
    if (rule.isHasty != isHasty) continue;
    for (const EngineFault& fault : faults) {
      for (const std::string point : {"head", "first", "end"}) {
        for (const bool changes : {false, true}) {
          std::vector<EngineCell> pairs;
          for (const std::size_t size : kFaultSizes) {
            for (const bool isHttp2 : {false, true}) {
              const EngineCell cell{rule, fault, point, changes, size, isHttp2};
              if (existsCell(cell)) pairs.push_back(cell);
            }
          }
          if (!pairs.empty()) cells.push_back(pairs[turn++ * 5 % pairs.size()]);
        }
      }
    }
  }
  return cells;
}

/// True for requests.
class EngineFaults : public EngineFaultMatrix, public testing::WithParamInterface<bool> {
 protected:
  void runAll(const std::string& engine, const std::vector<std::string>& forms, const std::vector<EngineFault>& faults,
              const std::vector<EngineFault>& late) {
    const std::vector<EngineRule> rules = engineRulesOf(engine, GetParam(), forms);
    start(rules);
    for (const bool isHasty : {false, true}) {
      for (const EngineCell& cell : engineCellsOf(rules, isHasty ? late : faults, isHasty)) {
        runCell(cell);
        if (HasFailure()) return;
      }
    }
    finishAll();
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, EngineFaults, testing::Bool(),
                         [](const auto& each) { return each.param ? "Request" : "Response"; });

TEST_P(EngineFaults, OfScriptsStayClosedOrAreByteExact) {
  runAll("lua", {"none", "whole", "chunks"}, kScriptFaults, {});
}

TEST_P(EngineFaults, OfScriptsWhoseCallsAreNotAnsweredStayClosedOrAreByteExact) {
  runAll("lua", {"none", "whole", "chunks"}, {}, {{"call", kInTheEnd}});
}

TEST_P(EngineFaults, OfExpressionsStayClosedOrAreByteExact) {
  const std::vector<EngineFault> faults = {{"field", "error"}, {"division", "error"}, {"line", "error"}};
  std::vector<EngineRule> rules;
  for (const bool isOpen : {false, true}) {
    const std::string way = GetParam() ? "request" : "response";
    rules.push_back({"builtin", way + "-headers", "none", isOpen});
    rules.push_back({"builtin", way + "-body", "whole", isOpen});
  }
  start(rules);
  std::vector<EngineFault> ofBody = faults;
  ofBody.push_back({"json", "bad_body"});
  for (const EngineRule& rule : rules) {
    for (const EngineCell& cell : engineCellsOf({rule}, rule.hasBody() ? ofBody : faults, false)) {
      if (!cell.changes) runCell(cell);
    }
  }
  finishAll();
}

TEST_P(EngineFaults, OfLibrariesStayClosedOrAreByteExact) {
  runAll("library", {"none", "whole", "chunks", "inspect"}, kLibraryFaults,
         {{"never", "timeout"}, {"late", "timeout"}});
}

}  // namespace
}  // namespace sluice::test
