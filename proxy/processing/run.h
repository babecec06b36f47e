// The steps of one stretch of an exchange's way, one after the other, and the body on its way through them.
//
// Phases are entered one at a time. A step may begin when those before it have: a head step when they have decided, a
// buffered one when the whole body has come through them. Nothing happens by itself: whoever brings bytes, or an
// answer, calls go(). Lives in the arena of the exchange; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/processing/run_host.h"
#include "proxy/processing/stage.h"
#include "proxy/processing/step_order.h"
#include "proxy/processing/step_run.h"

namespace sluice::processing {

class Run {
 public:
  enum class Outcome : std::uint8_t {
    kDone,        // every step of what was entered has begun
    kWaits,       // for a processor, or for more of the body
    kMatchAgain,  // the step that has just begun asks for it: add() nothing, but go() on when it is done
    kRefused      // the host knows
  };

  /// `flows`: a body follows the head.
  Run(RunHost& host, const RunTarget& target, base::ChunkPool& pool, bool flows);

  /// From here on, steps of a Backend work on `target`, which outlives this and has a head of its own. They share the
  /// body with all other steps, so they may look at it but must not change it.
  void setBackend(const RunTarget& target) { ofBackend_ = &target; }
  /// Once go() says kDone of what was entered before.
  void enter(const StepOrder& steps, Phase phase);
  /// Forgets what is left of what was entered. From here on no step runs that has run already.
  void leave() {
    rerouted_ = true;
    order_ = StepOrder();
  }
  /// Because of which the route shall be matched again.
  const Step* asking() const { return asking_; }
  /// The step itself wants it. Else it is because a field that the step decides about came from the client: that does
  /// not use up the one time that steps may ask.
  bool askedByStep() const { return askedByStep_; }
  /// A body follows after all; no step has wanted it so far.
  void expectBody() {
    flows_ = true;
    out_.ended = false;
  }
  Outcome go();
  /// How much of the body may be added now. `beyond`: bytes that have left the run and are still in the gateway.
  std::size_t room(std::size_t beyond) const;
  /// At most room(). What comes out is in out().
  void add(base::ByteQueue& from, std::size_t count);
  void end();
  Flow& out() { return out_; }
  const Flow& out() const { return out_; }

  /// It holds steps back until more of the body has come.
  bool collects() const { return stages_.empty() ? false : stages_.back().collects(); }
  /// What came in has not been told to be the end.
  bool isOpen() const { return !first().ended; }
  /// What went in is not, or will not be, what comes out.
  bool alters() const {
    return alteredBy([](const Step&) { return true; }) != nullptr;
  }
  /// A step for which counts(const Step&) is true and that has changed the body, or may yet; nullptr: there is none.
  template <typename Counts>
  const Step* alteredBy(Counts&& counts) const {
    for (const Stage& stage : stages_) {
      const Step& step = stage.run.step();
      if ((stage.hasChanged() || stage.mayChange()) && counts(step)) return &step;
    }
    return nullptr;
  }

  /// max(): no step waits.
  base::MonotonicTime deadline() const;
  /// Steps that wait beyond their deadline fail with the next go().
  void expire(base::MonotonicTime now);
  /// False if none waits for it.
  bool answer(Ticket ticket, bool dropped);
  /// What came out has left the gateway.
  void releaseBuffers();

 private:
  /// Most bytes between the first stage and whoever takes them, unless a buffered step collects.
  static constexpr std::size_t kInside = 64 * 1024;

  bool flow();
  std::uint64_t statedLength() const;
  bool wishes();
  bool beginNext(base::MonotonicTime now);
  const Step* nextStep();
  const RunTarget& targetOf(const Step& step) const {
    return step.scope == Scope::kBackend && ofBackend_ != nullptr ? *ofBackend_ : target_;
  }
  bool guardFields(const Step& step, const RunTarget& target);
  bool askHeadStep(base::MonotonicTime& now);
  Flow& first() { return stages_.empty() ? out_ : stages_.front().input; }
  const Flow& first() const { return stages_.empty() ? out_ : stages_.front().input; }
  template <typename Visit>
  void eachStepRun(Visit&& visit);

  RunHost& host_;
  const RunTarget target_;
  const RunTarget* ofBackend_ = nullptr;  // null: its steps work on target_ like all others
  base::ChunkPool& pool_;
  bool flows_;
  bool refused_ = false;
  bool rerouted_ = false;
  bool fresh_ = false;         // the last step that was begun has not been heard for its wish
  bool guarded_ = false;       // the step that was begun last decides about fields that the client had sent
  RouteWish* wish_ = nullptr;  // of the step that was begun last
  const Step* asking_ = nullptr;
  bool askedByStep_ = false;
  StepOrder order_;
  bool ofBodies_ = false;  // the phase that was entered
  std::optional<StepRun> headStep_;
  std::vector<Stage> stages_;
  Flow out_;
};

}  // namespace sluice::processing
