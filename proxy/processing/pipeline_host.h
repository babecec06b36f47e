// What the steps of an exchange need of it, and tell it.
//
// Implemented by the exchange, and by tests. On its thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/processing/call.h"
#include "proxy/processing/chain.h"

namespace sluice::processing {

/// What became of a step.
enum class StepOutcome : std::uint8_t {
  kDone,
  kSkipped,      // it failed, and the exchange goes on as if it had not been
  kRefused,      // it answered in the place of what would have come, or failed closed
  kUnreplayable  // it fails open, but what it had changed was gone already: the exchange fails (E-98)
};

struct BodyLimits {
  std::uint64_t buffer;        // limits.processorBuffer
  std::uint64_t replay;        // limits.replayBuffer
  std::uint64_t decompressed;  // limits.decompressedBody
  std::uint64_t ratio;         // limits.decompressionRatio
};

class PipelineHost {
 public:
  virtual ~PipelineHost() = default;
  virtual const base::Clock& clock() const = 0;
  virtual const Place& place() const = 0;
  virtual const Peer& peer() const = 0;
  virtual BodyLimits bodyLimits() const = 0;
  virtual BufferRoom& bufferRoom() = 0;
  virtual Services& services() = 0;
  /// timeouts.processor.
  virtual base::Duration patience() const = 0;
  /// Another one each time.
  virtual Ticket newTicket() = 0;
  virtual Resumer resumer(Ticket ticket) = 0;
  virtual Waker waker(Ticket ticket) = 0;
  /// Answers the ticket once the worker has looked at everything else that is due.
  virtual void answerLater(Ticket ticket) = 0;
  /// A step has run to its end.
  virtual void onStep(const Step& step, base::Duration time, const Verdict& verdict, StepOutcome outcome) = 0;
  virtual void onLimit(std::string_view limit) = 0;
  /// Drops what a client sent in that field of a request and in its twins, as if it had not been sent; what the gateway
  /// has put there stays. Returns false if the client had sent nothing.
  virtual bool dropSent(http::RequestHead& head, std::string_view name) { return head.headers.removeTwins(name) > 0; }
  /// A step has answered, or failed and is not to be missed. False: the exchange goes on all the same. What a failed
  /// step says is for the log alone.
  virtual bool ends(const Step& step, const Verdict& verdict) = 0;
};

/// What a run of steps works on.
struct StepTarget {
  http::RequestHead& request;
  http::ResponseHead* response;  // null: steps of the request
  base::Arena& arena;
  Holds& holds;
  RouteWish* wish = nullptr;           // if the route may be matched again
  Destination* destination = nullptr;  // for steps of the phase connect
  RequestEdits* edits = nullptr;       // if what steps change in the request may be needed again
};

}  // namespace sluice::processing
