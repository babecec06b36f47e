// The decision of a step: to continue, to wait or to reply, or that it has failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/box.h"
#include "proxy/base/error.h"

namespace sluice::processing {

/// An answer of the step to the client, instead of that of the Backend. The status is one of 200 to 599; one that no
/// answer of a step may have (see isPossible()) is a failure of the step.
struct Reply {
  base::Error error;                                             // gives the status, the type and the sentence
  std::vector<std::pair<std::string, std::string>> fields = {};  // names in lower case
  /// Goes to the client in the place of the gateway's own document, with the content-type that `fields` has. HEAD, and
  /// statuses without content (204, 304), get no body. A call of gRPC gets it as grpc-message.
  std::optional<std::string> body = std::nullopt;
  /// The grpc-status that a call of gRPC gets. None: the one that `error.status` maps to.
  std::optional<std::uint32_t> grpcStatus = std::nullopt;
};

/// Returns false for a status that is not final, and for a success that a client who asked for a tunnel would take for
/// one (RFC 8441 section 5).
constexpr bool isPossible(std::uint16_t status, bool asksForTunnel) {
  return status >= (asksForTunnel ? 300 : 200) && status <= 599;
}

/// The cause of a step's failure, which is the label `reason` of sluice_processor_failures_total.
enum class Cause : std::uint8_t {
  kError,        // the processor reports a failure
  kTimeout,      // the step waited beyond its deadline
  kDropped,      // the answer that the step waited for will never come
  kOverLimit,    // the body is longer than the step may be given
  kNoRoom,       // the gateway is full: bodies take all that they may together, or there are too many requests to the
                 // server that the step asks. The exchange fails whatever failOpen is
  kBadBody,      // the body is not encoded as its Content-Encoding claims
  kScriptError,  // a script raises an error
  kBudget,       // a script takes more instructions or memory than its entry allows
  kOverWork      // the request makes patterns and expressions work more than it may. The exchange fails whatever
                 // failOpen is, or a client could switch the step off for its own requests
};
/// Returns "error", "timeout", "dropped", "over_limit" (for kNoRoom too), "bad_body", "script_error" or "budget" (for
/// kOverWork too).
std::string_view causeName(Cause cause);
Cause causeOf(const base::Error& error);

class Verdict {
 public:
  enum class Kind : std::uint8_t { kContinue, kWait, kHold, kStream, kReply, kFail };

  static Verdict goOn() { return Verdict(Kind::kContinue); }
  /// Puts the decision off. When the Resumer that was taken with Call::suspend() is resumed, the processor is asked
  /// again, with the same state and the same bytes.
  static Verdict wait() { return Verdict(Kind::kWait); }
  /// Return the answers of a step that wants a body as kDuplex: it has taken the bytes of its input, and the bytes in
  /// replacement() go on. It is asked again when more has come, or when its Resumer is resumed. hold() keeps the head
  /// and all later steps waiting; stream() lets them go on, and from then on the step changes no head. From such a
  /// step, wait() means that the bytes are not taken. goOn() means that the step is done: the bytes of its input go on
  /// as usual, and later ones as they come.
  static Verdict hold() { return Verdict(Kind::kHold); }
  static Verdict stream() { return Verdict(Kind::kStream); }
  static Verdict reply(Reply reply) {
    Verdict verdict(Kind::kReply);
    verdict.reply_ = std::move(reply);
    return verdict;
  }
  /// The reply to a request whose destination steps of connect have left without addresses.
  static Verdict denyDestination();
  /// The step could not do its work, and failOpen decides about the exchange. `reason` is one short sentence for the
  /// log, without secrets or unescaped input. `limit` is the key of the limit that was hit, if one was, as in
  /// base::Error.
  static Verdict fail(std::string reason, Cause cause = Cause::kError, std::string_view limit = {}) {
    Verdict verdict(Kind::kFail);
    verdict.failure_ = FailureReason{std::move(reason), limit};
    verdict.cause_ = cause;
    return verdict;
  }

  /// The step has failed because the request makes patterns and expressions work too much; `where` is the beginning of
  /// the reason.
  static Verdict overWork(const std::string& where = {}) {
    return fail(where + "the patterns and expressions of this request take more steps or memory than they may",
                Cause::kOverWork, "stepWork");
  }
  /// The step has failed because its own request has failed. A timeout, or a lack of room, is kept as the cause.
  static Verdict fail(const base::Error& error) { return fail(error.message(), causeOf(error), error.limit); }

  Kind kind() const { return kind_; }
  const Reply& reply() const { return *reply_; }
  std::string_view reason() const { return failure_ ? std::string_view(failure_->reason) : std::string_view(); }
  std::string_view limit() const { return failure_ ? failure_->limit : std::string_view(); }
  Cause cause() const { return cause_; }

 private:
  explicit Verdict(Kind kind) : kind_(kind) {}

  Kind kind_;
  Cause cause_ = Cause::kError;
  base::Box<Reply> reply_;
  struct FailureReason {
    std::string reason;
    std::string_view limit;
  };
  base::Box<FailureReason> failure_;  // a pointer keeps verdicts small: most have none, and they are moved often
};

}  // namespace sluice::processing
