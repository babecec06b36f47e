// The conversation with an external processor about one exchange: a gRPC stream on which the gateway says parts, and
// gets answers. It says the parts of each way in their order, and checks that the answers come in that order too.
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
  /// A server that has been told all, or that only observes, gets some time to end the stream. All others see it
  /// cancelled.
  ~Conversation();

  /// Returns true if nothing more is said: the server has ended the stream, or it has failed.
  bool isOver() const { return over_; }
  /// Returns true if nothing was said yet.
  bool isNew() const { return callout_ == nullptr && !over_; }
  /// Returns true if an answer has come too late, of which the step that waited for it has not been told. The exchange
  /// goes on without that step.
  bool isLate(const processing::Call& call, Way asking);
  /// Gives the stream up because an answer is late.
  void giveUp();

  enum class Answers : std::uint8_t {
    kDue,          // within the timeout of the step that says the part
    kInItsOwnTime  // of a server in full duplex: one to headers and trailers, and bodies of its own
  };
  /// Says a part, for which it opens the stream if there is none.
  void say(processing::Call& call, Statement statement, Answers answers);
  /// Says something to which the server gives nothing back, and passes over what it says.
  void mention(processing::Call& call, Statement statement);
  /// Returns how many parts of that way are not answered yet, or whose answers were not heard.
  std::size_t unanswered(Way way) const { return sides_[index(way)].unanswered + sides_[index(way)].answers.size(); }

  enum class Heard : std::uint8_t {
    kNothing,  // yet
    kAnswer,
    kEnd,     // the server wants to hear nothing more of this exchange
    kFailure  // see failure()
  };
  /// Sends what the server has room for, and takes the next answer of that way into `answer`.
  Heard hear(const processing::Call& call, Way way, ServerAnswer& answer);
  /// Called by a step that leaves answers unread, before it awaits more: then it is asked again in a later turn.
  void stopHearing() { bounds_.stop(); }
  /// Has the step of that way asked again when there may be more to hear. `until` is the deadline; max() stands for
  /// none.
  void await(processing::Call& call, Way way, base::MonotonicTime until);
  /// Returns when the next answer of that way is due; max() if none is awaited.
  base::MonotonicTime due(Way way) const { return sides_[index(way)].due; }
  /// The server has all of that way, and has this long to go on with its answers.
  void expectMore(const processing::Call& call, Way way);

  /// Called when nothing more of that way will be said. Tells the server when that holds for both.
  void finish(Way way);
  /// Gives the stream up. A step that awaits the other way is asked once more.
  void close();

  const std::string& failure() const { return failure_; }
  processing::Cause cause() const { return cause_; }
  /// Returns how many bytes are held until the server or a step takes them.
  std::size_t held() const;
  /// Returns true if the server should take some bytes before it is told more.
  bool isBehind() const { return unsent() > 0; }

  ProcessingModes modes;  // what the server still wants

 private:
  /// Bytes that may wait in the callout, which is far below what it would refuse.
  static constexpr std::size_t kMostUnsent = std::size_t{64} * 1024;
  /// Bytes of answers that may wait for a step, before no more answers are read.
  static constexpr std::size_t kMostWaiting = std::size_t{256} * 1024;

  struct Side {
    std::deque<ServerAnswer> answers;
    std::size_t bytes = 0;       // that they take
    std::size_t unanswered = 0;  // parts
    bool told = false;           // something of this way was said
    bool finished = false;
    bool extended = false;                                 // the server has asked for more time for the next answer
    base::MonotonicTime due = base::MonotonicTime::max();  // of the answer to the first of those
    processing::Resumer blocked;                           // of a step that waits while isBlocked()
  };
  /// Returns true if the server has taken and answered all that was said.
  bool isIdle() const;
  static std::size_t index(Way way) { return static_cast<std::size_t>(way); }
  Side& side(Way way) { return sides_[index(way)]; }

  void open(processing::Call& call);
  void put(processing::Call& call, Statement&& statement);
  void pump();
  std::size_t unsent() const { return outbox_.size() - sent_; }
  /// Takes the answers that have come. Returns false if one of them is wrong.
  bool sort(const processing::Call& call, Way asking);
  bool deliver(const processing::Call& call, ServerAnswer&& answer, Way asking);
  bool isOpen(Way way) const;
  bool isExpected(const ServerAnswer& answer, Way way) const;
  bool isPieceInDuplex(const PartAnswer& answer) const;
  bool isFull() const;
  /// Returns true if a way hears nothing, although the call is over, until the other one has heard what it was told.
  bool isBlocked() const;
  /// Has the steps asked again that wait for room among the answers.
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
  std::size_t sent_ = 0;  // bytes of them
  std::array<Side, 2> sides_;
  std::deque<Part> unanswered_;  // of both ways, in the order in which they were said
  AnswerBounds bounds_;
  bool over_ = false;
  bool ended_ = false;    // the server has been told that nothing follows
  bool refused_ = false;  // the server has answered in the place of the Backend; what it says behind that is not read
  std::string failure_;
  processing::Cause cause_ = processing::Cause::kError;
};

}  // namespace sluice::filters::ext_proc
