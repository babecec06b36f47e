// What an exchange has of payload processors while it is under way: the steps of its request, of its attempt and of its
// response, each with the body on its way through them.
//
// In the arena of an exchange whose rule or Backend has processors; others have none. The exchange says when what runs;
// what a step decides comes back as events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/exchange/attempt/attempt_head.h"
#include "proxy/exchange/steps/connect_phase.h"
#include "proxy/exchange/steps/step_host.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/processing/pipeline.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// The exchange whose steps they are.
class ExchangeStepsOwner {
 public:
  /// Where it is, by the names of Gateway, route and Backend, as far as they are known.
  virtual processing::Place place() const = 0;
  /// A step has ended it, and why.
  virtual void onRefused(const base::Error& error) = 0;

 protected:
  ~ExchangeStepsOwner() = default;
};

class ExchangeContext;

class ExchangeSteps final : private StepHost {
 public:
  ExchangeSteps(ExchangeStepsOwner& exchange, http::Token token, std::string_view client, ExchangeContext& owner,
                http::RequestMessage& message);

  /// Of the listener and the rule, once; of the Backend, for each attempt; of the response.
  processing::Pipeline& beginRequest();
  /// The rule is found: what its filters and steps change from here on can be undone, back to `before`.
  void beginRule(http::RequestHead& before);
  /// From here on, steps of the Backend that is chosen for now see `head`, which is that Backend's own. What they
  /// change is recorded in tentativeEdits.
  void beginTentative(http::RequestHead& head, const processing::Chain& own);
  processing::Pipeline& beginAttempt(http::RequestHead& head, processing::BodyPath path);
  processing::Pipeline& beginResponse(http::ResponseHead& head, processing::BodyPath path);
  /// The attempt is given up, and with it what its Backend answered.
  void endAttempt();
  /// An answer of the gateway's own sees the steps of response-headers, which can not keep it from the client.
  void passBy(const processing::Chains& chains, http::ResponseHead& head);

  /// max(): no step waits.
  base::MonotonicTime deadline() const { return hasWaited() ? firstDeadline() : base::MonotonicTime::max(); }
  /// Returns the first step that is suspended; nullptr if none is.
  const processing::Step* suspended() const;
  void expire(base::MonotonicTime now);
  bool answer(processing::Ticket ticket, bool dropped);

  /// Return the bytes that came to steps and were not taken from behind them, without what steps keep.
  std::uint64_t heldOfRequest() const;
  std::uint64_t heldOfResponse() const;

  std::optional<processing::Pipeline> request;
  /// The request as the client sent it, if steps of it may change that; null: none does.
  http::RequestHead* sentHead = nullptr;
  /// Keeps the head from before the filters and the steps of the rule; null until the rule is found.
  http::RequestHead* headBeforeRule = nullptr;
  /// Says whether the filters of the rule are in the head of the request.
  RuleFilters ruleFilters = RuleFilters::kPending;
  /// Record what steps have changed since the rule was found, and what they had changed before.
  processing::RequestEdits edits;
  processing::RequestEdits editsBeforeRouting;
  /// The Backend whose steps before authentication have run.
  const processing::Chain* tentativeChain = nullptr;
  std::optional<processing::StepTarget> tentativeTarget;
  processing::RequestEdits tentativeEdits;
  std::optional<processing::Pipeline> attempt;
  std::optional<processing::Pipeline> response;
  /// What the Backend is sent: of this attempt.
  http::RequestHead* attemptHead = nullptr;
  bool backendRequestEntered = false;  // of this attempt
  ConnectPhase connect;                // likewise
  http::BodyPipe attemptBody;

  /// A step has answered, or failed closed.
  struct Refusal {
    std::string processor;  // the name of the use
    processing::Phase phase;
    std::vector<std::pair<std::string, std::string>> fields;
  };
  std::optional<Refusal> refusal;

  processing::RouteWish wish;
  bool matchedAgain = false;
  /// The rule by which it was matched first: steps of it may still be under way.
  std::shared_ptr<const routing::Rule> formerRule;
  /// Where the exchange is, when a pipeline begins or the route has changed.
  void findPlace();
  /// The exchange cannot go on because of what a step did, although the step itself did not fail.
  void refuse(const processing::Step& step, std::string reason);

 private:
  base::MonotonicTime firstDeadline() const;
  // processing::PipelineHost
  bool dropSent(http::RequestHead& head, std::string_view name) override;
  bool ends(const processing::Step& step, const processing::Verdict& verdict) override;

  template <typename Visit>
  void eachPipeline(Visit&& visit);

  ExchangeStepsOwner& exchange_;
  http::RequestMessage& request_;
  bool placeKnown_ = false;
  bool heeded_ = true;                // what steps decide counts
  processing::Holds holds_;           // of steps that run once
  processing::Holds holdsOfAttempt_;  // of those that run for each
};

}  // namespace sluice::exchange
