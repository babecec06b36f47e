// The steps of an exchange's Gateway and rule, and the route that they may change.
//
// The first round comes before authentication; then the rule is settled and its filters apply, below what steps of that
// round have changed; then the second round. A step may ask once for the route to be matched again. The head then goes
// back to what it was before the filters and steps of the rule that is left, so that nothing which that rule put in, a
// credential above all, leaves with another one.
#include <new>
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;
using processing::Round;
using processing::Scope;
using processing::Step;

/// Runs the steps of the listener that come before a route is matched; decide() follows.
void Exchange::processBeforeRouting() {
  const processing::Chains first = {listener_->preRouting.get(), nullptr, nullptr};
  findPhases();  // what they answer goes through response-headers of the listener
  // Whether steps of the route will want the body is not known.
  processing::Pipeline& pipeline =
      requestSteps(processing::bodyPath(request_.head.body, true) == processing::BodyPath::kFlows);
  pipeline.appendRequest(first, Round::kFirst);
  pipeline.appendRequest(first, Round::kSecond);
  pendingSteps_ = Pending::kBeforeRouting;
  process();
}

/// Runs the steps of the listener and of the rule, each once; onProcessed() follows.
void Exchange::processRequest() {
  constexpr std::uint8_t kShared = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody);
  const processing::Chains shared = sharedChains();
  const auto concerned = [](const processing::Chain* chain) {
    return chain != nullptr && (chain->phases() & kShared) != 0;
  };
  const bool begun = steps_ && steps_->request;
  if (begun) steps_->findPlace();
  if (!begun && !concerned(shared[0]) && !concerned(shared[1])) return onProcessed();
  if (begun) {
    auto* const before = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
        http::RequestHead(request_.head);
    request_.head.headers = before->headers.copy(request_.arena);
    steps_->beginRule(*before);
  } else {
    requestSteps(processing::wantsBody(shared, bitOf(Phase::kRequestBody)) &&
                 request_.head.body != http::Body::kTunnel);
    steps_->beginRule(*asked_);
  }
  steps_->request->appendRequest(shared, Round::kFirst);
  pendingSteps_ = Pending::kFirstRound;
  process();
}

/// `carries` says that the body goes through them.
processing::Pipeline& Exchange::requestSteps(bool carries) {
  asked_ = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
      http::RequestHead(request_.head);
  request_.head.headers = asked_->headers.copy(request_.arena);
  processing::Pipeline& pipeline = steps().beginRequest();
  steps_->sentHead = asked_;
  if (carries) carryRequest();
  return pipeline;
}

void Exchange::carryRequest() {
  processing::Pipeline& pipeline = *steps_->request;
  pipeline.carry(processing::bodyPath(request_.head.body, true));
  pipeline.source.splice(requestBody_.bytes, requestBody_.bytes.size());
  if (requestBody_.end() == http::PipeEnd::kComplete) pipeline.end(requestBody_.takeTrailers());
  requestBody_ = http::BodyPipe(owner_.worker().chunks());
}

/// Runs the steps before authentication of the Backend that is chosen for now, on that Backend's own head: an attempt
/// that goes there finds what they changed. Of the body they change nothing, which is the request's.
void Exchange::processTentative() {
  applyFilters();
  const processing::Chain* own = chains()[2];
  if (own == nullptr || own == steps_->tentativeChain || !own->hasPreAuthOfRequest()) return processSecondRound();
  auto* head = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
      http::RequestHead(headOfAttempt());
  steps_->beginTentative(*head, *own);
  processing::Pipeline& pipeline = *steps_->request;
  if (!pipeline.carries() && own->wantsBodyPreAuth() && head->body != http::Body::kTunnel) carryRequest();
  pipeline.appendRequest({nullptr, nullptr, own}, Round::kFirst);
  pendingSteps_ = Pending::kTentative;
  process();
}

void Exchange::processSecondRound() {
  steps_->request->appendRequest(sharedChains(), Round::kSecond);
  steps_->request->seal();
  pendingSteps_ = Pending::kRequest;
  process();
}

/// The rule is settled, unless a step of the second round asks for another one.
void Exchange::applyFilters() {
  steps_->ruleFilters = RuleFilters::kApplied;
  rebuildHead();
}

/// Makes the head anew from the one before the rule: its filters apply, if their time has come, and then what the steps
/// that count have changed.
void Exchange::rebuildHead() {
  http::RequestHead& head = request_.head;
  head.headers = steps_->headBeforeRule->headers.copy(request_.arena);
  head.target = steps_->headBeforeRule->target;
  if (steps_->ruleFilters == RuleFilters::kApplied && rule_ != nullptr) {
    applyRuleFilters(request_.arena, head, *rule_, owner_.identity(), {origin_.client, origin_.secure});
  }
  steps_->edits.layOn(request_.arena, head, [](const Step&) { return true; });
}

/// A step is heeded once. What has run does not run again: the changes of steps that the new rule has too are laid on
/// again.
void Exchange::matchAgain() {
  const bool early = pendingSteps_ == Pending::kBeforeRouting;  // a route is matched behind them anyway
  const bool asked = steps_->request->askedByStep();
  if (early || (asked && std::exchange(steps_->matchedAgain, true))) return;
  const Step* const asking = steps_->request->asking();
  const auto stays = [asking](const Step& step) { return step.scope == Scope::kGateway || &step == asking; };
  http::RequestHead head = *steps_->headBeforeRule;
  head.headers = head.headers.copy(request_.arena);
  steps_->edits.layOn(request_.arena, head, stays);
  const routing::RouteMatch match = matchWithHints(head);
  if (match.rule == rule_) return;
  const processing::Chain* const next = match.rule != nullptr ? match.rule->chain.get() : nullptr;
  const auto counts = [&](const Step& step) { return stays(step) || (next != nullptr && next->contains(step)); };
  const Step* const changed = steps_->request->alteredBy(
      [&](const Step& step) { return step.scope != Scope::kGateway && (next == nullptr || !next->contains(step)); });
  if (changed != nullptr) return steps_->refuse(*changed, "the route was matched again after it had changed the body");
  steps_->edits.keepIf(counts);
  changeRule(match);
}

void Exchange::changeRule(const routing::RouteMatch& match) {
  // Its steps may have the body under their hands.
  if (rule_ != nullptr) steps_->formerRule = rule_->shared_from_this();
  owner_.observer().onLeftRoute(*this);
  session_.reset();
  attempt_ = Attempt{{owner_.upstreams(), token()}};
  takeRule(match.rule);
  rebuildHead();
  const std::optional<base::Error> refusal = chooseBackend(match);
  owner_.observer().onRouted(*this);
  findPhases();
  steps_->findPlace();
  if (refusal) return raise(Event::kRejected, *refusal);
  if (rule_->requestTimeout) arm();
  processing::Pipeline& pipeline = *steps_->request;
  const processing::Chains own = {nullptr, chains()[1], nullptr};
  if (!pipeline.carries() && processing::wantsBody(own, bitOf(Phase::kRequestBody)) &&
      request_.head.body != http::Body::kTunnel)
    carryRequest();
  pipeline.leaveRoute();
  pipeline.appendRequest(sharedChains(), Round::kFirst);
  pendingSteps_ = Pending::kFirstRound;
}

/// Matches by what is served now, because what the request came in by may be gone. Hints take the place of the fields
/// of `head` that have their names.
routing::RouteMatch Exchange::matchWithHints(http::RequestHead head) {
  const Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr) return {};
  if (!steps_->wish.hints.empty()) head.headers = head.headers.copy(request_.arena);
  for (const http::Field& hint : steps_->wish.hints) head.headers.set(request_.arena, hint.name, hint.value);
  return matchHead(downstream->routes(), head);
}

}  // namespace sluice::exchange
