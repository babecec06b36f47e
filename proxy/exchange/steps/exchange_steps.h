// ExchangeSteps holds the steps of payload processors of one exchange while it is under way: those of its request, of
// its attempt and of its response, each with the body on its way through them.
//
// It lives in the arena of an exchange whose rule or Backend has processors; other exchanges have none. The exchange
// decides which steps run when, and their decisions come back as events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proxy/exchange/steps/connect_phase.h"
#include "proxy/exchange/steps/step_host.h"
#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/processing/body/own_body.h"
#include "proxy/processing/pipeline.h"
#include "proxy/routing/backend_target.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// Implemented by the exchange whose steps they are.
class ExchangeStepsOwner {
 public:
  /// Returns the names of Gateway, route and Backend, as far as they are known.
  virtual processing::Place place() const = 0;
  /// Called when a step has ended the exchange, with the reason.
  virtual void onRefused(const base::Error& error) = 0;

 protected:
  ~ExchangeStepsOwner() = default;
};

class ExchangeContext;

class ExchangeSteps final : private StepHost {
 public:
  ExchangeSteps(ExchangeStepsOwner& exchange, http::Token token, std::string_view client, ExchangeContext& owner,
                http::RequestMessage& message);

  /// Begins the steps of the listener and the rule. Called once.
  processing::Pipeline& beginRequest();
  /// Called when the rule is found. Changes that its filters and steps make from here on can be undone, back to
  /// `before`.
  void beginRule(http::RequestHead& before);
  /// Begins the steps of the Backend that is chosen for now. They see `head`, which is that Backend's own. Their
  /// changes are recorded in tentativeEdits, and the body that they leave is ownBody.
  void beginTentative(http::RequestHead& head, const processing::Chain& own);
  /// Returns true if an attempt at the Backend of that chain goes on with all that those steps have left: the body that
  /// all Backends share is still the one that they have seen.
  bool continuesTentative(const processing::Chain* own) const;
  /// Forgets what those steps have left.
  void dropTentative();
  /// Begins the steps of the Backend. Called for each attempt.
  processing::Pipeline& beginAttempt(http::RequestHead& head, processing::BodyPath path);
  /// Begins the steps of the response.
  processing::Pipeline& beginResponse(http::ResponseHead& head, processing::BodyPath path);
  /// Called when the attempt is given up, and its Backend's response with it.
  void endAttempt();
  /// Shows a local reply to the steps of response-headers, which cannot keep it from the client.
  void passBy(const processing::Chains& chains, http::ResponseHead& head);

  /// Called when the request is not sent any further. Its body then takes no room while the client reads the answer.
  void dropRequestBody();

  /// Returns when a suspended step has waited too long; max() if none is suspended.
  base::MonotonicTime deadline() const { return hasWaited() ? firstDeadline() : base::MonotonicTime::max(); }
  /// Returns the first step that is suspended; nullptr if none is.
  const processing::Step* suspended() const;
  void expire(base::MonotonicTime now);
  bool answer(processing::Ticket ticket, bool dropped);

  /// Return the bytes that came to steps and whose results were not taken yet, without the bytes that steps keep.
  std::uint64_t heldOfRequest() const {
    return (request ? request->held() : 0) + ownBody.bytes.size() +
           (attempt ? attempt->held() + attemptBody.bytes.size() : 0);
  }
  std::uint64_t heldOfResponse() const { return response ? response->held() : 0; }

  std::optional<processing::Pipeline> request;
  /// The head of the request as the client sent it; null if no step may change that.
  http::RequestHead* sentHead = nullptr;
  /// Keeps the head from before the filters and the steps of the rule; null until the rule is found.
  http::RequestHead* headBeforeRule = nullptr;
  /// Whether the filters of the rule have been applied to the head of the request.
  RuleFilters ruleFilters = RuleFilters::kPending;
  /// The changes that steps have made since the rule was found, and those that they had made before.
  processing::RequestEdits edits;
  processing::RequestEdits editsBeforeRouting;
  /// The Backend whose steps before authentication have run; null if there is none, or if another attempt follows.
  const processing::Chain* tentativeChain = nullptr;
  std::optional<processing::StepTarget> tentativeTarget;
  processing::RequestEdits tentativeEdits;
  processing::OwnBody ownBody;
  std::optional<processing::Pipeline> attempt;
  std::optional<processing::Pipeline> response;
  /// The head that is sent to the Backend of this attempt.
  http::RequestHead* attemptHead = nullptr;
  bool backendRequestEntered = false;  // for this attempt
  ConnectPhase connect;                // for this attempt
  http::BodyPipe attemptBody;

  /// The step that has replied, or failed closed.
  struct StepRefusal {
    std::string processor;  // the name of the use
    std::string object;     // the object in which the use is written, as events name it
    processing::Phase phase;
    std::optional<processing::Reply> reply = std::nullopt;  // none if it has failed
  };
  std::optional<StepRefusal> refusal;

  /// The policies that cover the callouts of the steps; kept up to date by ExchangeStepsOwner::place().
  routing::EgressScope scope;
  processing::RouteWish wish;
  bool matchedAgain = false;
  /// The rule that was matched first. Steps of it may still be under way.
  std::shared_ptr<const routing::Rule> formerRule;
  /// Updates the names of Gateway, route and Backend. Called when a pipeline begins or the route has changed.
  void findPlace();
  /// Ends the exchange because of an action of a step that did not fail itself.
  void refuse(const processing::Step& step, std::string reason);
  /// Ends the exchange because a step of connect leaves no address to which the request may go.
  void deny(const processing::Step& step);
  /// Returns the client as steps see it.
  const processing::Peer& client() const { return peer(); }
  /// Called when the caller is known, which may be null.
  void identify(std::shared_ptr<const base::Caller> caller) { setCaller(std::move(caller)); }

 private:
  base::MonotonicTime firstDeadline() const;
  /// Returns null unless the attempt goes on with the state of those steps.
  processing::Holds* heldByTentative() { return tentativeChain != nullptr ? &holdsOfTentative_ : nullptr; }
  // processing::PipelineHost
  bool dropSent(http::RequestHead& head, std::string_view name) override;
  bool ends(const processing::Step& step, const processing::Verdict& verdict) override;

  template <typename Visit>
  void eachPipeline(Visit&& visit);

  ExchangeStepsOwner& exchange_;
  http::RequestMessage& request_;
  bool placeKnown_ = false;
  bool heeded_ = true;                  // false if the decisions of steps are ignored
  processing::Holds holds_;             // those of steps that run once
  processing::Holds holdsOfTentative_;  // those of the Backend's steps before authentication
  processing::Holds holdsOfAttempt_;    // those of steps that run for each attempt
};

}  // namespace sluice::exchange
