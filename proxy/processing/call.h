// The view that a processor has of one exchange while one of its steps runs, and the means to change it.
//
// The pipeline makes a Call each time that it asks a step; views live as long as the exchange. The client's identity is
// no part of it: only processors that run after authentication get the Peer, as an argument of its own, so that one
// that runs before cannot reach it.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proxy/base/arena.h"
#include "proxy/base/clock.h"
#include "proxy/base/terms/caller.h"
#include "proxy/http/message.h"
#include "proxy/processing/body.h"
#include "proxy/processing/destination.h"
#include "proxy/processing/holds.h"
#include "proxy/processing/phase.h"
#include "proxy/processing/request_edits.h"
#include "proxy/processing/resumer.h"
#include "proxy/processing/services.h"

namespace sluice::processing {

/// The objects that the exchange belongs to, as "namespace/name"; empty where none is chosen yet.
struct Place {
  std::string_view gateway;
  std::string_view route;
  std::string_view backend;
  const CalloutScope* scope = nullptr;  // of callouts; null if no policies cover them
};

/// The client, as far as the gateway knows it. A step that is shown no client gets one without an address.
struct Peer {
  std::string_view address;
  std::string_view nameSpace;       // of the workload; empty if unknown
  std::string_view serviceAccount;  // of the workload; empty if unknown
  std::string_view principal = {};  // empty if unknown
  base::Assurance assurance = base::Assurance::kNone;
};

/// Returns the name of the client's assurance ("None" if nobody is known); empty for a step that is shown no client.
constexpr std::string_view shownAssurance(const Peer& peer) {
  return peer.address.empty() ? std::string_view() : base::assuranceName(peer.assurance);
}

/// A wish about where the request goes. Steps of a Gateway or a route may state it in request-headers and request-body,
/// before a Backend is chosen.
struct RouteWish {
  /// Asks for the route to be matched again, by the head as it is now and by the hints. The gateway does so once.
  bool matchAgain = false;
  /// The step that asked last, or the last one that decides about a field which the client had sent.
  const Step* asking = nullptr;
  /// Fields for route matching alone; each replaces the fields of its name that the client sent.
  http::Headers hints;
};

/// Returns the state that Call::shared() has made for `owner`; nullptr if it has made none.
template <typename State>
State* findShared(const Holds& lasting, const void* owner) {
  const void* const known = lasting.find(owner);
  return known == nullptr ? nullptr : *static_cast<State* const*>(known);
}

/// Lets a step wait, and make requests of its own meanwhile.
class StepControl {
 public:
  /// `until` is the deadline; nullopt leaves it to the step's timeout, if the step then waits.
  virtual Resumer suspend(std::optional<base::MonotonicTime> until) = 0;
  /// Suspends the step, and has it asked again once the worker has looked at everything else that is due.
  virtual void pause(base::MonotonicTime until) = 0;
  /// The step owns the Callout that this returns, until it has decided.
  virtual Callout& callout(const CalloutRequest& request) = 0;
  /// The caller owns this one, which may outlive the step. `request.timeout` is not zero.
  virtual std::unique_ptr<Callout> lastingCallout(const CalloutRequest& request) = 0;
  /// Returns a number by which a processor keeps bounds for each client, before authentication too. It does not say who
  /// the client is.
  virtual std::uint64_t client() const = 0;

 protected:
  ~StepControl() = default;
};

struct Call {
  const Phase phase;
  const Place& place;
  /// The arena of the exchange, for everything that edits point to.
  base::Arena& arena;
  const base::Clock& clock;
  /// In phases of the request, the head that the Backend will get, as the steps before have left it; in phases of the
  /// response, the head that it got, without the fields that steps have added for it only. Names of fields are in lower
  /// case.
  const http::RequestHead& request;
  /// Changes `request`. In phases of the response an edit has no effect, because the Backend has the request already.
  RequestEditor& edit;
  /// Owns what is given back when the attempt ends, in steps that run once for each attempt, or when the exchange ends.
  Holds& holds;
  /// Does the same for shared(): of the attempt in steps of a Backend, of the exchange in all others.
  Holds& lasting;
  /// Null in phases of the request.
  http::ResponseHead* response;
  /// Null unless the processor wants a body in this phase. While the bytes of a streamed body come, it is too late for
  /// changes of the heads; they have no effect then.
  Body* body;
  /// Null in steps that may not state a wish. The wish of a streamed step is heeded until the step has answered to the
  /// head and to the bytes that came with it.
  RouteWish* wish;
  /// Null in phases other than connect, where a step may narrow it, and backend-request.
  Destination* destination;
  StepControl& control;
  Services& services;
  /// How long the step may wait for one answer.
  const base::Duration timeout;
  /// When the step was asked for the first time.
  const base::MonotonicTime begun;
  /// See state().
  void*& memory;

  /// Returns the state that the processor keeps for this step between the times that it is asked. It is made of the
  /// arguments when first needed, and destroyed when the step has decided and will not be asked again, or with the
  /// attempt or the exchange that it ran for (see `holds`).
  template <typename State, typename... Args>
  State& state(Args&&... args) {
    if (memory == nullptr) {
      memory = arena.make<State>(std::forward<Args>(args)...);
      if constexpr (!std::is_trivially_destructible_v<State>) {
        holds.add(arena, memory, [](const void* what) { static_cast<const State*>(what)->~State(); });
      }
    }
    return *static_cast<State*>(memory);
  }
  /// Returns the state that a processor keeps for all its steps of this exchange, or of this attempt if they are those
  /// of a Backend. `owner` is the processor, or the address of something that several processors share. It is made of
  /// the arguments when first asked for, and destroyed with the exchange or the attempt.
  template <typename State, typename... Args>
  State& shared(const void* owner, Args&&... args) const {
    if (State* const known = findShared<State>(lasting, owner)) return *known;
    State* const made = arena.make<State>(std::forward<Args>(args)...);
    lasting.add(
        arena, arena.make<State*>(made), [](const void* what) { (*static_cast<State* const*>(what))->~State(); },
        owner);
    return *made;
  }
  /// Makes a request of the processor's own, to one of its targets(). The Callout exists for as long as the processor
  /// may be asked about this step, so state() may keep its address; it is cancelled once the step has decided or
  /// failed.
  Callout& callout(const CalloutRequest& wanted) { return control.callout(wanted); }
  /// Called by a processor that then returns Verdict::wait(). The deadline of the step runs from here. A processor that
  /// returns hold() or stream() has no deadline then.
  Resumer suspend() { return control.suspend(std::nullopt); }
  /// Like suspend(), but with a deadline of the processor's own, which applies to those two verdicts, too.
  Resumer suspend(base::MonotonicTime until) { return control.suspend(until); }
  /// Called in the place of suspend() by a processor that could go on, and lets other exchanges of the worker go first:
  /// the step is asked again in a later round of the loop.
  void pause(base::MonotonicTime until) { control.pause(until); }
};

}  // namespace sluice::processing
