// Pipelines of payload processors of every engine, drawn by a seed: as uses in YAML, and as the outcome that a
// reference interpreter of a few lines gets by the order of steps that the reference promises. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"

namespace sluice::test {

enum class StepPlace : std::uint8_t { kGateway, kRule, kOtherRule, kBackend };

/// One step. The other rule is the one by which requests with "x-route: other" go.
struct DrawnStep {
  std::string engine;
  StepPlace place = StepPlace::kRule;
  std::string phase;
  std::string act;   // set, add, remove; upper, append, prepend; stop; rematch
  std::string name;  // of a field
  std::string value;
  std::string form = "none";  // of the body
  int priority = 0;
  bool preAuth = false;
  std::size_t index = 0;

  bool editsBody() const { return act == "upper" || act == "append" || act == "prepend"; }
  bool ofRequest() const { return phase.starts_with("request") || phase == "backend-request"; }
  /// Steps of one phase run in this order.
  auto order() const {
    return std::tuple(!preAuth, priority, place == StepPlace::kOtherRule ? StepPlace::kRule : place, index);
  }
};

using DrawnFields = std::map<std::string, std::vector<std::string>>;

/// A request or the answer to it, as the reference interpreter knows it.
struct DrawnMessage {
  int status = 200;
  DrawnFields fields;
  std::string body;
};

/// The outcome of a request: what comes to the origin, if anything does, and what comes to the client.
struct DrawnOutcome {
  bool reachesOrigin = true;
  DrawnMessage sent;
  DrawnMessage answer;
};

class RandomPipeline {
 public:
  explicit RandomPipeline(std::uint32_t seed) : random_(seed) {
    const std::size_t count = 3 + below(8);
    for (std::size_t i = 0; i < count; ++i) steps_.push_back(draw(i));
    if (below(3) == 0) {
      steps_.push_back({"lua", StepPlace::kGateway, "request-headers", "rematch", "x-route", "other", "none",
                        static_cast<int>(below(3)), false, count});
    }
    hasFilter_ = below(2) == 0;
  }

  /// Returns the uses of one place, as the items of a list.
  std::string usesOf(StepPlace place) const {
    std::string uses;
    for (const DrawnStep& step : steps_) {
      if (step.place == place) uses += (uses.empty() ? "" : ", ") + useOf(step);
    }
    return uses;
  }
  bool hasFilter() const { return hasFilter_; }
  std::string text() const {
    return usesOf(StepPlace::kGateway) + "\n" + usesOf(StepPlace::kRule) + "\n" + usesOf(StepPlace::kOtherRule) + "\n" +
           usesOf(StepPlace::kBackend);
  }

  /// The reference interpreter: the outcome of a request, to which the origin answers with that body.
  DrawnOutcome outcomeOf(const DrawnMessage& request, const std::string& answer) const;

 private:
  struct Course;

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  template <typename List>
  std::string oneOf(const List& list) {
    return list[below(static_cast<std::uint32_t>(list.size()))];
  }
  DrawnStep draw(std::size_t index);
  void drawBodyStep(DrawnStep& step);
  static std::string useOf(const DrawnStep& step);

  std::mt19937 random_;
  std::vector<DrawnStep> steps_;
  bool hasFilter_ = false;  // the rule sets x-b by a filter, behind the first round
};

inline constexpr std::array<const char*, 6> kDrawnPhases = {"request-headers",  "request-body",     "backend-request",
                                                            "backend-response", "response-headers", "response-body"};
inline constexpr std::array<const char*, 3> kDrawnNames = {"x-a", "x-b", "x-c"};

inline DrawnStep RandomPipeline::draw(std::size_t index) {
  DrawnStep step;
  step.index = index;
  step.place = static_cast<StepPlace>(below(4));
  step.phase = oneOf(kDrawnPhases);
  step.priority = static_cast<int>(below(3)) - 1;
  step.value = "v" + std::to_string(index);
  step.name = oneOf(kDrawnNames);
  const bool hasBody = step.phase.ends_with("-body") || step.phase.starts_with("backend");
  const bool isEarly = step.phase.starts_with("request");
  if (hasBody && below(2) == 0) {
    drawBodyStep(step);
    // Only the Backend's own copy of a body may be changed before authentication.
    step.preAuth = isEarly && step.place == StepPlace::kBackend && below(3) == 0;
    return step;
  }
  const bool isPlain = !step.phase.ends_with("-body");
  step.engine = isPlain && below(3) == 0 ? "builtin" : below(2) == 0 ? "lua" : "library";
  step.act = oneOf(std::array<const char*, 3>{"set", "add", "remove"});
  if (step.ofRequest() && step.engine != "builtin" && below(4) == 0) step.act = "stop";
  if (step.phase.ends_with("-headers") && step.phase[0] == 'r' && below(6) == 0) {
    step = DrawnStep{"ext-proc", step.place, step.phase, "set", "x-c", "external", "none", step.priority, false, index};
  }
  step.preAuth = isEarly && step.place != StepPlace::kBackend && below(3) == 0;
  return step;
}

inline void RandomPipeline::drawBodyStep(DrawnStep& step) {
  step.engine = below(2) == 0 ? "lua" : "library";
  step.act = oneOf(std::array<const char*, 3>{"upper", "append", "prepend"});
  step.form = below(2) == 0 ? "whole" : "chunks";
  if (!step.phase.starts_with("backend") && below(4) == 0) {
    step.engine = "ext-proc";
    step.act = "upper";
    step.form = oneOf(std::array<const char*, 3>{"Buffered", "Streamed", "FullDuplexStreamed"});
  }
}

inline std::string RandomPipeline::useOf(const DrawnStep& step) {
  std::string type;
  std::string config;
  if (step.engine == "builtin") {
    type = "sluice.dev/HeaderModifier:v1";
    config = step.act == "remove" ? "remove: [" + step.name + "]"
                                  : step.act + ": [{name: " + step.name + ", value: " + step.value + "}]";
  } else if (step.engine == "ext-proc") {
    type = "sluice.dev/ExtProc:v1";
    const auto way = [&](const std::string& name, bool isMeant) {
      return name + "Headers: " + (isMeant && step.form == "none" ? "Send" : "Skip") + ", " + name +
             "Body: " + (isMeant && step.form != "none" ? step.form : "Skip");
    };
    config = "backendRefs: [" + backendRef(step.form == "none" ? "setting" : "raising") + "], processingMode: {" +
             way("request", step.ofRequest()) + ", " + way("response", !step.ofRequest()) + "}";
  } else {
    type = step.engine == "lua" ? "acme.test/" + step.form + ":v1" : "acme.test/Library:v1";
    config = "act: " + step.act + ", name: " + step.name + ", value: " + step.value + ", form: " + step.form;
  }
  return "{name: s" + std::to_string(step.index) + ", type: '" + type + "', phase: " + step.phase +
         ", priority: " + std::to_string(step.priority) + (step.preAuth ? ", preAuth: true" : "") + ", config: {" +
         config + "}}";
}

/// Returns the script of all steps in Lua that get bodies in this form.
inline std::string editingScript(const std::string& form) {
  std::string script = R"(
local function act(m)
  local c = m.config
  if c.act == "set" then m.headers:set(c.name, c.value) end
  if c.act == "add" then m.headers:add(c.name, c.value) end
  if c.act == "remove" then m.headers:remove(c.name) end
  if c.act == "stop" and m.headers:get("x-stop") == c.value then
    m:respond(418, {["x-a"] = "stopped"}, c.value)
  end
  if c.act == "rematch" then
    m.headers:set(c.name, c.value)
    m:rematch()
  end
end
local function edited(c, text, first, last)
  if c.act == "upper" then return text:upper() end
  if c.act == "append" and last then return text .. c.value end
  if c.act == "prepend" and first then return c.value .. text end
  return text
end
)";
  const std::string whole =
      "local text = m.body:text() if m.config.act ~= \"see\" then m.body:replace(edited(m.config, text, true, true)) "
      "end";
  const std::string chunks = R"(
  local first = true
  repeat
    local piece, last = m.body:chunk()
    if m.config.act ~= "see" then m.body:replace(edited(m.config, piece, first and (#piece > 0 or last), last)) end
    if #piece > 0 then first = false end
  until last
)";
  for (const std::string phase : kDrawnPhases) {
    std::string name = phase;
    std::replace(name.begin(), name.end(), '-', '_');
    const bool hasBody = form != "none" && (phase.ends_with("-body") || phase.starts_with("backend"));
    script += "function " + name + "(m) " + (!hasBody ? "act(m)" : form == "whole" ? whole : chunks) + " end\n";
  }
  return script;
}

/// A request on its way.
struct RandomPipeline::Course {
  const RandomPipeline& pipeline;
  const DrawnMessage& asked;
  StepPlace rule = StepPlace::kRule;
  std::vector<const DrawnStep*> done = {};  // steps of the two rounds whose changes are in effect, in their order
  std::vector<const DrawnStep*> ran = {};   // every step that has run
  const DrawnStep* stopped = nullptr;       // the step that has answered
  bool hasMatchedAgain = false;

  static void edit(const DrawnStep& step, DrawnFields& fields) {
    if (step.act == "set" || step.act == "rematch") fields[step.name] = {step.value};
    if (step.act == "add") fields[step.name].push_back(step.value);
    if (step.act == "remove") fields.erase(step.name);
  }
  static void edit(const DrawnStep& step, std::string& body) {
    if (step.act == "append") body += step.value;
    if (step.act == "prepend") body = step.value + body;
    if (step.act != "upper") return;
    for (char& each : body) each = static_cast<char>(std::toupper(each));
  }

  bool isHere(const DrawnStep& step) const {
    return step.place == rule || step.place == StepPlace::kGateway || step.place == StepPlace::kBackend;
  }
  /// Returns the steps of a phase, in their order.
  std::vector<const DrawnStep*> of(const std::string& phase, bool ofBackend, bool ofOthers) const {
    std::vector<const DrawnStep*> found;
    for (const DrawnStep& step : pipeline.steps_) {
      const bool isMeant = step.place == StepPlace::kBackend ? ofBackend : ofOthers;
      if (isMeant && isHere(step) && step.phase == phase) found.push_back(&step);
    }
    std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->order() < b->order(); });
    return found;
  }
  bool hasRun(const DrawnStep* step) const { return std::find(ran.begin(), ran.end(), step) != ran.end(); }

  /// Runs the steps of one of the two rounds that have not run yet. A step may have the route matched again.
  void runRound(bool isFirst) {
    for (const std::string phase : {"request-headers", "request-body"}) {
      for (const DrawnStep* step : of(phase, false, true)) {
        if (step->preAuth != isFirst || hasRun(step)) continue;
        ran.push_back(step);
        done.push_back(step);
        stopsAt(*step);
        if (stopped != nullptr) return;
        if (step->act != "rematch" || hasMatchedAgain || rule == StepPlace::kOtherRule) continue;
        hasMatchedAgain = true;
        rule = StepPlace::kOtherRule;
        std::erase_if(done, [](const DrawnStep* each) { return each->place != StepPlace::kGateway; });
        runRound(true);
        if (stopped == nullptr) runRound(false);
        return;
      }
    }
  }
  void stopsAt(const DrawnStep& step) {
    const auto stop = asked.fields.find("x-stop");
    if (step.act == "stop" && stop != asked.fields.end() && stop->second.front() == step.value) stopped = &step;
  }
  /// Returns the head: the changes of the first round, the filter of the rule, and the changes of the second round.
  DrawnFields head() const {
    DrawnFields fields = asked.fields;
    for (const DrawnStep* step : done) {
      if (step->preAuth) edit(*step, fields);
    }
    if (pipeline.hasFilter_) fields["x-b"] = {rule == StepPlace::kRule ? "filter" : "other-filter"};
    for (const DrawnStep* step : done) {
      if (!step->preAuth) edit(*step, fields);
    }
    return fields;
  }
};

inline DrawnOutcome RandomPipeline::outcomeOf(const DrawnMessage& request, const std::string& answer) const {
  Course course{*this, request};
  if (request.fields.contains("x-route")) course.rule = StepPlace::kOtherRule;
  course.runRound(true);
  if (course.stopped == nullptr) course.runRound(false);
  DrawnOutcome outcome;
  outcome.sent = {200, course.head(), request.body};
  for (const DrawnStep* step : course.done) course.edit(*step, outcome.sent.body);
  std::vector<const DrawnStep*> ofAttempt;
  for (const bool preAuth : {true, false}) {
    for (const std::string phase : {"request-headers", "request-body"}) {
      for (const DrawnStep* step : course.of(phase, true, false)) {
        if (step->preAuth == preAuth) ofAttempt.push_back(step);
      }
    }
  }
  for (const DrawnStep* step : course.of("backend-request", true, true)) ofAttempt.push_back(step);
  for (const DrawnStep* step : ofAttempt) {
    if (course.stopped != nullptr) break;
    course.edit(*step, outcome.sent.fields);
    course.edit(*step, outcome.sent.body);
    course.stopsAt(*step);
  }
  outcome.reachesOrigin = course.stopped == nullptr;
  outcome.answer.body = answer;
  std::vector<const char*> phases = {"backend-response", "response-headers", "response-body"};
  if (course.stopped != nullptr) {
    outcome.answer = {418, {{"x-a", {"stopped"}}}, course.stopped->value};
    phases = {"response-headers"};
  }
  for (const std::string phase : phases) {
    for (const DrawnStep* step : course.of(phase, true, true)) {
      // No step keeps an answer of the gateway from the client, so nobody waits for those that ask a server.
      if (course.stopped != nullptr && step->engine == "ext-proc") continue;
      course.edit(*step, outcome.answer.fields);
      course.edit(*step, outcome.answer.body);
    }
  }
  return outcome;
}

}  // namespace sluice::test
