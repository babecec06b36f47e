// The interface through which the steps of an exchange reach it.
//
// The exchange implements it, and tests do. It is used on the thread of the exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/processing/call.h"
#include "proxy/processing/chain.h"

namespace sluice::processing {

/// The outcome of a step.
enum class StepOutcome : std::uint8_t {
  kDone,
  kSkipped,      // it failed, and the exchange goes on without it
  kRefused,      // it replied in the place of the Backend, or failed closed
  kUnreplayable  // it fails open, but bytes that it had changed were gone already, so the exchange fails
};

struct BodyLimits {
  std::uint64_t buffer;        // limits.processorBuffer
  std::uint64_t replay;        // limits.replayBuffer
  std::uint64_t decompressed;  // limits.decompressedBody
  std::uint64_t ratio;         // limits.decompressionRatio
};

class OwnBody;

class PipelineHost {
 public:
  virtual ~PipelineHost() = default;
  // Every step needs these, so they are no virtual functions.
  const base::Clock& clock() const { return clock_; }
  const Place& place() const { return place_; }
  const Peer& peer() const { return peer_; }
  /// Returns the caller that the peer's names are of; null if nothing is known of it.
  const std::shared_ptr<const base::Caller>& caller() const { return caller_; }
  Services& services() { return services_; }

  virtual BodyLimits bodyLimits() const = 0;
  virtual BufferRoom& bufferRoom() = 0;
  /// Returns timeouts.processor.
  virtual base::Duration patience() const = 0;
  /// Returns a ticket that it has not returned before.
  virtual Ticket newTicket() = 0;
  virtual Resumer resumer(Ticket ticket) = 0;
  virtual Waker waker(Ticket ticket) = 0;
  /// Answers the ticket once the worker has looked at everything else that is due.
  virtual void answerLater(Ticket ticket) = 0;
  /// Called when a step has ended.
  virtual void onStep(const Step& step, base::Duration time, const Verdict& verdict, StepOutcome outcome) = 0;
  /// Called when a body has met the limit of that name in `limits`.
  virtual void onLimit(std::string_view limit) = 0;
  /// Drops the lines of that field and of its twins that the client sent; lines that the gateway has put there stay.
  /// Returns false if the client had sent none.
  virtual bool dropSent(http::RequestHead& head, std::string_view name) { return head.headers.removeTwins(name) > 0; }
  /// Called when a step has replied, or has failed and must not be skipped. Returns false if the exchange goes on all
  /// the same. The reason of a failed step is for the log alone.
  virtual bool ends(const Step& step, const Verdict& verdict) = 0;

 protected:
  /// The referenced objects outlive the host. `address` is the peer's.
  PipelineHost(const base::Clock& clock, Services& services, std::string_view address)
      : clock_(clock), services_(services), peer_{address, {}, {}} {}
  void setPlace(const Place& place) { place_ = place; }
  /// Shows the caller, which may be null, to the steps that run from now on. Those before authentication get no peer.
  void setCaller(std::shared_ptr<const base::Caller> caller) {
    caller_ = std::move(caller);
    if (caller_ == nullptr) return;
    peer_ = {peer_.address, caller_->nameSpace, caller_->serviceAccount, caller_->principal, caller_->assurance};
  }

 private:
  const base::Clock& clock_;
  Services& services_;
  Peer peer_;
  std::shared_ptr<const base::Caller> caller_;
  Place place_;
};

/// The message that the steps of a pipeline work on.
struct StepTarget {
  http::RequestHead& request;
  http::ResponseHead* response;  // null in phases of the request
  base::Arena& arena;
  Holds& holds;
  RouteWish* wish = nullptr;           // null if the route cannot be matched again
  Destination* destination = nullptr;  // for steps of the phase connect
  RequestEdits* edits = nullptr;       // null if the steps' changes of the request will not be needed again
  /// The holds of the exchange, if `holds` are those of an attempt or of a Backend; else null.
  Holds* ofExchange = nullptr;
  /// The holds of the Backend, if its attempt goes on with the state of its steps before authentication; else null.
  Holds* ofBackend = nullptr;
  /// The body of the Backend alone, if its steps share the pipeline with steps that work on the body of all Backends.
  OwnBody* ownBody = nullptr;

  /// Returns the holds behind Call::shared() for that step.
  Holds& lastingFor(const Step& step) const {
    Holds* const lasting = step.scope == Scope::kBackend ? ofBackend : ofExchange;
    return lasting != nullptr ? *lasting : holds;
  }
};

}  // namespace sluice::processing
