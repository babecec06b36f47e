// A step on the way of a body, with the bytes that have come for it and the bytes that it was given.
//
// If a step that fails open fails, the body goes on byte for byte as it came. That is possible as long as every byte
// that the step let go on is one of its input, and the other bytes are still here: a buffered body always is, of a
// streamed one at most limits.replayBuffer. Otherwise the exchange fails. A step that has a stand-in must fail before
// the steps behind it begin. The Pipeline owns its stages; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/base/byte_queue.h"
#include "proxy/processing/body/own_body.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/processing/plain_text.h"
#include "proxy/processing/step_call.h"

namespace sluice::processing {

/// Bytes on their way to the next stage, or out.
struct Flow {
  explicit Flow(base::ChunkPool& pool) : bytes(pool) {}
  base::ByteQueue bytes;
  bool ended = false;
  http::Trailers* trailers = nullptr;  // behind the end; null if there are none
};

/// Whether more text follows the bytes that a step was given.
enum class Ahead : std::uint8_t {
  kUnknown,  // any bytes that still come
  kText,     // text that has come and that the step has not been given
  kNothing
};

class BodyStage {
 public:
  /// The most bytes that flow control lets wait between the stages of a pipeline.
  static constexpr std::size_t kInside = 64 * 1024;

  /// `mode` is not kNone. `flows` is true if the message has a body; `stated` is the length that the body will have, 0
  /// if that is not known. The step works on `ownBody`, unless that is null; all that came goes on then as it came.
  BodyStage(const Step& step, BodyMode mode, PipelineHost& host, base::ChunkPool& pool, bool flows,
            std::uint64_t stated, OwnBody* ownBody);

  BodyMode mode() const { return mode_; }
  /// Takes in the bytes that have come, asks the step as often as there is something to ask, and puts the bytes that go
  /// on into `to`. Bytes that grow on the way (decoded text) are put there only up to about `room`. Returns false once
  /// the exchange is refused.
  bool turn(PipelineHost& host, const StepTarget& target, Flow& to, std::size_t room);
  /// Returns true if the bytes that have come yield more text as soon as there is room for it.
  bool hasMore() const { return ahead_ == Ahead::kText && !collects() && !call.waits() && !call.isDue(); }

  /// Returns true if the steps behind this one may begin: it has seen the head, and the whole body if it is buffered.
  bool hasBegun() const { return state_ != State::kCollecting && state_ != State::kBeginning; }
  bool collects() const { return state_ == State::kCollecting; }
  /// Returns true if the steps behind this one wait until it has been given more of the body.
  bool needsMore() const { return !hasBegun() && !call.waits() && !input.ended; }
  /// Returns true if the step lets other exchanges of the worker go first.
  bool pauses() const { return pause_ != 0; }
  /// Returns true if the step may change bytes that are still to come.
  bool mayChange() const { return state_ == State::kStreaming && call.step().body.edits; }
  bool hasChanged() const { return changed_; }
  /// Returns true if the step holds the whole body, so that this stage accounts for the bytes in its place.
  bool holdsWhole() const;
  /// Returns how many bytes the stage holds.
  std::uint64_t held() const { return input.bytes.size() + given_.size() + coded_.size(); }
  /// Called when all but `count` of the bytes that went on have left the gateway, or are held by a stage behind this
  /// one. Gives their room back, unless the step will be asked again.
  void keepRoomFor(std::uint64_t count) {
    if (state_ != State::kPassing) return;
    // More comes behind a part that was searched, so `count` need not fall. Flow control bounds it.
    if (isCut_ && count <= kInside) return share_.release();
    share_.keep(count);
  }
  /// Called when the body is discarded. The step is not asked again.
  void drop();
  /// Called when the stage may go on after a pause, or had to give way to other bodies. Returns false if `ticket`
  /// belongs to neither.
  bool answer(Ticket ticket);

  StepCall call;
  Flow input;
  OwnBodyUse own;
  bool skipped = false;  // the step has failed and was skipped; the pipeline sets it back

 private:
  enum class State : std::uint8_t {
    kBeginning,   // a streamed step has not decided about the head yet
    kCollecting,  // a buffered step has not answered yet, or an inspecting one has not seen the end
    kStreaming,
    kDecoding,  // the step will not be asked again; the remaining part of a body that goes on as text is still decoded
    kPassing    // the step is done, and bytes pass unchanged
  };

  bool prepare(PipelineHost& host, const StepTarget& target);
  bool begin(PipelineHost& host, const StepTarget& target);
  bool collect(PipelineHost& host, const StepTarget& target);
  bool inspect(PipelineHost& host, const StepTarget& target);
  std::optional<Verdict> nextPiece(PipelineHost& host);
  bool stream(PipelineHost& host, const StepTarget& target, Flow& to);
  bool give(PipelineHost& host, Flow& to);
  bool converse(PipelineHost& host, const StepTarget& target, Flow& to, std::size_t room);
  void takeOutput(PipelineHost& host, const Verdict& verdict, Body& body, Flow& to);
  bool hasNews() const {
    return !call.wasAsked() || !input.bytes.empty() || (input.ended && ahead_ != Ahead::kNothing);
  }
  bool pass(PipelineHost& host, Flow& to, std::size_t room);
  void release(PipelineHost& host, Body& body, Flow& to);
  void takeWhole(Body& body);
  std::optional<Verdict> decodeWhole(PipelineHost& host);
  bool giveWay(PipelineHost& host, Flow& to);
  bool reach(PipelineHost& host);
  Body bodyNow();
  /// Returns true if the step will be asked again.
  bool asks() const { return state_ < State::kDecoding; }
  std::uint64_t come() const;
  std::uint64_t needed() const;
  void endText();
  void remember(PipelineHost& host, base::ByteQueue&& given, const base::ByteQueue& released);
  std::optional<Verdict> excess(PipelineHost& host, std::uint64_t size) const;
  void restore(Flow& to);
  /// Ends the step with this verdict; the bytes that it held go on into `to`, or to the front of `input`. Returns true
  /// if the exchange goes on.
  bool finish(PipelineHost& host, const Verdict& verdict, Flow& to);

  const BodyMode mode_;
  const bool flows_;
  const std::uint64_t stated_;
  bool prepared_ = false;
  State state_;
  bool changed_ = false;
  Ahead ahead_ = Ahead::kUnknown;
  bool exact_ = true;  // every byte that the step let go on is one that it was given
  BufferShare share_;
  Ticket giveWay_ = 0;
  Ticket pause_ = 0;
  std::uint64_t claimed_ = 0;  // bytes that the processor holds itself
  std::uint64_t shown_ = 0;    // bytes of text that an inspecting step has seen
  bool isCut_ = false;         // a searching step has seen all that it may see, and more may come
  base::ByteQueue given_;      // bytes that the step was given and has not answered to
  /// The body as it came, kept while its text is looked at: of a streamed body that the step does not change, and of an
  /// inspected one.
  base::ByteQueue coded_;
  PlainText text_;
  bool stripped_ = false;       // the body goes on from here as text
  base::ByteQueue unreleased_;  // bytes that a streamed step that fails open was given and has not let go on
};

}  // namespace sluice::processing
