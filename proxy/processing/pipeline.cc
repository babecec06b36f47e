#include "proxy/processing/pipeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice::processing {
namespace {

PipelineBody bodyOf(BodyPath path) {
  switch (path) {
    case BodyPath::kBypasses:
      return PipelineBody::kBypasses;
    case BodyPath::kEmpty:
      return PipelineBody::kEmpty;
    case BodyPath::kFlows:
      break;
  }
  return PipelineBody::kOpen;
}

/// Removes the fields that the step, or one that stands in for it, alone decides about if a client has sent them, even
/// if the step is then skipped. Returns true if there were any.
bool guardFields(PipelineHost& host, const Step& step, const StepTarget& target, bool ofAttempt) {
  bool sent = false;
  for (const Step* each = &step; each != nullptr; each = each->standIn()) {
    for (const std::string& owned : each->processor->ownedFields()) {
      if (!host.dropSent(target.request, owned)) continue;
      sent = true;
      // The head of the attempt may be made again from one that still has these fields, so the removal is recorded as
      // an edit.
      if (ofAttempt) RequestEditor(target.arena, target.request, step, target.edits).removeTwins(owned);
    }
  }
  return sent;
}

/// Returns the key in Holds under which the failure of a step with a stand-in is known. The address of the processor
/// itself is the key of the processor's own state.
const void* keyOf(const Step& step) { return reinterpret_cast<const char*>(step.processor.get()) + 1; }

/// Returns the step, or the one that stands in for it because it has failed in an earlier phase of the exchange.
const Step& orStandIn(const Step& step, const StepTarget& target) {
  const Step* found = &step;
  while (found->standIn() != nullptr && target.lastingFor(*found).find(keyOf(*found)) != nullptr) {
    found = found->standIn();
  }
  return *found;
}

/// Has the stand-in of a step run next, and in later phases in the place of the step, if it has one. The changes of the
/// step are undone.
void replace(const Step& failed, const StepTarget& target, StepQueue& queue) {
  if (failed.standIn() == nullptr) return;
  target.lastingFor(failed).add(
      target.arena, &failed, [](const void*) {}, keyOf(failed));
  queue.insert(*failed.standIn());
}

}  // namespace

Pipeline::Pipeline(PipelineHost& host, const StepTarget& target, base::ChunkPool& pool, BodyPath path)
    : source(pool), host_(host), target_(target), pool_(pool), body_(bodyOf(path)), out_(pool) {
  out_.ended = !flows();
}

void Pipeline::leaveRoute() {
  rerouted_ = true;
  queue_.clear();
  sealed_ = false;
}

void Pipeline::carry(BodyPath path) {
  if (path == BodyPath::kFlows) {
    body_ = PipelineBody::kOpen;
    out_.ended = false;
  } else if (!carries()) {
    body_ = PipelineBody::kEmpty;
  }
}

Pipeline::Outcome Pipeline::go(base::ByteQueue& to, std::size_t beyond) {
  feed(beyond + to.size());
  if (refused_ || (!stages_.empty() && !flow(beyond + to.size()))) return Outcome::kRefused;
  // A head step begins when the one before it has ended. Zero: stages have run since, or no step has ended.
  base::MonotonicTime now{};
  while (true) {
    bool rests = headStep_ ? headStep_->waits() : !stages_.empty() && !stages_.back().hasBegun();
    if (headStep_ && !rests) {
      const Verdict verdict = headStep_->ask(host_, targetOf(headStep_->step()), nullptr);
      rests = verdict.kind() == Verdict::Kind::kWait;
      if (!rests) {
        now = host_.clock().now();
        if (!endHeadStep(verdict, now)) return Outcome::kRefused;
      }
    }
    if (!rests) {
      if (wishes(std::exchange(newest_, Newest::kHeard))) return Outcome::kMatchAgain;
      if (beginNext(now)) {
        if (headStep_) continue;
        if (!flow(beyond + to.size())) return Outcome::kRefused;
        now = {};
        continue;
      }
    }
    const bool begun = !headStep_ && (stages_.empty() || stages_.back().hasBegun());
    if (begun && sealed_ && carries()) to.splice(out_.bytes, out_.bytes.size());
    if (!feed(beyond + to.size())) return begun ? Outcome::kDone : Outcome::kWaits;
    if (!flow(beyond + to.size())) return Outcome::kRefused;
    now = {};
  }
}

/// Gives the first stage the bytes, and the end, that there is room for. Returns true if there was anything to give.
bool Pipeline::feed(std::size_t beyond) {
  if (!carries()) return false;
  const std::size_t count = std::min(room(beyond), source.size());
  if (count > 0) {
    first().bytes.splice(source, count);
    fed_ += count;
  }
  if (isOpen() || !source.empty() || first().ended) return count > 0;
  first().ended = true;
  if (trailers) first().trailers = &*trailers;
  return true;
}

void Pipeline::end(std::optional<http::Trailers> behind) {
  if (isOpen()) body_ = PipelineBody::kEnded;
  if (behind) trailers.emplace(*std::move(behind));
}

bool Pipeline::tookEnd() {
  const bool through = sealed_ && out_.ended && out_.bytes.empty();
  return through && queue_.empty() && !std::exchange(endTold_, true);
}

/// Looks at the wish of the step that was begun last. Returns true if the route is to be matched again.
bool Pipeline::wishes(Newest newest) {
  if (newest == Newest::kHeard || wish_ == nullptr) return false;
  askedByStep_ = std::exchange(wish_->matchAgain, false);
  asking_ = wish_->asking;
  return newest == Newest::kGuards || askedByStep_;
}

bool Pipeline::leaveOut() {
  if (!headStep_ || !headStep_->waits()) return false;
  headStep_->end();
  headStep_.reset();
  return true;
}

/// Returns true if the step has begun for another rule. A use of a processor that several rules of a route share has a
/// Step in each of them.
bool Pipeline::hasRun(const Step& step) const {
  const RequestEdits* edits = targetOf(step).edits;
  return edits != nullptr && edits->hasBegun([&step](const Step& other) { return isSameStep(other, step); });
}

/// Returns how the step wants the body of this message.
BodyMode modeOf(const Step& step, const StepTarget& target) {
  const BodyMode usual = hasBody(step.phase) ? step.body.mode : BodyMode::kNone;
  if (usual == BodyMode::kNone) return usual;
  return step.processor->bodyMode(usual, {step.phase, target.request, target.response, target.lastingFor(step)});
}

/// Begins the next step. Returns false if there is none. `now` is zero if the time is not known.
inline bool Pipeline::beginNext(base::MonotonicTime now) {
  const Step* step = queue_.takeInserted();
  if (step == nullptr) {
    // A step that has run for the former rule does not run again, but its stand-in may be due.
    do {
      listed_ = step = queue_.next();
      if (step != nullptr) step = &orStandIn(*step, targetOf(*step));
    } while (step != nullptr && rerouted_ && hasRun(*step));
  }
  if (step == nullptr) return false;
  const StepTarget& target = targetOf(*step);
  wish_ = target.wish;
  if (target.edits != nullptr) target.edits->begin(target.arena, *step);
  const bool guards =
      step->ownsFields && target.response == nullptr && guardFields(host_, *step, target, &target == ofBackend_);
  newest_ = guards ? Newest::kGuards : Newest::kBegun;
  if (guards && wish_ != nullptr) wish_->asking = step;
  const BodyMode mode = modeOf(*step, target);
  OwnBody* const own = target.ownBody;
  if (own != nullptr && isTakenAsItFlows(mode)) {
    own->rest = listed_;
    queue_.clear();
    return false;
  }
  if (mode == BodyMode::kNone) {
    headStep_.emplace(*step, now);
    return true;
  }
  stages_.emplace_back(*step, mode, host_, pool_, flows(), statedLength(own), own);
  std::swap(stages_.back().input, out_);
  return true;
}

/// Returns the length of the body as the next stage will get it; 0 if that is not known. `own` may be null.
std::uint64_t Pipeline::statedLength(const OwnBody* own) const {
  if (alters() || (own != nullptr && own->isChanged())) return 0;
  if (target_.response == nullptr)
    return target_.request.body == http::Body::kLength ? target_.request.contentLength : 0;
  return target_.response->body == http::Body::kLength ? target_.response->contentLength.value_or(0) : 0;
}

/// Forgets the head step, which has decided at `now`. Returns false if the message goes no further.
inline bool Pipeline::endHeadStep(const Verdict& verdict, base::MonotonicTime now) {
  const Step& step = headStep_->step();
  const bool failed = verdict.kind() == Verdict::Kind::kFail;
  const bool goesOn = verdict.kind() == Verdict::Kind::kContinue || (failed && isSkipped(step, verdict));
  const StepOutcome outcome = !goesOn ? StepOutcome::kRefused : failed ? StepOutcome::kSkipped : StepOutcome::kDone;
  host_.onStep(step, headStep_->timeUntil(now), verdict, outcome);
  if (outcome == StepOutcome::kSkipped) replace(step, targetOf(step), queue_);
  headStep_->end();
  headStep_.reset();
  refused_ = !goesOn && host_.ends(step, verdict);
  return !refused_;
}

/// Moves the bytes that have come through the stages. Returns false if the message goes no further. `outside` is the
/// number of bytes that have left them and were not taken yet.
bool Pipeline::flow(std::size_t outside) {
  bool more = !stages_.empty();
  while (more) {
    more = false;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const bool isLast = i + 1 == stages_.size();
      Flow& to = isLast ? out_ : stages_[i + 1].input;
      std::size_t room = !isLast && stages_[i + 1].collects() ? std::numeric_limits<std::size_t>::max() : kInside;
      // The output of a kDuplex step is bounded, including the bytes that have left the pipeline and were not taken
      // yet.
      const bool inItsOwnTime = stages_[i].mode() == BodyMode::kDuplex;
      if (isLast && inItsOwnTime) room -= std::min(room, outside);
      if (!stages_[i].turn(host_, targetOf(stages_[i].call.step()), to, room)) {
        refused_ = true;
        return false;
      }
      const Step& step = stages_[i].call.step();
      if (std::exchange(stages_[i].skipped, false)) replace(step, targetOf(step), queue_);
      more = more || (stages_[i].hasMore() && to.bytes.size() < room);
    }
  }
  return true;
}

void Pipeline::dropBody() {
  source.clear();
  out_.bytes.clear();
  for (BodyStage& stage : stages_) stage.drop();
}

std::size_t Pipeline::room(std::size_t beyond) const {
  std::size_t inside = beyond + out_.bytes.size();
  bool waits = headStep_.has_value();
  for (const BodyStage& stage : stages_) {
    inside += stage.held();
    waits = waits || stage.call.waits() || stage.pauses();
  }
  if (collects() && !waits) return std::numeric_limits<std::size_t>::max();
  return inside < kInside ? kInside - inside : 0;
}

template <typename Visit>
void Pipeline::eachCall(Visit&& visit) {
  if (headStep_) visit(*headStep_);
  for (BodyStage& stage : stages_) visit(stage.call);
}

const Step* Pipeline::suspended() const {
  if (headStep_ && headStep_->waits()) return &headStep_->step();
  const auto found =
      std::find_if(stages_.begin(), stages_.end(), [](const BodyStage& stage) { return stage.call.waits(); });
  return found != stages_.end() ? &found->call.step() : nullptr;
}

base::MonotonicTime Pipeline::deadline() const {
  base::MonotonicTime first = headStep_ ? headStep_->deadline() : base::MonotonicTime::max();
  for (const BodyStage& stage : stages_) first = std::min(first, stage.call.deadline());
  return first;
}

void Pipeline::expire(base::MonotonicTime now) {
  eachCall([now](StepCall& each) {
    if (each.deadline() <= now) each.expire();
  });
}

bool Pipeline::answer(Ticket ticket, bool dropped) {
  bool found = false;
  eachCall([&](StepCall& each) { found = found || each.answer(ticket, dropped); });
  for (BodyStage& stage : stages_) found = found || stage.answer(ticket);
  return found;
}

void Pipeline::keepRoomFor(std::uint64_t count) {
  count += out_.bytes.size();
  std::uint64_t own = ofBackend_ != nullptr && ofBackend_->ownBody != nullptr ? ofBackend_->ownBody->bytes.size() : 0;
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    stage->keepRoomFor(count + (stage->own.isUsed() ? std::exchange(own, 0) : 0));
    count = stage->holdsWhole() ? 0 : count + stage->held();
  }
}

}  // namespace sluice::processing
