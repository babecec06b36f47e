// One step while it runs for one message. It is asked, and may be suspended and asked again; if it fails and fails
// open, its changes of the heads are undone. The pipeline owns it; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/processing/pipeline_host.h"

namespace sluice::processing {

class StepCall {
 public:
  explicit StepCall(const Step& step) : step_(&step) {}
  /// For a step that is asked at once; `now` is the time.
  StepCall(const Step& step, base::MonotonicTime now) : step_(&step), begun_(now) {}

  const Step& step() const { return *step_; }
  /// Asks the processor, or fails if the answer that the step waited for will not come. Must not be called while it
  /// waits. If a step that fails open fails, its changes of the heads and of the destination are undone; after one that
  /// fails closed they are not used any more.
  Verdict ask(PipelineHost& host, const StepTarget& target, Body* body);
  bool waits() const { return wait_ == Wait::kWaiting; }
  /// Returns true if an answer has come since it was last asked.
  bool isDue() const { return wait_ > Wait::kWaiting; }
  /// Returns when it has waited too long; max() if it does not wait, or may do so for ever.
  base::MonotonicTime deadline() const { return ticket_ != 0 ? deadline_ : base::MonotonicTime::max(); }
  /// Returns true if the processor has been asked.
  bool wasAsked() const { return asked_; }

  /// Returns false if it does not wait for that ticket.
  bool answer(Ticket ticket, bool dropped);
  void expire();
  /// Called when it has decided and will not be asked again.
  void end() {
    if (memory_ != nullptr) holds_->release(std::exchange(memory_, nullptr));
    callouts_.clear();
  }
  /// Return the time from when the step was first asked until now, or until `now`.
  base::Duration time(const PipelineHost& host) const { return timeUntil(host.clock().now()); }
  base::Duration timeUntil(base::MonotonicTime now) const { return now - begun_; }

 private:
  enum class Wait : std::uint8_t { kNone, kWaiting, kResumed, kDropped, kExpired };
  class Control;
  struct KeptHeads;

  /// Returns the verdict of a step whose wait has timed out.
  Verdict unanswered(Call& call);
  /// Returns false if there is nothing to wait for.
  bool suspend(const PipelineHost& host);
  /// Records whether the server that the step asks has answered, as the verdict shows. `resumed` is true if the step
  /// has waited before.
  void noteServer(const PipelineHost& host, const Verdict& verdict, bool resumed) const;
  void decide(const Verdict& verdict, const StepTarget& target, const Body* body);
  /// Returns how long it may wait for one answer.
  base::Duration patience(const PipelineHost& host) const {
    return step_->timeout == base::Duration::zero() ? host.patience() : step_->timeout;
  }
  /// Returns nullptr unless the step may narrow the destination.
  Destination* narrowed(const StepTarget& target) const {
    return step_->phase == Phase::kConnect ? target.destination : nullptr;
  }
  Destination* shown(const StepTarget& target) const {
    const bool isTaken = target.destination != nullptr && target.destination->isTaken();
    return step_->phase == Phase::kBackendRequest && isTaken ? target.destination : narrowed(target);
  }
  void keepHeads(const StepTarget& target);
  void restoreHeads(const StepTarget& target);

  const Step* step_;
  void* memory_ = nullptr;  // the state that Call::state() has made
  Holds* holds_ = nullptr;  // which give that state back; null until the processor is asked
  Wait wait_ = Wait::kNone;
  bool asked_ = false;
  bool decided_ = false;  // about the heads; its later changes of them have no effect
  Ticket ticket_ = 0;     // of the Resumer that may still resume it
  base::MonotonicTime begun_{};
  base::MonotonicTime deadline_ = base::MonotonicTime::max();  // valid while ticket_ is not 0
  std::vector<std::unique_ptr<Callout>> callouts_;
  const KeptHeads* kept_ = nullptr;  // null unless the step fails open and has not decided

  /// The fields behind the body as they came; null unless the step has seen them and its changes may be undone.
  const http::Headers* keptTrailers_ = nullptr;
};

}  // namespace sluice::processing
