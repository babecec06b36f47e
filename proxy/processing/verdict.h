// What a step decides (continue, wait or reply), or that it could not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/box.h"
#include "proxy/base/error.h"

namespace sluice::processing {

/// An answer to the client in the place of what would have come.
struct Reply {
  base::Error error;                                        // its status, type and sentence
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
};

/// Why a step failed: `reason` of sluice_processor_failures_total.
enum class Cause : std::uint8_t {
  kError,      // it says so itself
  kTimeout,    // it waited beyond its deadline
  kDropped,    // what it waited for will never come
  kOverLimit,  // the body is more than it may be given
  kNoRoom,     // the gateway is full: bodies take all that they may together, or there are too many requests to the
               // server that it asks. It fails whatever failOpen says
  kBadBody     // the body is not what its Content-Encoding says
};
/// "error", "timeout", "dropped", "over_limit" (of kNoRoom too), "bad_body".
std::string_view causeName(Cause cause);
Cause causeOf(const base::Error& error);

class Verdict {
 public:
  enum class Kind : std::uint8_t { kContinue, kWait, kReply, kFail };

  static Verdict goOn() { return Verdict(Kind::kContinue); }
  /// Nothing is decided before the Resumer that was taken with Call::suspend() is resumed: then the processor is asked
  /// again, with the same state and the same bytes.
  static Verdict wait() { return Verdict(Kind::kWait); }
  static Verdict reply(Reply reply) {
    Verdict verdict(Kind::kReply);
    verdict.reply_ = std::move(reply);
    return verdict;
  }
  /// The step could not do its work: what follows is up to failOpen. `reason`: one short sentence for the log; never
  /// holds a secret, nor unescaped input.
  static Verdict fail(std::string reason, Cause cause = Cause::kError) {
    Verdict verdict(Kind::kFail);
    verdict.reason_ = std::move(reason);
    verdict.cause_ = cause;
    return verdict;
  }

  /// The step has failed because its own request has, by a timeout or for want of room if that is how the request
  /// failed.
  static Verdict fail(const base::Error& error) { return fail(error.detail, causeOf(error)); }

  Kind kind() const { return kind_; }
  const Reply& reply() const { return *reply_; }
  std::string_view reason() const { return reason_ ? std::string_view(*reason_) : std::string_view(); }
  Cause cause() const { return cause_; }

 private:
  explicit Verdict(Kind kind) : kind_(kind) {}

  Kind kind_;
  Cause cause_ = Cause::kError;
  base::Box<Reply> reply_;
  base::Box<std::string> reason_;  // a pointer: most have none, and are handed on often
};

}  // namespace sluice::processing
