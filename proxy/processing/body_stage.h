// A step on the way of a body: what has come for it, what it was given, and what can be undone of that (E-98).
//
// A step that fails open is skipped byte-exact as long as all that it let go on is what it was given, and the rest is
// still here: of a buffered body always, of a streamed one at most limits.replayBuffer. Owned by the Run; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/base/byte_queue.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/processing/plain_text.h"
#include "proxy/processing/step_call.h"

namespace sluice::processing {

/// Bytes on their way to the next stage, or out.
struct Flow {
  explicit Flow(base::ChunkPool& pool) : bytes(pool) {}
  base::ByteQueue bytes;
  bool ended = false;
};

class BodyStage {
 public:
  /// `flows`: the message has a body; `stated`: how many bytes it will have, 0 if that is not known.
  BodyStage(const Step& step, PipelineHost& host, base::ChunkPool& pool, bool flows, std::uint64_t stated);

  /// Takes in what has come, asks the step as often as there is something to ask, and puts what goes on into `to`.
  /// False once the exchange is refused. No more than about `room` is put there of what grows on the way.
  bool turn(PipelineHost& host, const StepTarget& target, Flow& to, std::size_t room);
  /// There is more to be had of what has come, now that there is room for it.
  bool hasMore() const { return more_ && !collects() && !call.waits() && !call.isDue(); }

  /// The steps behind it may begin: this one has seen the head, and of a buffered body all.
  bool hasBegun() const { return state_ != State::kCollecting && state_ != State::kBeginning; }
  bool collects() const { return state_ == State::kCollecting; }
  /// It lets others of the worker go first.
  bool pauses() const { return pause_ != 0; }
  /// It will change bytes yet, nobody knows how.
  bool mayChange() const { return state_ == State::kStreaming && call.step().body.edits; }
  bool hasChanged() const { return changed_; }
  /// Bytes that are here.
  std::uint64_t held() const { return input.bytes.size() + given_.size() + coded_.size(); }
  /// What it had taken of the process's budget has gone on.
  void releaseBuffer() {
    if (state_ == State::kPassing) share_.release();
  }
  /// Tells it that it may go on, or has had to give way to other bodies. False if it waits for neither by that ticket.
  bool answer(Ticket ticket);

  StepCall call;
  Flow input;

 private:
  enum class State : std::uint8_t {
    kBeginning,   // a streamed step has not answered to the head yet
    kCollecting,  // a buffered step has not answered yet, or one that inspects has not seen the end
    kStreaming,
    kPassing  // it has answered to all that it will be asked
  };

  bool prepare(PipelineHost& host, const StepTarget& target);
  bool begin(PipelineHost& host, const StepTarget& target);
  bool collect(PipelineHost& host, const StepTarget& target);
  bool inspect(PipelineHost& host, const StepTarget& target);
  std::optional<Verdict> nextPiece(PipelineHost& host);
  bool endInspection(PipelineHost& host, const Verdict& verdict);
  bool stream(PipelineHost& host, const StepTarget& target, Flow& to);
  bool give(PipelineHost& host, Flow& to);
  bool pass(PipelineHost& host, Flow& to, std::size_t room);
  void release(PipelineHost& host, Body& body, Flow& to);
  void takeWhole(Body& body);
  std::optional<Verdict> decodeWhole(PipelineHost& host);
  static Verdict noRoom(PipelineHost& host);
  bool reach(PipelineHost& host);
  std::uint64_t come() const;
  std::uint64_t needed() const;
  void endText();
  void remember(PipelineHost& host, const base::ByteQueue& released);
  std::optional<Verdict> excess(PipelineHost& host, std::uint64_t size) const;
  /// True if the exchange goes on.
  bool finish(PipelineHost& host, const Verdict& verdict, Flow* to);

  const bool flows_;
  const std::uint64_t stated_;
  bool prepared_ = false;
  State state_;
  bool changed_ = false;
  bool more_ = false;  // of text that has not been given yet
  bool last_ = false;  // nothing follows what is in given_
  bool exact_ = true;  // what it let go on is what it was given
  BufferShare share_;
  Ticket giveWay_ = 0;
  Ticket pause_ = 0;
  std::uint64_t claimed_ = 0;  // by the processor, for what it holds itself
  std::uint64_t shown_ = 0;    // bytes of text, to a step that inspects
  base::ByteQueue given_;      // to a step, which has not answered
  /// As it came: of a streamed body whose text the step may look at, but does not change; of one that is inspected.
  base::ByteQueue coded_;
  PlainText text_;
  bool stripped_ = false;       // what goes on from here is text
  base::ByteQueue unreleased_;  // of a streamed step that fails open: it was given them, and has not let them go on
};

}  // namespace sluice::processing
