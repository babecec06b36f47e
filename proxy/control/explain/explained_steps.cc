#include "proxy/control/explain/explained_steps.h"

#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/step_queue.h"

namespace sluice::control {
namespace {

using processing::Phase;
using processing::Round;

std::string_view scopeName(processing::Scope scope) {
  switch (scope) {
    case processing::Scope::kGateway:
      return "Gateway";
    case processing::Scope::kRoute:
      return "Route";
    case processing::Scope::kBackend:
      return "Backend";
  }
  return {};
}

std::string fallbackOf(const processing::Step& step) {
  if (step.fallback == nullptr) return {};
  if (step.standIn() != nullptr) return "use " + step.standIn()->name;
  return "response " + std::to_string(step.fallback->status);
}

bool hasStepsOfRequest(const processing::Chains& chains) {
  return processing::hasSteps(chains, Phase::kRequestHeaders) || processing::hasSteps(chains, Phase::kRequestBody);
}

class StepLister {
 public:
  StepLister(const StepSources& sources, base::Duration timeout) : sources_(sources), timeout_(timeout) {}

  std::vector<ExplainedStep> list(Course course) {
    addRequest("before routing", {sources_.preRouting, nullptr, nullptr}, Round::kFirst);
    addRequest("before routing", {sources_.preRouting, nullptr, nullptr}, Round::kSecond);
    if (course == Course::kStopped) {
      addRefusing();
    } else if (course != Course::kRefused) {
      addRounds(course);
    }
    if (course == Course::kUnreached || course == Course::kForwarded) addAttempt();
    if (course == Course::kForwarded) addConnection();
    addPhase("response", Phase::kResponseHeaders);
    if (course == Course::kForwarded) addPhase("response", Phase::kResponseBody);
    return std::move(steps_);
  }

 private:
  processing::Chains all() const { return {sources_.gateway, sources_.route, sources_.backend}; }
  processing::Chains shared() const { return {sources_.gateway, sources_.route, nullptr}; }
  processing::Chains own() const { return {nullptr, nullptr, sources_.backend}; }

  /// Returns true if steps run before the attempt.
  bool hasRounds() const {
    return hasStepsOfRequest({sources_.preRouting, nullptr, nullptr}) || hasStepsOfRequest(shared()) ||
           (sources_.backend != nullptr && sources_.backend->hasPreAuthOfRequest());
  }

  void addRefusing() {
    if (const processing::Step* step = compile::refusingStep(sources_.gateway)) add("before authentication", *step);
  }

  void addRounds(Course course) {
    if (!hasRounds()) return;
    addRequest("before authentication", shared(), Round::kFirst);
    addOwnOfFirst();
    if (course != Course::kDenied) addRequest("after authentication", shared(), Round::kSecond);
  }

  /// From the first step on that works on the body as it flows, the Backend's steps wait for the attempt.
  void addOwnOfFirst() {
    if (sources_.backend == nullptr) return;
    for (const Phase phase : {Phase::kRequestHeaders, Phase::kRequestBody}) {
      for (const processing::Step& step : sources_.backend->of(phase, Round::kFirst)) {
        const bool waits = phase == Phase::kRequestBody && processing::isTakenAsItFlows(step.body.mode);
        if (waits && rest_ == nullptr) rest_ = &step;
        if (rest_ == nullptr) add("before authentication", step);
      }
    }
  }

  void addAttempt() {
    if (rest_ != nullptr) {
      processing::StepQueue queue;
      queue.appendFrom(*sources_.backend, *rest_);
      take("attempt", queue);
    }
    addRequest("attempt", own(), hasRounds() ? Round::kSecond : Round::kBoth);
  }

  void addConnection() {
    addPhase("attempt", Phase::kConnect);
    addPhase("attempt", Phase::kBackendRequest);
    addPhase("response", Phase::kBackendResponse);
  }

  void addRequest(const char* stage, const processing::Chains& chains, Round round) {
    processing::StepQueue queue;
    queue.appendRequest(chains, round);
    take(stage, queue);
  }
  void addPhase(const char* stage, Phase phase) {
    processing::StepQueue queue;
    queue.append(all(), phase);
    take(stage, queue);
  }

  void take(const char* stage, processing::StepQueue& queue) {
    while (const processing::Step* step = queue.next()) add(stage, *step);
  }
  void add(const char* stage, const processing::Step& step) {
    steps_.push_back({stage, std::string(processing::phaseName(step.phase)), std::string(scopeName(step.scope)),
                      step.name, step.type, step.priority, step.failOpen, step.preAuth,
                      step.timeout == base::Duration::zero() ? timeout_ : step.timeout, fallbackOf(step)});
  }

  const StepSources& sources_;
  const base::Duration timeout_;
  std::vector<ExplainedStep> steps_;
  const processing::Step* rest_ = nullptr;  // the first step before authentication that waits for the attempt
};

}  // namespace

std::vector<ExplainedStep> explainedSteps(const StepSources& sources, Course course, base::Duration timeout) {
  return StepLister(sources, timeout).list(course);
}

}  // namespace sluice::control
