// A payload processor as one use of it is configured: what filters/ implement.
//
// Immutable, shared by all workers and by every exchange of the routes and Backends that use it; what it must remember
// of one exchange lives in the exchange's arena. Deadlines, failOpen and counting belong to the chain.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "proxy/processing/call.h"
#include "proxy/processing/verdict.h"

namespace sluice::processing {

class Processor {
 public:
  Processor() = default;
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;
  virtual ~Processor() = default;

  virtual Verdict process(Call& call, const Peer& peer) const = 0;
  /// In the phase of its use, if bodies exist there.
  virtual BodyInterest body() const { return {}; }
  /// Header fields that the processor alone decides about, in lower case. What a client sent in them, or in their
  /// twins, goes before the step is asked, and does not come back where the step fails and is skipped; the route is
  /// then matched again without them.
  virtual std::span<const std::string> ownedFields() const { return {}; }
  /// Where its own requests go.
  virtual std::span<const std::shared_ptr<const CalloutTarget>> targets() const { return {}; }
  /// Of this message; if not, it is asked once, about the heads alone. `response` is null in phases of the request.
  virtual bool wantsBody(const http::RequestHead& /*request*/, const http::ResponseHead* /*response*/) const {
    return true;
  }
  /// In phases of the response: removes from `fields` what it would remove or replace in the response's head. For what
  /// goes to the client and is shown to no step: trailers, and 1xx heads.
  virtual void withhold(http::Headers& /*fields*/) const {}
};

/// One that may run before authentication too: it never learns who calls, by its type.
class PreAuthProcessor : public Processor {
 public:
  Verdict process(Call& call, const Peer& /*peer*/) const final { return process(call); }
  virtual Verdict process(Call& call) const = 0;
};

}  // namespace sluice::processing
