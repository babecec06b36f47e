// The conversation with an external processor about one exchange: a gRPC stream on which the gateway sends parts of the
// request and the response, and gets answers. It sends the parts of each way in order, and checks that the answers come
// in the same order.
//
// It is state of the exchange, or of an attempt if the processor is a Backend's; when that ends, the stream is
// cancelled. It moves only while a step of the processor is asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "filters/ext_proc/answer_bounds.h"
#include "filters/ext_proc/protocol.h"
#include "filters/ext_proc/settings.h"
#include "proxy/processing/call.h"
#include "proxy/processing/callout.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::ext_proc {

class Conversation {
 public:
  /// Both arguments outlive the conversation.
  Conversation(const ExtProcSettings& settings, const std::shared_ptr<const processing::CalloutTarget>& server)
      : modes(settings.modes), settings_(settings), server_(server) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  /// A server that has got all parts, or that only observes, gets some time to end the stream. In all other cases the
  /// stream is cancelled.
  ~Conversation();

  /// Returns true if nothing more is sent, because the server has ended the stream or it has failed.
  bool isOver() const { return over_; }
  /// Returns true if nothing was sent yet.
  bool isNew() const { return callout_ == nullptr && !over_; }
  /// Returns true if an answer has come too late for the step that waited for it. The exchange goes on without that
  /// step.
  bool isLate(const processing::Call& call, Way asking);
  /// Gives the stream up because an answer is late.
  void giveUp();

  enum class Answers : std::uint8_t {
    kDue,          // within the timeout of the step that sends the part
    kInItsOwnTime  // at any time, for a server in full duplex: answers to headers and trailers, and its own body
  };
  /// Sends a part, and opens the stream for it if there is none.
  void say(processing::Call& call, Statement statement, Answers answers);
  /// Sends a part to a server that only observes, and ignores its answers.
  void mention(processing::Call& call, Statement statement);
  /// Returns how many parts of that way have no answer yet, or one that was not read.
  std::size_t unanswered(Way way) const { return sides_[index(way)].unanswered + sides_[index(way)].answers.size(); }

  enum class Heard : std::uint8_t {
    kNothing,  // yet
    kAnswer,
    kEnd,     // the server is done with this exchange
    kFailure  // see failure()
  };
  /// Sends as much as the server has room for, and takes the next answer of that way into `answer`.
  Heard hear(const processing::Call& call, Way way, ServerAnswer& answer);
  /// Called by a step that leaves answers unread, before it awaits more: then it is asked again in a later turn.
  void stopHearing() { bounds_.stop(); }
  /// Makes the step of that way be asked again when there may be another answer. `until` is the deadline; max() means
  /// none.
  void await(processing::Call& call, Way way, base::MonotonicTime until);
  /// Returns when the next answer of that way is due; max() if none is awaited.
  base::MonotonicTime due(Way way) const { return sides_[index(way)].due; }
  /// Called when the server has all of that way. It has this much time for its answers.
  void expectMore(const processing::Call& call, Way way);

  /// Called when nothing more of that way will be sent. Ends the stream's sending side when that is true of both ways.
  void finish(Way way);
  /// Gives the stream up. A step that awaits the other way is asked once more.
  void close();

  const std::string& failure() const { return failure_; }
  processing::Cause cause() const { return cause_; }
  /// Returns how many bytes wait until the server or a step takes them.
  std::size_t held() const;
  /// Returns true if the server must take some bytes before more are sent.
  bool isBehind() const { return unsent() > 0; }

  ProcessingModes modes;  // the parts that the server still wants

 private:
  /// Bytes that may wait in the callout, which is far below its own bound.
  static constexpr std::size_t kMostUnsent = std::size_t{64} * 1024;
  /// Bytes of answers that may wait for a step, before no more answers are read.
  static constexpr std::size_t kMostWaiting = std::size_t{256} * 1024;

  struct Side {
    std::deque<ServerAnswer> answers;
    std::size_t bytes = 0;       // size of the waiting answers
    std::size_t unanswered = 0;  // parts without an answer
    bool told = false;           // a part of this way was sent
    bool finished = false;
    bool extended = false;                                 // the server has asked for more time for the next answer
    base::MonotonicTime due = base::MonotonicTime::max();  // deadline of the answer to the first of these parts
    processing::Resumer blocked;                           // resumes a step that waits while isBlocked()
  };
  /// Returns true if the server has taken and answered all parts.
  bool isIdle() const;
  static std::size_t index(Way way) { return static_cast<std::size_t>(way); }
  Side& side(Way way) { return sides_[index(way)]; }

  void open(processing::Call& call);
  void put(processing::Call& call, Statement&& statement);
  void pump();
  std::size_t unsent() const { return outbox_.size() - sent_; }
  /// Takes the answers that have come. Returns false if one of them is invalid.
  bool sort(const processing::Call& call, Way asking);
  bool deliver(const processing::Call& call, ServerAnswer&& answer, Way asking);
  bool isOpen(Way way) const;
  bool isExpected(const ServerAnswer& answer, Way way) const;
  bool isPieceInDuplex(const PartAnswer& answer) const;
  bool isFull() const;
  /// Returns true if that way must wait, although the call is over, until the other way has read its answers.
  bool isBlocked() const;
  /// Makes the steps that wait for room among the answers be asked again.
  void unblock();
  static std::size_t bytesOf(const ServerAnswer& answer);
  void giveTime(const processing::Call& call, base::Duration patience, Side& side);
  Heard fail(std::string why, processing::Cause cause = processing::Cause::kError);

  const ExtProcSettings& settings_;
  const std::shared_ptr<const processing::CalloutTarget>& server_;
  std::unique_ptr<processing::Callout> callout_;
  processing::Services* services_ = nullptr;  // null until there is a callout
  std::string transaction_;
  std::string outbox_;    // framed messages
  std::size_t sent_ = 0;  // bytes of outbox_ that were sent
  std::array<Side, 2> sides_;
  std::deque<Part> unanswered_;  // parts of both ways, in the order in which they were sent
  AnswerBounds bounds_;
  bool over_ = false;
  bool ended_ = false;    // the sending side of the stream was ended
  bool refused_ = false;  // the server has replied in place of the Backend; later messages are not read
  std::string failure_;
  processing::Cause cause_ = processing::Cause::kError;
};

}  // namespace sluice::filters::ext_proc
