// Processing runs the steps of the payload processors that an exchange's Gateway, rule and Backend have: it decides
// which of them run when, and on which heads.
//
// The steps of a request run in two rounds. Steps before authentication come first. Then the rule is settled and its
// filters apply, below the changes of that round. Steps behind authentication come last. The Backend's own steps see
// the attempt's copy of the head: once it is made, before it is connected, and before it is sent. Steps of a response
// run before it is decided whether the response is kept, and on the one that is kept.
//
// A step may ask once for the route to be matched again. The changes of the former rule's filters and steps are undone
// then, so that no field of that rule, such as a credential, is sent by another one.
//
// The exchange owns it. Without processors it costs a few bytes; with them, its steps live in the request's arena.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/steps/exchange_chains.h"
#include "proxy/exchange/steps/exchange_steps.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/processing/pipeline.h"

namespace sluice::exchange {

class Processing final : private ExchangeStepsOwner {
 public:
  Processing(Transaction& transaction, Attempts& attempts) : t_(transaction), attempts_(attempts) {}

  ExchangeChains& chains() { return chains_; }
  const ExchangeChains& chains() const { return chains_; }
  /// Returns nullptr if no step has begun so far.
  ExchangeSteps* steps() const { return steps_.get(); }

  /// Begins the steps of the listener that come before a route is matched: those of both rounds, or first those before
  /// authentication, and in another call those behind it.
  void beginBeforeRouting(processing::Round round);
  enum class FirstRound : std::uint8_t {
    kNone,   // no step runs before the attempt
    kEmpty,  // those that do run later
    kBegun
  };
  FirstRound beginFirstRound();
  /// Settles the rule and begins the steps before authentication of the Backend that is chosen for now, on that
  /// Backend's own head: an attempt that goes there finds what they changed. Returns false if there are none to run.
  bool beginTentative();
  void beginSecondRound();
  /// Called when the second round has decided. Frames the heads as the body that the steps left.
  void endRounds();

  enum class Rematch : std::uint8_t {
    kSame,     // nothing changes
    kRefused,  // the exchange has been refused
    kChanged   // another rule, or none
  };
  /// Matches the route again because a step has asked for it, by the configuration that is served now: the listener's
  /// own table may be gone.
  Rematch matchAgain(routing::RouteMatch& match);
  /// Matches the route behind the steps that came before routing.
  routing::RouteMatch matchWithHints(http::RequestHead head) const;
  /// Called when the rule is left. Its steps may still work on a part of the body.
  void leaveRule();
  /// Makes the head again from the one before the rule: the filters of the rule apply, if their time has come, and then
  /// the changes of the steps that are still in effect.
  void rebuildHead();
  /// Begins the first round of another rule. Steps that have run do not run again.
  void restartRounds();

  /// Begins the Backend's steps on the attempt's own copy of the head.
  void beginAttempt();
  /// Begins the steps of connect, which narrow `addresses`.
  void beginConnect(net::Addresses addresses);
  /// Begins the steps of backend-request, once for each attempt. The attempt has a connection.
  void beginBackendRequest();
  void endAttempt();

  /// Begins the steps of a response, whose head is in the transaction.
  void beginResponse();
  void beginBackendResponse();
  void beginKeptResponse();
  /// Returns the reply of the step that has replied; nullptr if none has.
  const processing::Reply* replyOfStep() const {
    return steps_ && steps_->refusal && steps_->refusal->reply ? &*steps_->refusal->reply : nullptr;
  }
  /// Adds the fields of a step that has replied to the local reply, and shows the reply to the steps of
  /// response-headers, unless one of them made it.
  void finishReply();

  /// Return the pipeline if bodies go through it, or nullptr.
  processing::Pipeline* requestCarrier() const { return carrier(&ExchangeSteps::request); }
  processing::Pipeline* attemptCarrier() const { return carrier(&ExchangeSteps::attempt); }
  processing::Pipeline* responseCarrier() const { return carrier(&ExchangeSteps::response); }
  /// Returns nullptr if the attempt has no steps.
  processing::Pipeline* attempt() const { return steps_ && steps_->attempt ? &*steps_->attempt : nullptr; }
  /// Returns true if a step waits for the client's body, and the exchange for nothing else.
  bool starves() const;
  /// Removes from the trailers of the request the fields that the head that is sent has already.
  void guardTrailers();
  /// Returns whether the filters of the rule have been applied to the request's fields.
  RuleFilters ruleFilters() const { return steps_ ? steps_->ruleFilters : RuleFilters::kPending; }
  /// Returns the head as the filters and steps of the Gateway and the rule have left it, without the fields that steps
  /// marked as secret.
  http::RequestHead headOfMirrors();
  /// Returns the step that replied or failed; nullptr if none did.
  const ExchangeSteps::StepRefusal* refusal() const { return steps_ && steps_->refusal ? &*steps_->refusal : nullptr; }
  /// Returns when a suspended step has waited too long; max() if none is suspended.
  base::MonotonicTime deadline() const { return steps_ ? steps_->deadline() : base::MonotonicTime::max(); }

 private:
  // ExchangeStepsOwner
  processing::Place place() const override;
  void onRefused(const base::Error& error) override { t_.raise(Event::kRejected, error); }

  processing::Pipeline* carrier(std::optional<processing::Pipeline> ExchangeSteps::*of) const {
    return steps_ && (*steps_.*of) && (*steps_.*of)->carries() ? &*(*steps_.*of) : nullptr;
  }
  bool mayCarry() const { return t_.request.head.body != http::Body::kTunnel; }
  ExchangeSteps& open();
  processing::Pipeline& beginRequest(bool carries);
  void carryRequest();

  struct InArena {
    void operator()(ExchangeSteps* steps) const { steps->~ExchangeSteps(); }
  };

  Transaction& t_;
  Attempts& attempts_;
  ExchangeChains chains_{t_, attempts_};
  std::unique_ptr<ExchangeSteps, InArena> steps_;
};

}  // namespace sluice::exchange
