// One step of one exchange while it runs: asked, perhaps waiting, asked again; and what is undone if it fails.
//
// Owned by the Run; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/processing/run_host.h"

namespace sluice::processing {

class StepRun {
 public:
  explicit StepRun(const Step& step) : step_(&step) {}
  /// One that is asked at once, where what the time is has just been asked.
  StepRun(const Step& step, base::MonotonicTime now) : step_(&step), begun_(now) {}

  const Step& step() const { return *step_; }
  /// Asks the processor, unless it waits still. What a step that fails wrote into the heads, and what it took from the
  /// destination, is undone, if it fails open; with closed ones nobody sees them any more.
  Verdict ask(RunHost& host, const RunTarget& target, Body* body);
  bool waits() const { return wait_ == Wait::kWaiting; }
  /// An answer has come since it was last asked.
  bool isDue() const { return wait_ > Wait::kWaiting; }
  /// max() unless it waits.
  base::MonotonicTime deadline() const { return waits() ? deadline_ : base::MonotonicTime::max(); }

  /// False if it is not what that ticket waits for.
  bool answer(Ticket ticket, bool dropped);
  void expire();
  /// It has decided, and will not be asked again.
  void end() { callouts_.clear(); }
  /// Since it was first asked.
  base::Duration time(const RunHost& host) const { return timeUntil(host.clock().now()); }
  base::Duration timeUntil(base::MonotonicTime now) const { return now - begun_; }

 private:
  enum class Wait : std::uint8_t { kNone, kWaiting, kResumed, kDropped, kExpired };
  class Control;

  Verdict call(RunHost& host, const RunTarget& target, Body* body);
  /// How long it may wait for one answer.
  base::Duration patience(const RunHost& host) const {
    return step_->timeout == base::Duration::zero() ? host.patience() : step_->timeout;
  }
  /// Null unless the step is one of the phase connect.
  Destination* destinationOf(const RunTarget& target) const {
    return step_->phase == Phase::kConnect ? target.destination : nullptr;
  }
  void keepHeads(const RunTarget& target);
  void restoreHeads(const RunTarget& target);

  const Step* step_;
  void* memory_ = nullptr;  // the processor's
  Wait wait_ = Wait::kNone;
  bool asked_ = false;
  bool decided_ = false;  // on the heads: what it says of them later has no effect
  Ticket ticket_ = 0;
  base::MonotonicTime begun_{};
  base::MonotonicTime deadline_{};
  std::vector<std::unique_ptr<Callout>> callouts_;
  /// Of a step that fails open: the lists of fields and of addresses as they were, never their bytes. In the arena.
  const http::RequestHead* request_ = nullptr;
  const http::ResponseHead* response_ = nullptr;
  const Destination* destination_ = nullptr;
  RequestEdits::Mark edits_ = nullptr;
};

}  // namespace sluice::processing
