// The steps of one message on its way through the gateway, one after the other, and its body on its way through them.
//
// Steps begin in the order in which they were appended: a step that looks at heads when those before it have decided, a
// step that wants the whole body when all of it has come through them. Nothing happens by itself: the code that brings
// bytes, or the answer of a suspended step, calls go(). A pipeline lives in the arena of the exchange; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/processing/body_stage.h"
#include "proxy/processing/pipeline_host.h"
#include "proxy/processing/step_call.h"
#include "proxy/processing/step_queue.h"

namespace sluice::processing {

/// How the body of a message relates to a pipeline.
enum class BodyPath : std::uint8_t {
  kBypasses,  // no step wants it
  kEmpty,     // steps want it, and there is none; they may still put something in its place
  kFlows      // it goes through the pipeline
};
/// Returns the path of such a body. The bytes of a tunnel are no body that steps could see.
constexpr BodyPath bodyPath(http::Body body, bool wanted) {
  if (!wanted || body == http::Body::kTunnel) return BodyPath::kBypasses;
  return body == http::Body::kNone ? BodyPath::kEmpty : BodyPath::kFlows;
}

/// How much of the body of a pipeline has come.
enum class PipelineBody : std::uint8_t {
  kBypasses,  // it goes another way
  kEmpty,     // there is none; steps may put something in its place
  kOpen,      // more of it may come
  kEnded      // all of it has come
};

class Pipeline {
 public:
  enum class Outcome : std::uint8_t {
    kDone,        // every step that was appended has begun
    kWaits,       // a step is suspended, or needs more of the body
    kMatchAgain,  // a step asks for the route to be matched again: go() on when that is done
    kRefused      // the host has got the reason
  };

  Pipeline(PipelineHost& host, const StepTarget& target, base::ChunkPool& pool, BodyPath path);

  /// Appends the steps of a phase behind those that are left.
  void append(const Chains& chains, Phase phase) { queue_.append(chains, phase); }
  /// Appends the steps of one round of a request: those of request-headers, then those of request-body. With `first`,
  /// which is a step of the Backend in request-body, only the Backend's steps from that one on. Returns true if a step
  /// that was appended has not begun.
  bool appendRequest(const Chains& chains, Round round, const Step* first = nullptr) {
    if (first != nullptr) {
      queue_.appendFrom(*chains[2], *first);
    } else {
      queue_.appendRequest(chains, round);
    }
    return !queue_.empty();
  }
  /// Called when nothing more will be appended, so that the bytes that come through may leave.
  void seal() { sealed_ = true; }
  /// Forgets the steps that have not begun, because the route is another one. From here on no step runs that has run
  /// already.
  void leaveRoute();
  /// From here on, steps of a Backend work on `target`, which outlives the pipeline and has a head of its own. They see
  /// the body of all other steps, and change one of their own.
  void setBackend(const StepTarget& target) { ofBackend_ = &target; }
  /// Routes the body through the pipeline, although no step has wanted it so far. `path` is not kBypasses.
  void carry(BodyPath path);

  /// Moves on as far as it can. Bytes that have come through are put into `to`; `beyond` counts the bytes that have
  /// left `to` and are still in the gateway.
  Outcome go(base::ByteQueue& to, std::size_t beyond);
  /// Leaves out the suspended step of a head that nobody waits for, so that go() runs those behind it. Returns false if
  /// there is none.
  bool leaveOut();
  /// Returns the step because of which the route is matched again.
  const Step* asking() const { return asking_; }
  /// Returns true if that step asked for it itself. False means that a field which the step decides about came from the
  /// client; that does not use up the one time that steps may ask.
  bool askedByStep() const { return askedByStep_; }

  /// Returns true if the body goes through the pipeline; it is then put into `source`, and its end is reported by
  /// end().
  bool carries() const { return body_ != PipelineBody::kBypasses; }
  void end(std::optional<http::Trailers> behind);
  /// Returns true if the end of the body was not reported.
  bool isOpen() const { return body_ == PipelineBody::kOpen; }
  /// Returns how many bytes of the body may be put into `source` now. `beyond` as in go().
  std::size_t room(std::size_t beyond) const;
  /// Returns how many bytes have left `source` since it was last asked.
  std::size_t takeFed() { return std::exchange(fed_, 0); }
  /// Returns true once, when all of the body has come through; `trailers` are then those behind it.
  bool tookEnd();
  /// Returns the number of bytes on their way into the steps and out of them, without those that steps keep.
  std::uint64_t held() const { return source.size() + out_.bytes.size(); }
  /// Returns true if a step needs more of the body, and has not got it.
  bool starves() const { return !stages_.empty() && stages_.back().needsMore() && source.empty() && isOpen(); }
  /// Returns true if a step has changed the body, or may yet.
  bool alters() const {
    return alteredBy([](const Step&) { return true; }) != nullptr;
  }
  /// Returns the last step for which counts(const Step&) is true and that has changed the body or may yet, or nullptr.
  /// `counts` is called for all steps that work on the body, the last one first, until such a step is found.
  template <typename Counts>
  const Step* alteredBy(Counts&& counts) const {
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
      const Step& step = stage->call.step();
      if (counts(step) && (stage->hasChanged() || stage->mayChange())) return &step;
    }
    return nullptr;
  }

  /// Returns the first step that is suspended; nullptr if none is.
  const Step* suspended() const;
  /// Returns when the first of the suspended steps has waited too long; max() if none is suspended.
  base::MonotonicTime deadline() const;
  /// Lets steps that are suspended beyond their deadline fail with the next go().
  void expire(base::MonotonicTime now);
  /// Returns false if no step waits for that answer.
  bool answer(Ticket ticket, bool dropped);
  /// Called when all but `count` of the bytes that came out have left the gateway. Gives the room that they took back
  /// to the process. Bytes that several steps have held are accounted for by the last of these.
  void keepRoomFor(std::uint64_t count);

  /// Called when the body is discarded: its bytes and their room are given back. No call of go() follows.
  void dropBody();

  base::ByteQueue source;
  std::optional<http::Trailers> trailers;

 private:
  /// Bounds the bytes between `source` and the connection that takes them, unless a buffered step collects.
  static constexpr std::size_t kInside = BodyStage::kInside;

  /// Whether the wish of the step that was begun last has been looked at.
  enum class Newest : std::uint8_t {
    kHeard,  // it has been looked at, or no step was begun
    kBegun,  // it has not been looked at
    kGuards  // it has not been looked at, and the step decides about fields that the client had sent
  };

  bool flows() const { return body_ == PipelineBody::kOpen || body_ == PipelineBody::kEnded; }
  bool feed(std::size_t beyond);
  bool flow(std::size_t outside);
  std::uint64_t statedLength(const OwnBody* own) const;
  bool wishes(Newest newest);
  bool beginNext(base::MonotonicTime now);
  bool hasRun(const Step& step) const;
  const StepTarget& targetOf(const Step& step) const {
    return step.scope == Scope::kBackend && ofBackend_ != nullptr ? *ofBackend_ : target_;
  }
  bool endHeadStep(const Verdict& verdict, base::MonotonicTime now);
  bool collects() const { return !stages_.empty() && stages_.back().collects(); }
  Flow& first() { return stages_.empty() ? out_ : stages_.front().input; }
  const Flow& first() const { return stages_.empty() ? out_ : stages_.front().input; }
  template <typename Visit>
  void eachCall(Visit&& visit);

  PipelineHost& host_;
  const StepTarget target_;
  const StepTarget* ofBackend_ = nullptr;  // null: steps of a Backend work on target_ like all others
  base::ChunkPool& pool_;
  StepQueue queue_;
  const Step* listed_ = nullptr;  // the step of the queue that has begun last, itself or by its stand-in
  PipelineBody body_;
  bool sealed_ = false;
  bool endTold_ = false;  // stays true even if the pipeline is not sealed any more
  bool refused_ = false;
  bool rerouted_ = false;
  Newest newest_ = Newest::kHeard;
  RouteWish* wish_ = nullptr;  // that of the step that was begun last
  const Step* asking_ = nullptr;
  bool askedByStep_ = false;
  std::size_t fed_ = 0;
  std::optional<StepCall> headStep_;
  std::vector<BodyStage> stages_;
  Flow out_;
};

}  // namespace sluice::processing
