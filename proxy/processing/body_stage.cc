#include "proxy/processing/body_stage.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace sluice::processing {
namespace {

// The text of a coded body may be much longer than the body, so a step is given at most this much at a time.
constexpr std::size_t kPiece = 64 * 1024;
// An inspecting step is shown kShown bytes at a time. After kMostOfTurn bytes or kLongestTurn it pauses, so that other
// exchanges of the worker have their turn.
constexpr std::size_t kShown = 16 * 1024;
constexpr std::size_t kMostOfTurn = 256 * 1024;
constexpr base::Duration kLongestTurn = std::chrono::milliseconds(1);

bool collectsAll(BodyMode mode) { return mode == BodyMode::kBuffered || isInspected(mode); }

/// Returns the most bytes of a body that the step may wait for.
std::uint64_t boundOf(const Step& step, const BodyLimits& limits) {
  return step.body.bound == 0 ? limits.buffer : std::min(step.body.bound, limits.buffer);
}

/// Returns the next step of the work: decoding if there may be more `text`, or the end if the body has `ended`.
Ahead ahead(bool text, bool ended) { return text ? Ahead::kText : ended ? Ahead::kNothing : Ahead::kUnknown; }

Verdict noRoom(PipelineHost& host) {
  host.onLimit("processorBufferTotal");
  return Verdict::fail("bodies held for processors take all of limits.processorBufferTotal", Cause::kNoRoom,
                       "processorBufferTotal");
}

}  // namespace

BodyStage::BodyStage(const Step& step, BodyMode mode, PipelineHost& host, base::ChunkPool& pool, bool flows,
                     std::uint64_t stated, OwnBody* ownBody)
    : call(step),
      input(pool),
      own(ownBody),
      mode_(mode),
      flows_(flows),
      stated_(stated),
      state_(collectsAll(mode) ? State::kCollecting : State::kBeginning),
      share_(host.bufferRoom(), host.peer().address),
      given_(pool),
      coded_(pool),
      unreleased_(pool) {}

bool BodyStage::turn(PipelineHost& host, const StepTarget& target, Flow& to, std::size_t room) {
  if (share_.hasGivenWay() && !giveWay(host, to)) return false;
  if (!prepare(host, target)) return false;
  if (mode_ == BodyMode::kDuplex && asks()) {
    if (!converse(host, target, to, room)) return false;
    return asks() || pass(host, to, room);
  }
  if (state_ == State::kBeginning && !begin(host, target)) return false;
  if (state_ == State::kCollecting && !collect(host, target)) return false;
  const auto has = [&] { return call.isDue() || ahead_ == Ahead::kText || !input.bytes.empty() || input.ended; };
  const auto fits = [&] { return ahead_ != Ahead::kText || to.bytes.size() < room; };
  while (state_ == State::kStreaming && !call.waits() && has() && fits()) {
    if (!stream(host, target, to)) return false;
    // The answer came while the step was asked. The host calls again, and notices if that never ends.
    if (call.isDue()) return true;
  }
  return asks() || pass(host, to, room);
}

/// Begins the decoding of the body if the step wants text. Returns false if the exchange is refused because the text
/// cannot be decoded.
bool BodyStage::prepare(PipelineHost& host, const StepTarget& target) {
  if (std::exchange(prepared_, true) || !flows_ || !call.step().body.decoded) return true;
  const std::optional<Verdict> wrong = text_.begin(host, target);
  return !wrong || finish(host, *wrong, input);
}

/// Asks a streamed step about the head, before any byte.
bool BodyStage::begin(PipelineHost& host, const StepTarget& target) {
  if (call.waits()) return true;
  Body body(given_, !flows_, share_, needed() - claimed_, claimed_);
  const Verdict verdict = call.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() != Verdict::Kind::kContinue) return finish(host, verdict, input);
  state_ = State::kStreaming;
  if (!flows_) {
    takeWhole(body);
    return finish(host, verdict, input);
  }
  if (text_.isNeeded() && call.step().body.edits) {
    PlainText::strip(target, call.step());
    stripped_ = changed_ = true;
  }
  return true;
}

bool BodyStage::collect(PipelineHost& host, const StepTarget& target) {
  if (!own.enter(input.bytes, input.trailers, input.ended, mode_ == BodyMode::kBuffered)) return true;
  if (mode_ != BodyMode::kSearched) {
    if (const auto wrong = excess(host, std::max(come(), stated_))) return finish(host, *wrong, input);
  }
  if (!reach(host)) return finish(host, noRoom(host), input);
  if (input.ended) share_.settle();
  if (isInspected(mode_)) return inspect(host, target);
  if (!input.ended || call.waits()) return true;
  if (text_.isNeeded() && !call.isDue()) {
    if (const auto wrong = decodeWhole(host)) return finish(host, *wrong, input);
  }
  Body body(text_.isNeeded() ? given_ : input.bytes, true, share_, needed() - claimed_, claimed_);
  body.setTrailers(input.trailers);
  const Verdict verdict = call.ask(host, target, &body);
  claimed_ = body.claimed();
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() == Verdict::Kind::kContinue && body.isChanged()) {
    if (text_.isNeeded()) PlainText::strip(target, call.step());
    takeWhole(body);
  }
  given_.clear();
  return finish(host, verdict, input);
}

/// Decodes the whole body into given_. Returns the failure if that is not possible. The coded body stays, and goes on
/// if the step changes nothing.
std::optional<Verdict> BodyStage::decodeWhole(PipelineHost& host) {
  PlainText::Yield yield;
  do {
    yield = text_.decode(host, input.bytes, true, given_, given_.size() + kPiece, &coded_);
    if (!yield.wrong) yield.wrong = excess(host, given_.size());
    if (!yield.wrong && !reach(host)) yield.wrong = noRoom(host);
  } while (yield.more && !yield.wrong);
  coded_.splice(input.bytes, input.bytes.size());
  std::swap(input.bytes, coded_);
  if (yield.wrong) given_.clear();
  return std::move(yield.wrong);
}

void BodyStage::takeWhole(Body& body) {
  if (!body.isChanged()) return;
  changed_ = !own.isUsed();
  own.take(input.bytes, body.takeChanged());
}

/// Shows the bytes that have come, piece by piece, to a step that changes nothing. Bytes that it has seen wait as they
/// came; the text of a coded body is not kept.
bool BodyStage::inspect(PipelineHost& host, const StepTarget& target) {
  const base::MonotonicTime begun = host.clock().now();
  std::size_t shown = 0;
  while (!pauses() && !call.waits()) {
    if (!call.isDue()) {
      if (ahead_ != Ahead::kText && input.bytes.empty() && !input.ended) return true;
      if (shown >= kMostOfTurn || (shown > 0 && host.clock().now() - begun >= kLongestTurn)) {
        pause_ = host.newTicket();
        host.answerLater(pause_);
        return true;
      }
      if (const auto wrong = nextPiece(host)) return finish(host, *wrong, input);
      if (given_.empty() && ahead_ != Ahead::kNothing) continue;
    }
    Body body = bodyNow();
    const Verdict verdict = call.ask(host, target, &body);
    claimed_ = body.claimed();
    if (verdict.kind() == Verdict::Kind::kWait) return true;
    shown += given_.size();
    if (!text_.isNeeded()) coded_.splice(given_, given_.size());
    given_.clear();
    if (verdict.kind() != Verdict::Kind::kContinue || ahead_ == Ahead::kNothing) return finish(host, verdict, input);
  }
  return true;
}

/// Puts the next piece of the body into given_, as text. Returns the failure if that is not possible.
std::optional<Verdict> BodyStage::nextPiece(PipelineHost& host) {
  const bool searches = mode_ == BodyMode::kSearched;
  const std::uint64_t bound = boundOf(call.step(), host.bodyLimits());
  const std::size_t most = searches ? std::min<std::uint64_t>(kShown, bound - std::min(bound, shown_)) : kShown;
  if (text_.isNeeded()) {
    auto yield = text_.decode(host, input.bytes, input.ended, given_, most, &coded_);
    ahead_ = ahead(yield.more, false);
    if (yield.wrong) return std::move(yield.wrong);
  } else {
    given_.splice(input.bytes, std::min(input.bytes.size(), most));
  }
  ahead_ = ahead(ahead_ == Ahead::kText, input.ended && input.bytes.empty());
  shown_ += given_.size();
  if (searches) {
    // Coded bytes that yield no text are bounded as well.
    isCut_ = ahead_ != Ahead::kNothing && std::max<std::uint64_t>(shown_, coded_.size()) >= bound;
    if (isCut_) ahead_ = Ahead::kNothing;
  } else if (auto wrong = excess(host, shown_)) {
    return wrong;
  }
  return reach(host) ? std::nullopt : std::optional(noRoom(host));
}

/// Asks the step about the bytes that have come since it was last asked.
bool BodyStage::stream(PipelineHost& host, const StepTarget& target, Flow& to) {
  if (!call.isDue() && !give(host, to)) return false;
  if (state_ != State::kStreaming) return true;  // the step is skipped
  Body body = bodyNow();
  const Verdict verdict = call.ask(host, target, &body);
  claimed_ = body.claimed();
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() != Verdict::Kind::kContinue) return finish(host, verdict, to);
  release(host, body, to);
  return !body.last() || finish(host, verdict, to);
}

/// Returns the part of the body that the step is asked about.
Body BodyStage::bodyNow() {
  const bool last = ahead_ == Ahead::kNothing;
  Body body(given_, last, share_, needed() - claimed_, claimed_);
  if (last) body.setTrailers(input.trailers);
  if (isCut_) body.cut();
  return body;
}

/// Asks a step with a body of BodyMode::kDuplex until it has seen all bytes that have come.
bool BodyStage::converse(PipelineHost& host, const StepTarget& target, Flow& to, std::size_t room) {
  while (!call.waits() && to.bytes.size() < room && (call.isDue() || hasNews())) {
    given_.splice(input.bytes, input.bytes.size());
    ahead_ = ahead(false, input.ended);
    Body body = bodyNow();
    const Verdict verdict = call.ask(host, target, &body);
    claimed_ = body.claimed();
    if (verdict.kind() == Verdict::Kind::kReply || verdict.kind() == Verdict::Kind::kFail) {
      return finish(host, verdict, to);
    }
    takeOutput(host, verdict, body, to);
    if (verdict.kind() == Verdict::Kind::kStream) state_ = State::kStreaming;
    if (verdict.kind() == Verdict::Kind::kContinue) return finish(host, verdict, to);
    // The answer came while the step was asked. The host calls again, and notices if that never ends.
    if (call.isDue()) return true;
  }
  return true;
}

/// Passes on the output of a step with a body of BodyMode::kDuplex.
void BodyStage::takeOutput(PipelineHost& host, const Verdict& verdict, Body& body, Flow& to) {
  base::ByteQueue given(given_.pool());
  if (verdict.kind() != Verdict::Kind::kWait) std::swap(given, given_);
  const bool passes = verdict.kind() == Verdict::Kind::kContinue && !body.isChanged();
  base::ByteQueue output(given_.pool());
  if (body.isChanged()) {
    changed_ = true;
    output = body.takeChanged();
  } else if (passes) {
    output.appendCopy(given, given.size());
  }
  if (call.step().failOpen && exact_) remember(host, std::move(given), output);
  to.bytes.splice(output, output.size());
}

/// Moves the bytes that have come into given_, as text if the step wants that. Returns false if the exchange is
/// refused.
bool BodyStage::give(PipelineHost& host, Flow& to) {
  if (!text_.isNeeded()) {
    ahead_ = ahead(false, input.ended);
    given_.splice(input.bytes, input.bytes.size());
    return true;
  }
  const std::size_t coming = input.bytes.size();
  auto yield = text_.decode(host, input.bytes, input.ended, given_, kPiece, stripped_ ? nullptr : &coded_);
  ahead_ = ahead(yield.more, input.ended);
  share_.bring(coming - input.bytes.size());
  if (!yield.wrong && !reach(host)) yield.wrong = noRoom(host);
  if (!yield.wrong) return true;
  exact_ = exact_ && !stripped_;  // the remaining part of a text that went on decoded is not available
  return finish(host, *yield.wrong, to);
}

/// Moves the bytes that the step is not asked about to the next stage. Returns false if the exchange is refused.
bool BodyStage::pass(PipelineHost& host, Flow& to, std::size_t room) {
  if (state_ == State::kPassing) {
    to.bytes.splice(input.bytes, input.bytes.size());
    to.ended = input.ended;
    to.trailers = input.trailers;
    return true;
  }
  const std::size_t coming = input.bytes.size();
  const auto yield = text_.decode(host, input.bytes, input.ended, to.bytes, room);
  share_.bring(coming - input.bytes.size());
  ahead_ = ahead(yield.more, input.ended);
  to.ended = ahead_ == Ahead::kNothing;
  to.trailers = input.trailers;
  if (to.ended) {
    state_ = State::kPassing;
    endText();
  }
  if (!yield.wrong) return true;
  exact_ = false;
  return finish(host, *yield.wrong, input);
}

void BodyStage::release(PipelineHost& host, Body& body, Flow& to) {
  const bool coded = text_.isNeeded() && !stripped_;
  if (coded) given_.clear();
  base::ByteQueue& mine = coded ? coded_ : given_;
  if (!call.step().body.edits || (!body.isChanged() && unreleased_.empty())) {
    return to.bytes.splice(mine, mine.size());
  }
  base::ByteQueue released(given_.pool());
  if (body.isChanged()) {
    changed_ = true;
    released = body.takeChanged();
  } else {
    released.appendCopy(given_, given_.size());
  }
  if (call.step().failOpen && exact_) remember(host, std::move(given_), released);
  given_.clear();
  to.bytes.splice(released, released.size());
}

/// Updates exact_ and unreleased_ after the step was given `given` and has let `released` go on.
void BodyStage::remember(PipelineHost& host, base::ByteQueue&& given, const base::ByteQueue& released) {
  unreleased_.splice(given, given.size());
  exact_ = released.size() <= unreleased_.size();
  if (exact_ && !released.empty()) {
    base::ByteQueue first(unreleased_.pool());
    first.appendCopy(unreleased_, released.size());
    exact_ = first.text() == released.text();
  }
  if (exact_) unreleased_.consume(released.size());
  const bool isShort = unreleased_.size() <= host.bodyLimits().replay;
  if (!isShort || !share_.reachFree(needed())) {
    exact_ = false;
    host.onLimit(isShort ? "processorBufferTotal" : "replayBuffer");
  }
  if (!exact_) unreleased_.clear();
  share_.keep(needed());
}

/// Returns the failure of a body, or of its text, if `size` bytes are too many; nullopt if they are not.
std::optional<Verdict> BodyStage::excess(PipelineHost& host, std::uint64_t size) const {
  const std::uint64_t most = host.bodyLimits().buffer;
  const std::uint64_t ofStep = call.step().body.bound;
  const std::uint64_t bound = boundOf(call.step(), host.bodyLimits());
  if (size <= bound) return std::nullopt;
  host.onLimit("processorBuffer");
  return Verdict::fail("the body is longer than " + std::to_string(bound) + " bytes, which is " +
                           (ofStep != 0 && ofStep <= most ? "the processor's bound" : "limits.processorBuffer"),
                       Cause::kOverLimit, "processorBuffer");
}

/// Takes room for the bytes that have come, never for a length that is only stated. Returns false if there is none.
bool BodyStage::reach(PipelineHost& host) {
  const std::uint64_t bytes = needed();
  if (bytes > 0 && giveWay_ == 0) {
    giveWay_ = host.newTicket();
    share_.arrive(host.waker(giveWay_));
  }
  return share_.reach(bytes);
}

/// Returns the number of bytes that have come and are still in this stage.
std::uint64_t BodyStage::come() const {
  return input.bytes.size() + coded_.size() + (text_.isNeeded() ? 0 : given_.size());
}

bool BodyStage::holdsWhole() const { return collectsAll(mode_); }

/// Returns how many bytes are charged to limits.processorBufferTotal. The pieces of a streamed body are bounded by
/// themselves, so only the bytes that are kept behind its step are charged, the memory of its decoder, and the bytes
/// that the processor has claimed.
std::uint64_t BodyStage::needed() const {
  const bool mayCopy = mode_ == BodyMode::kBuffered && call.step().body.edits;
  const std::uint64_t bytes = state_ == State::kCollecting ? held() + own.beside(mayCopy ? come() : 0) : 0;
  return bytes + unreleased_.size() + text_.memory() + claimed_;
}

void BodyStage::drop() {
  state_ = State::kPassing;
  for (base::ByteQueue* held : {&input.bytes, &given_, &coded_, &unreleased_}) held->clear();
  text_.end();
  share_.release();
}

bool BodyStage::answer(Ticket ticket) {
  if (ticket == 0 || (ticket != pause_ && ticket != giveWay_)) return false;
  if (ticket == pause_) pause_ = 0;
  return true;
}

/// Ends the decoding, so that its windows are freed with the last byte that they decode.
void BodyStage::endText() {
  text_.end();
  claimed_ = 0;
  share_.keep(holdsWhole() ? held() + own.beside(0) : 0);
  share_.leave();
}

/// Called when the room of this body has gone to another one. Returns true if the exchange goes on all the same.
bool BodyStage::giveWay(PipelineHost& host, Flow& to) {
  if (asks()) return finish(host, noRoom(host), to);
  return !host.ends(call.step(), noRoom(host));
}

/// Passes on, unchanged, the bytes that the step was given and that are still here. They precede all bytes that `to`
/// gets from now on.
void BodyStage::restore(Flow& to) {
  base::ByteQueue held(given_.pool());
  held.splice(unreleased_, unreleased_.size());
  held.splice(coded_, coded_.size());
  // The text of a body that goes on as it came is a copy.
  if (!text_.isNeeded() || stripped_) held.splice(given_, given_.size());
  given_.clear();
  if (ahead_ == Ahead::kText && !stripped_) ahead_ = Ahead::kUnknown;
  if (&to == &input) {
    held.splice(input.bytes, input.bytes.size());
    std::swap(held, input.bytes);
  } else {
    to.bytes.splice(held, held.size());
  }
}

bool BodyStage::finish(PipelineHost& host, const Verdict& verdict, Flow& to) {
  const Step& step = call.step();
  StepOutcome outcome = StepOutcome::kDone;
  if (verdict.kind() == Verdict::Kind::kReply) outcome = StepOutcome::kRefused;
  if (verdict.kind() == Verdict::Kind::kFail) {
    // Once the steps behind this one have begun, it is too late for another one in its place.
    const bool isReplayable = exact_ && (step.standIn() == nullptr || !hasBegun());
    outcome = !isSkipped(step, verdict) ? StepOutcome::kRefused
              : isReplayable            ? StepOutcome::kSkipped
                                        : StepOutcome::kUnreplayable;
    skipped = outcome == StepOutcome::kSkipped;
  }
  host.onStep(step, call.time(host), verdict, outcome);
  call.end();
  const bool goesOn = outcome == StepOutcome::kDone || outcome == StepOutcome::kSkipped;
  if (!goesOn && host.ends(step, verdict)) return false;
  state_ = stripped_ && ahead_ != Ahead::kNothing ? State::kDecoding : State::kPassing;
  if (outcome != StepOutcome::kSkipped) unreleased_.clear();
  restore(own.isEntered() ? input : to);
  own.leave(input.bytes, input.trailers);
  if (state_ == State::kPassing) endText();
  return true;
}

}  // namespace sluice::processing
