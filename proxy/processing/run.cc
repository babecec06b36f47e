#include "proxy/processing/run.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice::processing {

Run::Run(RunHost& host, const RunTarget& target, base::ChunkPool& pool, bool flows)
    : host_(host), target_(target), pool_(pool), flows_(flows), out_(pool) {
  out_.ended = !flows;
}

void Run::enter(const StepOrder& steps, Phase phase) {
  order_ = steps;
  ofBodies_ = hasBody(phase);
}

Run::Outcome Run::go() {
  if (refused_ || (!stages_.empty() && !flow())) return Outcome::kRefused;
  // When the last step ended, which is when the next one begins: a step that does little costs little more than that.
  base::MonotonicTime now{};
  while (true) {
    if (headStep_) {
      if (!askHeadStep(now)) return Outcome::kRefused;
      if (headStep_) return Outcome::kWaits;
    } else if (!stages_.empty() && !stages_.back().hasBegun()) {
      return Outcome::kWaits;
    } else if (std::exchange(fresh_, false) && wishes()) {
      return Outcome::kMatchAgain;
    } else if (!beginNext(now)) {
      return Outcome::kDone;
    } else if (!headStep_ && !flow()) {
      return Outcome::kRefused;
    }
  }
}

bool Run::wishes() {
  if (wish_ == nullptr) return false;
  askedByStep_ = std::exchange(wish_->matchAgain, false);
  asking_ = wish_->asking;
  return std::exchange(guarded_, false) || askedByStep_;
}

/// Returns the next step to run, or nullptr if there is none.
const Step* Run::nextStep() {
  const Step* step = order_.next();
  // A use of a processor that several rules of a route share has a Step in each of them.
  const auto hasRun = [this](const Step& each) {
    const RequestEdits* edits = targetOf(each).edits;
    return edits != nullptr && edits->hasBegun([&each](const Step& other) { return isSameStep(other, each); });
  };
  while (step != nullptr && rerouted_ && hasRun(*step)) step = order_.next();
  return step;
}

/// Takes away what a client sent in the fields that the step decides about, whatever becomes of the step. True if there
/// was something.
bool Run::guardFields(const Step& step, const RunTarget& target) {
  bool sent = false;
  for (const std::string& owned : step.processor->ownedFields()) {
    if (!host_.dropSent(target.request, owned)) continue;
    sent = true;
    // The head of the attempt is made anew, from one that still has them.
    if (&target == ofBackend_) RequestEditor(target.arena, target.request, step, target.edits).removeTwins(owned);
  }
  return sent;
}

/// False: there is none. `now` may be unknown.
bool Run::beginNext(base::MonotonicTime now) {
  const Step* step = nextStep();
  if (step == nullptr) return false;
  fresh_ = true;
  const RunTarget& target = targetOf(*step);
  wish_ = target.wish;
  if (target.edits != nullptr) target.edits->begin(target.arena, *step);
  guarded_ = target.response == nullptr && guardFields(*step, target);
  if (guarded_ && wish_ != nullptr) wish_->asking = step;
  const bool wantsBody =
      ofBodies_ && step->body.mode != BodyMode::kNone && step->processor->wantsBody(target.request, target.response);
  if (!wantsBody) {
    headStep_.emplace(*step, now);
    return true;
  }
  stages_.emplace_back(*step, host_, pool_, flows_, statedLength());
  std::swap(stages_.back().input, out_);
  return true;
}

/// Of the body as the next stage will get it; 0 if that is not known.
std::uint64_t Run::statedLength() const {
  if (alters()) return 0;
  if (target_.response == nullptr)
    return target_.request.body == http::Body::kLength ? target_.request.contentLength : 0;
  return target_.response->body == http::Body::kLength ? target_.response->contentLength.value_or(0) : 0;
}

/// False: the exchange is refused. Of a step that has decided nothing is left; `now` is when it had.
bool Run::askHeadStep(base::MonotonicTime& now) {
  const Verdict verdict = headStep_->ask(host_, targetOf(headStep_->step()), nullptr);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  const Step& step = headStep_->step();
  const bool failed = verdict.kind() == Verdict::Kind::kFail;
  const bool goesOn = verdict.kind() == Verdict::Kind::kContinue || (failed && isSkipped(step, verdict));
  const StepOutcome outcome = !goesOn ? StepOutcome::kRefused : failed ? StepOutcome::kSkipped : StepOutcome::kDone;
  now = host_.clock().now();
  host_.onStep(step, headStep_->timeUntil(now), verdict, outcome);
  headStep_.reset();
  refused_ = !goesOn && host_.ends(step, verdict);
  return !refused_;
}

bool Run::flow() {
  bool more = true;
  while (more) {
    more = false;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const bool isLast = i + 1 == stages_.size();
      Flow& to = isLast ? out_ : stages_[i + 1].input;
      const std::size_t room = !isLast && stages_[i + 1].collects() ? std::numeric_limits<std::size_t>::max() : kInside;
      if (!stages_[i].turn(host_, targetOf(stages_[i].run.step()), to, room)) {
        refused_ = true;
        return false;
      }
      more = more || (stages_[i].hasMore() && to.bytes.size() < room);
    }
  }
  return true;
}

std::size_t Run::room(std::size_t beyond) const {
  std::size_t inside = beyond + out_.bytes.size();
  bool waits = headStep_.has_value();
  for (const Stage& stage : stages_) {
    inside += stage.held();
    waits = waits || stage.run.waits() || stage.pauses();
  }
  if (collects() && !waits) return std::numeric_limits<std::size_t>::max();
  return inside < kInside ? kInside - inside : 0;
}

void Run::add(base::ByteQueue& from, std::size_t count) { first().bytes.splice(from, count); }

void Run::end() { first().ended = true; }

template <typename Visit>
void Run::eachStepRun(Visit&& visit) {
  if (headStep_) visit(*headStep_);
  for (Stage& stage : stages_) visit(stage.run);
}

base::MonotonicTime Run::deadline() const {
  base::MonotonicTime first = headStep_ ? headStep_->deadline() : base::MonotonicTime::max();
  for (const Stage& stage : stages_) first = std::min(first, stage.run.deadline());
  return first;
}

void Run::expire(base::MonotonicTime now) {
  eachStepRun([now](StepRun& each) {
    if (each.deadline() <= now) each.expire();
  });
}

bool Run::answer(Ticket ticket, bool dropped) {
  bool found = false;
  eachStepRun([&](StepRun& each) { found = found || each.answer(ticket, dropped); });
  for (Stage& stage : stages_) found = found || stage.answer(ticket);
  return found;
}

void Run::releaseBuffers() {
  for (Stage& stage : stages_) stage.releaseBuffer();
}

}  // namespace sluice::processing
