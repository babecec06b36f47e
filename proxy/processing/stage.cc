#include "proxy/processing/stage.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice::processing {

Stage::Stage(const Step& step, RunHost& host, base::ChunkPool& pool, bool flows)
    : run(step),
      input(pool),
      flows_(flows),
      state_(step.body.mode == BodyMode::kBuffered ? State::kCollecting : State::kBeginning),
      share_(host.bufferBudget()),
      given_(pool),
      unreleased_(pool) {}

bool Stage::turn(RunHost& host, const RunTarget& target, Flow& to) {
  if (state_ == State::kBeginning && !begin(host, target)) return false;
  if (state_ == State::kCollecting && !collect(host, target)) return false;
  while (state_ == State::kStreaming && !run.waits() && (!given_.empty() || !input.bytes.empty() || input.ended)) {
    if (!stream(host, target, to)) return false;
    // Answered while it was asked: the host goes on, and is the one to notice if that never ends.
    if (run.isDue()) return true;
  }
  if (state_ != State::kPassing) return true;
  to.bytes.splice(input.bytes, input.bytes.size());
  to.ended = input.ended;
  return true;
}

/// The head, before any byte.
bool Stage::begin(RunHost& host, const RunTarget& target) {
  Body body(given_, !flows_);
  const Verdict verdict = run.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() != Verdict::Kind::kContinue) return finish(host, verdict, nullptr);
  state_ = State::kStreaming;
  if (flows_) return true;
  takeWhole(body);
  return finish(host, verdict, nullptr);
}

bool Stage::collect(RunHost& host, const RunTarget& target) {
  if (auto wrong = excess(host, input.bytes.size())) return finish(host, *wrong, nullptr);
  if (!input.ended) return true;
  Body body(input.bytes, true);
  const Verdict verdict = run.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() == Verdict::Kind::kContinue) takeWhole(body);
  return finish(host, verdict, nullptr);
}

void Stage::takeWhole(Body& body) {
  if (!body.isChanged()) return;
  changed_ = true;
  input.bytes = body.takeChanged();
}

bool Stage::stream(RunHost& host, const RunTarget& target, Flow& to) {
  if (!run.isDue()) {
    given_.splice(input.bytes, input.bytes.size());
    last_ = input.ended;
  }
  Body body(given_, last_);
  const Verdict verdict = run.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() != Verdict::Kind::kContinue) return finish(host, verdict, &to);
  release(host, body, to);
  return !body.last() || finish(host, verdict, &to);
}

void Stage::release(RunHost& host, Body& body, Flow& to) {
  if (!body.isChanged() && unreleased_.empty()) return to.bytes.splice(given_, given_.size());
  base::ByteQueue released(given_.pool());
  if (body.isChanged()) {
    changed_ = true;
    released = body.takeChanged();
  } else {
    released.appendCopy(given_, given_.size());
  }
  if (run.step().failOpen && exact_) remember(host, released);
  given_.clear();
  to.bytes.splice(released, released.size());
}

/// Whether all that went on is still what had come, and what of it is still here.
void Stage::remember(RunHost& host, const base::ByteQueue& released) {
  unreleased_.splice(given_, given_.size());
  exact_ = released.size() <= unreleased_.size() && unreleased_.text().starts_with(released.text());
  if (exact_) unreleased_.consume(released.size());
  if (unreleased_.size() > host.bodyLimits().replay) {
    exact_ = false;
    host.onLimit("replayBuffer");
  }
  if (!exact_) unreleased_.clear();
}

std::optional<Verdict> Stage::excess(RunHost& host, std::uint64_t size) {
  const std::uint64_t most = host.bodyLimits().buffer;
  const std::uint64_t own = run.step().body.bound;
  const std::uint64_t bound = own == 0 ? most : std::min(own, most);
  if (size > bound) {
    host.onLimit("processorBuffer");
    return Verdict::fail("the body is longer than " + std::to_string(bound) + " bytes, which is " +
                             (own != 0 && own <= most ? "the processor's bound" : "limits.processorBuffer"),
                         Cause::kOverLimit);
  }
  if (share_.reach(size)) return std::nullopt;
  host.onLimit("processorBufferTotal");
  return Verdict::fail("bodies held for processors take all of limits.processorBufferTotal", Cause::kOverLimit);
}

bool Stage::finish(RunHost& host, const Verdict& verdict, Flow* to) {
  const Step& step = run.step();
  StepOutcome outcome = StepOutcome::kDone;
  if (verdict.kind() == Verdict::Kind::kReply) outcome = StepOutcome::kRefused;
  if (verdict.kind() == Verdict::Kind::kFail) {
    outcome = !step.failOpen ? StepOutcome::kRefused : exact_ ? StepOutcome::kSkipped : StepOutcome::kUnreplayable;
  }
  host.onStep(step, run.time(host), verdict, outcome);
  const bool goesOn = outcome == StepOutcome::kDone || outcome == StepOutcome::kSkipped;
  if (!goesOn && host.ends(step, verdict)) return false;
  state_ = State::kPassing;
  if (to != nullptr && outcome == StepOutcome::kSkipped) {
    to->bytes.splice(unreleased_, unreleased_.size());
    to->bytes.splice(given_, given_.size());
  }
  unreleased_.clear();
  return true;
}

}  // namespace sluice::processing
