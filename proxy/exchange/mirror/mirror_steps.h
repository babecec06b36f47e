// MirrorSteps runs the steps of the Backend that a mirror goes to, on the mirror's own copy of the request:
// request-headers, request-body, connect and backend-request, all before it is sent. Its response is discarded unseen.
//
// A mirror whose Backend has such steps owns it; one thread. A step can end the mirror alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/exchange/steps/connect_phase.h"
#include "proxy/exchange/steps/step_host.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/processing/pipeline.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// Implemented by the mirror whose steps they are.
class MirrorStepsOwner {
 public:
  /// Called when a step has ended the mirror, with the reason.
  virtual void onRefused(const base::Error& error) = 0;

 protected:
  ~MirrorStepsOwner() = default;
};

class MirrorSteps final : private StepHost {
 public:
  /// Returns true if `plan` has steps that a mirror would go through.
  static bool needed(const routing::BackendPlan& plan);

  /// `message` is the mirror's, and `body` will be sent to its Backend; both and `plan` outlive this. A step that has
  /// waited wakes `token` of `sink`. `caller` may be null.
  MirrorSteps(MirrorStepsOwner& mirror, processing::ResumeSink& sink, http::Token token, ExchangeContext& owner,
              http::RequestMessage& message, http::BodyPipe& body, const routing::BackendPlan& plan,
              const processing::Place& place, std::string_view client, std::shared_ptr<const base::Caller> caller);

  enum class Outcome : std::uint8_t {
    kWaits,           // it waits for a step, or for more of the body
    kNeedsAddresses,  // connectTo() is to be called
    kReady,           // the head is ready for the Backend; the body may still come
    kRefused          // the mirror has got the reason
  };
  /// Moves on as far as it can.
  Outcome go();
  void connectTo(net::Addresses addresses);
  /// Returns the addresses that it may go to; nullptr if no step has narrowed them.
  const net::Addresses* allowed() const { return connect_.allowed(); }

  /// Returns the reason why steps of connect refuse the connection that the mirror has claimed; nullopt if they admit
  /// it.
  std::optional<base::Error> refusalOf(const upstream::Request& claimed);

  /// Returns true if the body goes through steps. Then source() and end() take it.
  bool carries() const { return pipeline_.carries(); }
  base::ByteQueue& source() { return pipeline_.source; }
  void end(std::optional<http::Trailers> trailers) { pipeline_.end(std::move(trailers)); }

  /// Returns when the first suspended step has waited too long; max() if none is suspended.
  base::MonotonicTime deadline() const { return pipeline_.deadline(); }
  void expire(base::MonotonicTime now) { pipeline_.expire(now); }
  bool answer(processing::Ticket ticket, bool dropped) { return pipeline_.answer(ticket, dropped); }

 private:
  enum class State : std::uint8_t { kRequest, kResolving, kConnect, kBackendRequest, kReady };

  bool ends(const processing::Step& step, const processing::Verdict& verdict) override;
  void pass();
  Outcome next();

  MirrorStepsOwner& mirror_;
  http::RequestMessage& message_;
  http::BodyPipe& body_;
  const routing::BackendPlan& plan_;
  State state_ = State::kRequest;
  ConnectPhase connect_;
  processing::Holds holds_;
  processing::Pipeline pipeline_;
};

}  // namespace sluice::exchange
