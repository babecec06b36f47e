#include "filters/library/library_processor.h"

#include <utility>

#include "filters/library/border.h"
#include "filters/library/call_frame.h"
#include "filters/library/suspensions.h"

namespace sluice::filters::library {
namespace {

using processing::BodyMode;
using processing::Phase;
using processing::Verdict;

/// The state of a step between its calls, which it gives back at its end.
class LibraryStep {
 public:
  LibraryStep() = default;
  LibraryStep(const LibraryStep&) = delete;
  LibraryStep& operator=(const LibraryStep&) = delete;
  ~LibraryStep() {
    waitNoMore();
    const bool isKept = memory.kept != nullptr && use != nullptr && use->processor().end != nullptr;
    if (isKept) across([this] { use->processor().end(use->configured(), memory.kept); });
  }

  void waitNoMore() {
    if (memory.handle != 0) Suspensions::all().cancel(std::exchange(memory.handle, 0));
  }

  StepMemory memory;
  const LibraryUse* use = nullptr;
};

BodyMode modeOf(int wanted) {
  switch (wanted) {
    case SLUICE_BODY_WHOLE:
      return BodyMode::kBuffered;
    case SLUICE_BODY_CHUNKS:
      return BodyMode::kStreamed;
    case SLUICE_BODY_INSPECT:
      return BodyMode::kInspected;
    default:
      return BodyMode::kNone;
  }
}

}  // namespace

LibraryProcessor::LibraryProcessor(std::unique_ptr<const LibraryUse> use, LibraryUseName name, std::uint8_t phases)
    : use_(std::move(use)), name_(std::move(name)) {
  for (std::size_t i = 0; i < processing::kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if ((phases & use_->processor().phases & processing::bitOf(phase)) == 0) continue;
    phases_.push_back(phase);
    if (processing::hasBody(phase)) bodies_[i] = interestIn(phase);
  }
}

processing::BodyInterest LibraryProcessor::interestIn(Phase phase) {
  const sluice_processor& library = use_->processor();
  if (library.body == nullptr) return {};
  std::string thrown;
  const int wanted = across<int>([&] { return library.body(use_->configured(), static_cast<int>(phase)); }, -1, thrown);
  const int form = wanted & ~SLUICE_BODY_TEXT;
  if (wanted < 0 || form > SLUICE_BODY_INSPECT) {
    fault_ = "the library wants the body of " + std::string(processing::phaseName(phase)) +
             " in a form that is none: " + (thrown.empty() ? std::to_string(wanted) : "it has thrown " + thrown);
    return {};
  }
  const BodyMode mode = modeOf(form);
  return {mode, 0, mode == BodyMode::kBuffered || mode == BodyMode::kStreamed, (wanted & SLUICE_BODY_TEXT) != 0};
}

Verdict LibraryProcessor::process(processing::Call& call, const processing::Peer& peer) const {
  // Most steps keep nothing, never wait and write nothing, so they have no state.
  StepMemory unkept;
  LibraryStep* step = call.memory != nullptr ? &call.state<LibraryStep>() : nullptr;
  if (step != nullptr) step->waitNoMore();
  sluice_call frame{{call, peer, step != nullptr ? step->memory : unkept, name_}};
  std::string thrown;
  const base::MonotonicTime begun = clock_.now();
  const int returned =
      across<int>([&] { return use_->processor().process(use_->configured(), &frame); }, SLUICE_FAIL, thrown);
  timesOf(call).observe(clock_.now() - begun);
  if (unkept.kept != nullptr || unkept.handle != 0 || unkept.records != 0) {
    step = &call.state<LibraryStep>();
    step->memory = unkept;
    step->use = use_.get();
  }
  Verdict verdict = verdictOf(returned, frame, thrown);
  if (step != nullptr && verdict.kind() != Verdict::Kind::kWait) step->waitNoMore();
  return verdict;
}

std::optional<Verdict> LibraryProcessor::expired(processing::Call& call) const {
  if (call.memory != nullptr) call.state<LibraryStep>().waitNoMore();
  return std::nullopt;
}

Verdict LibraryProcessor::verdictOf(int returned, CallFrame& frame, const std::string& thrown) {
  if (!thrown.empty()) return Verdict::fail("the library has thrown " + thrown);
  if (!frame.fault.empty()) return Verdict::fail(std::move(frame.fault));
  switch (returned) {
    case SLUICE_CONTINUE:
      return Verdict::goOn();
    case SLUICE_WAIT:
      if (frame.memory.handle == 0) return Verdict::fail("the library waits without a handle");
      return Verdict::wait();
    case SLUICE_RESPOND:
      if (!frame.reply) return Verdict::fail("the library answers without an answer");
      return Verdict::reply(*std::move(frame.reply));
    case SLUICE_FAIL:
      return Verdict::fail(frame.failure.empty() ? "the library has failed" : std::move(frame.failure));
    default:
      return Verdict::fail("the library returned " + std::to_string(returned) + ", which is no verdict");
  }
}

observe::Histogram& LibraryProcessor::timesOf(const processing::Call& call) const {
  auto& times = call.services.workerStates().get<CallTimes>(owner_);
  observe::Histogram*& known = times.of[static_cast<std::size_t>(call.phase)];
  if (known == nullptr) {
    known = &call.services.metrics().at<observe::Metric::kLibraryCalls>(name_.type, processing::phaseName(call.phase));
  }
  return *known;
}

}  // namespace sluice::filters::library
