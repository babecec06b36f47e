// Lists the steps of payload processors that a request and its response go through, in the order in which they run. The
// order within a phase is that of the data plane's own queue (processing/step_queue.h); the order of the rounds is that
// of exchange/steps/processing.h.
#pragma once

#include <vector>

#include "proxy/base/clock.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/processing/chain.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// The chains that a request passes; any may be null.
struct StepSources {
  const processing::Chain* preRouting = nullptr;
  const processing::Chain* gateway = nullptr;
  const processing::Chain* route = nullptr;
  const processing::Chain* backend = nullptr;
};

/// How far a request goes.
enum class Course : std::uint8_t {
  kRefused,    // its route, or the lack of one, answers
  kStopped,    // a step of the Gateway answers because it cannot run (control::refusingStep())
  kDenied,     // policies deny its Backend, as they do between the rounds
  kAnswered,   // a filter answers, or the rule names no backends
  kUnreached,  // policies deny all addresses of its Backend
  kForwarded,  // a Backend gets it
};

/// `timeout` is the one of steps that have none of their own.
std::vector<ExplainedStep> explainedSteps(const StepSources& sources, Course course, base::Duration timeout);

}  // namespace sluice::control
