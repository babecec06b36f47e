// The interface of payload processors, which filters/ implements. One Processor is one configured use.
//
// A Processor is immutable, and shared by all workers and by every exchange of the routes and Backends that use it. Its
// state for one exchange lives in the exchange's arena. The pipeline takes care of deadlines, failOpen and counting.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "proxy/processing/call.h"
#include "proxy/processing/verdict.h"

namespace sluice::processing {

/// The values from which a processor decides how it wants a body.
struct MessageView {
  Phase phase;
  const http::RequestHead& request;
  const http::ResponseHead* response;  // null in phases of the request
  const Holds& lasting;                // see Call::lasting and findShared()
};

class Processor {
 public:
  Processor() = default;
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;
  virtual ~Processor() = default;

  virtual Verdict process(Call& call, const Peer& peer) const = 0;
  /// Called instead of process() when the step has waited beyond its deadline. Returns a reply or a failure of the
  /// processor's own; with nullopt the step fails with Cause::kTimeout.
  virtual std::optional<Verdict> expired(Call& /*call*/) const { return std::nullopt; }
  /// Returns how it wants the body in one of its phases, if that phase has bodies.
  virtual BodyInterest body(Phase /*phase*/) const { return {}; }
  /// Returns the phases in which it runs, if its type spans phases and its use names none. They share its state of an
  /// exchange; see Call::shared().
  virtual std::span<const Phase> phases() const { return {}; }
  /// Returns the names of the header fields that the processor alone decides about, in lower case. Lines of them and of
  /// their twins that a client sent are removed before the step is asked, and do not come back if the step fails and is
  /// skipped; the route is then matched again without them.
  virtual std::span<const std::string> ownedFields() const { return {}; }
  /// Returns the status of requests that are refused because it has failed or did not answer in time; 0 means the
  /// gateway's own.
  virtual std::uint16_t statusOnError() const { return 0; }
  /// Returns the targets of its own requests.
  virtual std::span<const std::shared_ptr<const CalloutTarget>> targets() const { return {}; }
  /// Returns how it wants the body of this message, if its body() returns `usual`. It is asked once for each message,
  /// when the steps before it have run. With kNone the step is asked once, about the heads alone.
  virtual BodyMode bodyMode(BodyMode usual, const MessageView& /*message*/) const { return usual; }
  /// Returns false if the request must not go out on that connection. It is called if its step of
  /// connect has asked for it (Destination::awaitConnection()); `request` is the one that the step saw.
  virtual bool admits(const TakenConnection& /*connection*/, const http::RequestHead& /*request*/,
                      const Peer& /*peer*/) const {
    return true;
  }
  /// Removes from `fields` those that it would remove or replace in the head of the response. It is called for the
  /// fields of 1xx heads, which no step sees, and for trailers, which only steps that read the body see.
  virtual void withhold(http::Headers& /*fields*/) const {}
};

/// A processor that needs no client. Its type gives it no access to the Peer.
class PreAuthProcessor : public Processor {
 public:
  Verdict process(Call& call, const Peer& /*peer*/) const final { return process(call); }
  virtual Verdict process(Call& call) const = 0;
};

}  // namespace sluice::processing
