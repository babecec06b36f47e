// The conversation with an external processor about one exchange: a gRPC stream on which the gateway says one part
// after the other, and waits for the answer to each before it says the next of the same way. The request and the
// response are two ways: a response may begin while the request's body is still coming.
//
// It is state of the exchange, or of an attempt if the processor is a Backend's; when that ends, the stream is
// cancelled. It moves only while a step of the processor is asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "filters/ext_proc/messages.h"
#include "proxy/processing/call.h"
#include "proxy/processing/callout.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::ext_proc {

enum class Way : std::uint8_t { kRequest, kResponse };
constexpr Way wayOf(Part part) { return part <= Part::kRequestBody ? Way::kRequest : Way::kResponse; }

class Conversation {
 public:
  /// A message from the server is refused if it is longer than this.
  static constexpr std::size_t kMostMessage = std::size_t{2} * 1024 * 1024;

  explicit Conversation(const ProcessingModes& wanted) : modes(wanted) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Returns true if nothing more is said: the server has ended the stream, or it has failed.
  bool isOver() const { return over_; }
  /// Returns true if nothing was said yet.
  bool isNew() const { return callout_ == nullptr && !over_; }
  /// Returns the part of that way whose answer is awaited.
  const std::optional<Part>& awaited(Way way) const { return sides_[index(way)].awaited; }

  /// Says a part, for which it opens the stream to `target` if there is none. `message` is a ProcessingRequest.
  void say(processing::Call& call, const std::shared_ptr<const processing::CalloutTarget>& target, Part part,
           std::string_view message);
  enum class Heard : std::uint8_t {
    kNothing,  // yet
    kAnswer,
    kEnd,     // the server wants to hear nothing more of this exchange
    kFailure  // see failure()
  };
  /// Sends what the server has room for, and takes the answer to the awaited part of that way into `answer`.
  Heard hear(Way way, ServerAnswer& answer);
  /// Has the step asked again when there may be more to hear.
  void await(processing::Resumer resumer);
  /// Called when nothing more of that way will be said. Tells the server when that holds for both.
  void finish(Way way);
  /// Gives the stream up. A step that awaits the other way is asked once more.
  void close();

  const std::string& failure() const { return failure_; }
  processing::Cause cause() const { return cause_; }
  /// Returns how many bytes are held until the server takes them.
  std::size_t unsent() const { return outbox_.size() - sent_; }

  ProcessingModes modes;     // what the server still wants
  bool requestEnds = false;  // the server knows that the request has no body, or wants none of it
  bool responseEnds = false;
  /// Keeps what is held of the body of one way.
  struct Partial {
    std::string bytes;                                      // collected for a server that gets what fits
    bool said = false;                                      // they were said, and the rest passes
    std::optional<std::string> replacement = std::nullopt;  // the server's, for a body that is yet to come
  };
  Partial& partial(Way way) { return partials_[index(way)]; }

 private:
  /// Keeps which answer of one way is awaited, and which has come.
  struct Side {
    bool finished = false;
    std::optional<Part> awaited;
    std::optional<ServerAnswer> answer;  // to it
  };
  static std::size_t index(Way way) { return static_cast<std::size_t>(way); }

  void pump();
  /// Takes the answers that have come. Returns false if one of them is wrong.
  bool sort(Way asking);
  bool deliver(ServerAnswer&& answer, Way asking);
  Heard fail(std::string why, processing::Cause cause = processing::Cause::kError);

  std::unique_ptr<processing::Callout> callout_;
  std::string outbox_;    // framed messages
  std::size_t sent_ = 0;  // bytes of them
  std::array<Side, 2> sides_;
  std::array<Partial, 2> partials_;
  bool over_ = false;
  std::string failure_;
  processing::Cause cause_ = processing::Cause::kError;
};

}  // namespace sluice::filters::ext_proc
