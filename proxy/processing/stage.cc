#include "proxy/processing/stage.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice::processing {
namespace {

// Of the text of a coded body, which may be much more than that, so much at a time.
constexpr std::size_t kPiece = 64 * 1024;

}  // namespace

Stage::Stage(const Step& step, RunHost& host, base::ChunkPool& pool, bool flows, std::uint64_t stated)
    : run(step),
      input(pool),
      flows_(flows),
      stated_(stated),
      state_(step.body.mode == BodyMode::kBuffered ? State::kCollecting : State::kBeginning),
      share_(host.bufferRoom()),
      given_(pool),
      coded_(pool),
      unreleased_(pool) {}

bool Stage::turn(RunHost& host, const RunTarget& target, Flow& to, std::size_t room) {
  if (state_ != State::kPassing && share_.hasGivenWay()) return finish(host, noRoom(host), &to);
  if (!prepare(host, target)) return false;
  if (state_ == State::kBeginning && !begin(host, target)) return false;
  if (state_ == State::kCollecting && !collect(host, target)) return false;
  const auto asks = [&] { return run.isDue() || more_ || !input.bytes.empty() || input.ended; };
  while (state_ == State::kStreaming && !run.waits() && asks() && (!more_ || to.bytes.size() < room)) {
    if (!stream(host, target, to)) return false;
    // Answered while it was asked: the host goes on, and is the one to notice if that never ends.
    if (run.isDue()) return true;
  }
  return state_ != State::kPassing || pass(host, to, room);
}

/// Whether its text can be had.
bool Stage::prepare(RunHost& host, const RunTarget& target) {
  if (std::exchange(prepared_, true) || !flows_ || !run.step().body.decoded) return true;
  const std::optional<Verdict> wrong = text_.begin(host, target);
  return !wrong || finish(host, *wrong, nullptr);
}

/// The head, before any byte.
bool Stage::begin(RunHost& host, const RunTarget& target) {
  Body body(given_, !flows_);
  const Verdict verdict = run.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() != Verdict::Kind::kContinue) return finish(host, verdict, nullptr);
  state_ = State::kStreaming;
  if (!flows_) {
    takeWhole(body);
    return finish(host, verdict, nullptr);
  }
  if (text_.isNeeded() && run.step().body.edits) {
    PlainText::strip(target);
    stripped_ = changed_ = true;
  }
  return true;
}

bool Stage::collect(RunHost& host, const RunTarget& target) {
  if (const auto wrong = excess(host, input.bytes.size())) return finish(host, *wrong, nullptr);
  if (!input.ended) return true;
  share_.settle();
  if (text_.isNeeded() && !run.isDue() && !run.waits()) {
    if (const auto wrong = decodeWhole(host)) return finish(host, *wrong, nullptr);
  }
  Body body(text_.isNeeded() ? given_ : input.bytes, true);
  const Verdict verdict = run.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() == Verdict::Kind::kContinue && body.isChanged()) {
    if (text_.isNeeded()) PlainText::strip(target);
    takeWhole(body);
  }
  given_.clear();
  return finish(host, verdict, nullptr);
}

/// A copy: what was coded goes on if the step changes nothing. Null if given_ has the text.
std::optional<Verdict> Stage::decodeWhole(RunHost& host) {
  base::ByteQueue coded(given_.pool());
  coded.appendCopy(input.bytes, input.bytes.size());
  PlainText::Yield yield;
  do {
    yield = text_.decode(host, coded, true, given_, given_.size() + kPiece);
    if (!yield.wrong && !share_.reach(input.bytes.size() + given_.size() * (1 + run.step().body.copies)))
      yield.wrong = noRoom(host);
  } while (yield.more && !yield.wrong);
  if (yield.wrong) given_.clear();
  return std::move(yield.wrong);
}

void Stage::takeWhole(Body& body) {
  if (!body.isChanged()) return;
  changed_ = true;
  input.bytes = body.takeChanged();
}

/// Asks about what has come since it was last asked.
bool Stage::stream(RunHost& host, const RunTarget& target, Flow& to) {
  if (!run.isDue() && !give(host, to)) return false;
  if (state_ != State::kStreaming) return true;  // it is skipped
  Body body(given_, last_);
  const Verdict verdict = run.ask(host, target, &body);
  if (verdict.kind() == Verdict::Kind::kWait) return true;
  if (verdict.kind() != Verdict::Kind::kContinue) return finish(host, verdict, &to);
  release(host, body, to);
  return !body.last() || finish(host, verdict, &to);
}

/// False: the exchange is refused.
bool Stage::give(RunHost& host, Flow& to) {
  if (!text_.isNeeded()) {
    last_ = input.ended;
    given_.splice(input.bytes, input.bytes.size());
    return true;
  }
  const auto yield = text_.decode(host, input.bytes, input.ended, given_, kPiece, stripped_ ? nullptr : &coded_);
  more_ = yield.more;
  last_ = input.ended && !more_;
  if (!yield.wrong) return true;
  exact_ = exact_ && !stripped_;  // of text, the rest can not be had
  return finish(host, *yield.wrong, &to);
}

/// What nobody is asked about. False: the exchange is refused.
bool Stage::pass(RunHost& host, Flow& to, std::size_t room) {
  if (!stripped_ || last_) {
    to.bytes.splice(input.bytes, input.bytes.size());
    to.ended = input.ended;
    return true;
  }
  const auto yield = text_.decode(host, input.bytes, input.ended, to.bytes, room);
  more_ = yield.more;
  to.ended = last_ = input.ended && !more_;
  if (!yield.wrong) return true;
  exact_ = false;
  return finish(host, *yield.wrong, nullptr);
}

void Stage::release(RunHost& host, Body& body, Flow& to) {
  const bool coded = text_.isNeeded() && !stripped_;
  if (coded) given_.clear();
  base::ByteQueue& own = coded ? coded_ : given_;
  if (!run.step().body.edits || (!body.isChanged() && unreleased_.empty())) {
    return to.bytes.splice(own, own.size());
  }
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

/// Of a body that has brought `size` bytes so far.
std::optional<Verdict> Stage::excess(RunHost& host, std::uint64_t size) {
  const std::uint64_t most = host.bodyLimits().buffer;
  const std::uint64_t own = run.step().body.bound;
  const std::uint64_t bound = own == 0 ? most : std::min(own, most);
  if (std::max(size, stated_) > bound) {
    host.onLimit("processorBuffer");
    return Verdict::fail("the body is longer than " + std::to_string(bound) + " bytes, which is " +
                             (own != 0 && own <= most ? "the processor's bound" : "limits.processorBuffer"),
                         Cause::kOverLimit);
  }
  return reach(host, size * (1 + run.step().body.copies)) ? std::nullopt : std::optional(noRoom(host));
}

/// Room is taken as bytes come, never for what a client only promises.
bool Stage::reach(RunHost& host, std::uint64_t bytes) {
  if (bytes > 0 && giveWay_ == 0) {
    giveWay_ = host.newTicket();
    share_.mayGiveWay(host.waker(giveWay_));
  }
  return share_.reach(bytes);
}

Verdict Stage::noRoom(RunHost& host) {
  host.onLimit("processorBufferTotal");
  return Verdict::fail("bodies held for processors take all of limits.processorBufferTotal", Cause::kNoRoom);
}

bool Stage::finish(RunHost& host, const Verdict& verdict, Flow* to) {
  const Step& step = run.step();
  StepOutcome outcome = StepOutcome::kDone;
  if (verdict.kind() == Verdict::Kind::kReply) outcome = StepOutcome::kRefused;
  if (verdict.kind() == Verdict::Kind::kFail) {
    // A gateway that is full leaves no step out: whoever fills it would switch it off for everybody.
    const bool open = step.failOpen && verdict.cause() != Cause::kNoRoom;
    outcome = !open ? StepOutcome::kRefused : exact_ ? StepOutcome::kSkipped : StepOutcome::kUnreplayable;
  }
  host.onStep(step, run.time(host), verdict, outcome);
  const bool goesOn = outcome == StepOutcome::kDone || outcome == StepOutcome::kSkipped;
  if (!goesOn && host.ends(step, verdict)) return false;
  state_ = State::kPassing;
  if (to != nullptr && outcome == StepOutcome::kSkipped) {
    to->bytes.splice(unreleased_, unreleased_.size());
    base::ByteQueue& given = text_.isNeeded() && !stripped_ ? coded_ : given_;
    to->bytes.splice(given, given.size());
  }
  unreleased_.clear();
  return true;
}

}  // namespace sluice::processing
