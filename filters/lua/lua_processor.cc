#include "filters/lua/lua_processor.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice::filters::lua {
namespace {

using processing::BodyMode;
using processing::Cause;
using processing::Phase;
using processing::Verdict;

constexpr std::string_view kMemoryLimit = "lua.memory";  // of the entry in the catalog

/// The state of a step.
struct LuaStepState {
  explicit LuaStepState(const ScriptUse& use) : run(use) {}

  ScriptRun run;
  bool begun = false;
  bool finished = false;
};

class LuaProcessor final : public processing::Processor {
 public:
  LuaProcessor(std::shared_ptr<const LuaScript> script, ScriptUse use, std::vector<Phase> phases)
      : script_(std::move(script)), use_(std::move(use)), phases_(std::move(phases)) {
    for (const ScriptBackend& each : use_.backends) targets_.push_back(each.target);
  }

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    auto& step = call.state<LuaStepState>(use_);
    if (step.finished) return Verdict::goOn();
    ScriptCall& script = step.run.script;
    script.enter(call, peer);
    script.bodyUse = call.body == nullptr ? BodyUse::kNone : script_->bodyUse(call.phase);
    if (script.bodyUse == BodyUse::kStreamed && script.callout == nullptr) {
      if (!call.body->bytes().empty() || call.body->last()) {
        script.offerPiece();
        step.run.renew();
      } else if (step.begun) {
        return Verdict::goOn();
      }
    }
    return advance(call, step);
  }
  processing::BodyInterest body(Phase phase) const override {
    const BodyUse bodyUse = processing::hasBody(phase) ? script_->bodyUse(phase) : BodyUse::kNone;
    if (bodyUse == BodyUse::kNone) return {};
    const BodyMode mode = bodyUse == BodyUse::kStreamed ? BodyMode::kStreamed : BodyMode::kBuffered;
    return {.mode = mode, .edits = true, .decoded = true};
  }
  std::span<const Phase> phases() const override { return phases_; }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return targets_; }

 private:
  Verdict advance(processing::Call& call, LuaStepState& step) const {
    if (step.run.hasGivenWay()) {
      return Verdict::fail("a call that waited held memory that others need", Cause::kNoRoom, kMemoryLimit);
    }
    auto& worker = call.services.workerStates().get<WorkerScript>(script_);
    LuaInterpreter* const interpreter = worker.interpreter(*script_);
    if (interpreter == nullptr) return Verdict::fail(worker.fault(), Cause::kScriptError);
    if (step.begun && !step.run.isRunning()) return Verdict::fail("the worker ends", Cause::kDropped);
    const base::MonotonicTime since = std::exchange(step.begun, true) ? call.clock.now() : call.begun;
    const auto stretch = interpreter->advance(step.run, call.clock, since + call.timeout);
    ScriptCall& script = step.run.script;
    if (stretch == LuaInterpreter::Stretch::kWaits && script.callout != nullptr) {
      script.callout->await(call.suspend(), processing::Callout::Moment::kChange);
      return Verdict::wait();
    }
    if (stretch == LuaInterpreter::Stretch::kWaits) return passBody(script);
    step.finished = true;
    if (stretch == LuaInterpreter::Stretch::kFailed) {
      worker.onFailure();
      return failure(*interpreter);
    }
    if (script.reply) return Verdict::reply(*std::move(script.reply));
    return passBody(script);
  }

  static Verdict failure(const LuaInterpreter& interpreter) {
    if (!interpreter.hasMetBound()) return Verdict::fail(interpreter.fault(), Cause::kScriptError);
    // Memory that other calls hold is a lack of room, because of which no step may be left out. The client gets this
    // reason.
    if (interpreter.lacksMemory() && interpreter.isBusy()) {
      return Verdict::fail("the scripts of this type have no memory left", Cause::kNoRoom, kMemoryLimit);
    }
    return Verdict::fail(interpreter.fault(), Cause::kBudget);
  }

  /// Lets the bytes go on that the script has put into the place of those that are there.
  static Verdict passBody(ScriptCall& script) {
    if (!script.replacement) return Verdict::goOn();
    processing::Body& body = *script.call().body;
    body.replacement().append(*script.replacement);
    script.replacement.reset();
    body.claim(0);
    return Verdict::goOn();
  }

  const std::shared_ptr<const LuaScript> script_;
  const ScriptUse use_;
  const std::vector<Phase> phases_;
  std::vector<std::shared_ptr<const processing::CalloutTarget>> targets_;
};

}  // namespace

std::shared_ptr<const processing::Processor> makeLuaProcessor(std::shared_ptr<const LuaScript> script, ScriptUse use,
                                                              std::vector<Phase> phases) {
  return std::make_shared<const LuaProcessor>(std::move(script), std::move(use), std::move(phases));
}

}  // namespace sluice::filters::lua
