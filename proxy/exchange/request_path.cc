#include "proxy/exchange/request_path.h"

#include <utility>

#include "proxy/exchange/attempt/expectation.h"
#include "proxy/exchange/attempt/requested_destination.h"
#include "proxy/exchange/attempt/tunnel_gate.h"
#include "proxy/exchange/authentication/authentication_gate.h"
#include "proxy/exchange/request_id.h"
#include "proxy/exchange/steps/body_framing.h"
#include "proxy/exchange/steps/connect_gate.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/exchange/unseen.h"
#include "proxy/http/connection_auth.h"
#include "proxy/routing/preflight.h"
#include "proxy/routing/rule_reply.h"
#include "proxy/routing/settle_head.h"

namespace sluice::exchange {

using processing::Phase;
using processing::Round;

namespace {

constexpr std::uint64_t bits() { return 0; }
template <typename... Events>
constexpr std::uint64_t bits(Event first, Events... rest) {
  return Transaction::bitOf(first) | bits(rest...);
}

/// Returns true if the destination of the attempt is one that the request names.
bool namesDestination(const Attempts& attempts) {
  const routing::WeightedBackend* const chosen = attempts.backend();
  return chosen != nullptr && chosen->backend && chosen->backend->dynamic != nullptr;
}

// Events of an attempt that is given up are ignored, but events of the request's steps are not, because these go on.
constexpr std::uint64_t kAttemptEvents = bits(
    Event::kStepsDone, Event::kAttemptSteps, Event::kConnectSteps, Event::kPoolReady, Event::kLeased,
    Event::kUnavailable, Event::kRequestTaken, Event::kRequestSent, Event::kInterim, Event::kResponseArrived,
    Event::kResponseStepsDone, Event::kResponseRefused, Event::kResponseHead, Event::kResponseReady, Event::kProceedDue,
    Event::kResponseBody, Event::kUpstreamReset, Event::kAttemptExpired, Event::kPostponed, Event::kConnectionRefused);

}  // namespace

void RequestPath::act(RequestAction action) {
  switch (action) {
    case RequestAction::kRoute:
      return route();
    case RequestAction::kMatch:
      return match();
    case RequestAction::kProcess:
      return onMoved(t_.requestState >= RequestState::kPreparing ? s_.requestBody.move(true)
                                                                 : s_.requestBody.moveRequest());
    case RequestAction::kPassWishes:
      return passWishes();
    case RequestAction::kMatchAgain:
      return matchAgain();
    case RequestAction::kProcessTentative:
      return processTentative();
    case RequestAction::kAuthenticate:
      return authenticate();
    case RequestAction::kProcessSecond:
      return processSecond();
    case RequestAction::kEnter:
      return enter();
    case RequestAction::kPrepare:
      return prepare();
    case RequestAction::kPassOver:
      return passOver();
    case RequestAction::kAdmit:
      return admit();
    case RequestAction::kRepeat:
      return repeat();
    case RequestAction::kBackOff:
      return backOff();
    case RequestAction::kAcquireAllowed:
      s_.processing.steps()->connect.end();
      return acquire();
    case RequestAction::kAcquire:
      return acquire();
    case RequestAction::kAbandon:
      return s_.attempts.current().request.abandon();
    case RequestAction::kBegin:
      return begin();
    case RequestAction::kMoveBody:
      s_.requestBody.move(movesAttempt());
      return;
    case RequestAction::kForwardRequest:
      return forward();
    case RequestAction::kGrantClient:
      if (s_.processing.steps() != nullptr) act(RequestAction::kForwardRequest);
      return s_.requestBody.grant();
    case RequestAction::kDismissClient:
      return dismissClient();
    case RequestAction::kCancelUpstream:
      return s_.attempts.cancel();
    case RequestAction::kNone:
      return;
  }
}

// --- the route ------------------------------------------------------------------------------------------------------

void RequestPath::route() {
  t_.requestId = settleRequestId(t_.request.arena, t_.request.head.headers, t_.context.identity().requestId,
                                 t_.context.generator());
  const Passage passage = passageOf(t_.request.head.headers, t_.context.identity());
  t_.fromGateway = passage != Passage::kNone;
  if (passage == Passage::kHere) {
    return refuseUnrouted(base::Error(base::ErrorType::kProxyLoopDetected, base::ErrorOrigin::kDownstream,
                                      "the request has passed this gateway before"));
  }
  if (auto refused = routing::settleHead(t_.request.arena, t_.request.head, *t_.client.routes)) {
    return refuseUnrouted(*std::move(refused));
  }
  Downstream* const downstream = t_.downstream();
  const std::string_view serverName = downstream != nullptr ? downstream->serverName() : std::string_view();
  routing::RouteMatch match = routing::matchRequest(*t_.client.routes, t_.request.head, serverName);
  t_.route.listener = match.listener;
  if (AuthenticationGate::guards(match.listener) && AuthenticationGate(t_).begin(downstream)) {
    match = routing::matchRequest(*t_.client.routes, t_.request.head, serverName);
  }
  if (match.listener == nullptr || !match.listener->preRouting) return decide(match);
  s_.processing.beginBeforeRouting(t_.authentication != nullptr ? Round::kFirst : Round::kBoth);
  t_.raise(Event::kGatewaySteps);
}

/// Called when steps that come before routing have decided. Those behind authentication have not begun yet if clients
/// are authenticated.
void RequestPath::match() {
  if (AuthenticationGate::owes(t_) && t_.route.listener->preRouting->hasPostAuthOfRequest()) {
    t_.authentication->halfway = true;
    return t_.raise(Event::kAuthenticate);
  }
  decide(s_.processing.matchWithHints(t_.request.head));
}

void RequestPath::refuseUnrouted(base::Error error) {
  t_.routed = true;
  t_.context.observer().onRouted(t_.exchange);
  t_.raise(Event::kRejected, std::move(error));
}

/// Applies the parts of the rule that decide where the request goes.
void RequestPath::decide(const routing::RouteMatch& match) {
  takeRule(match.rule);
  const std::optional<base::Error> refusal = chooseBackend(match);
  t_.routed = true;
  t_.context.observer().onRouted(t_.exchange);
  s_.processing.chains().findPhases();
  if (refusal) return refuseKnown(t_, *refusal);
  if (t_.context.refusesConnectionAuth() && http::authenticatesConnection(t_.request.head.headers)) {
    return refuseKnown(t_, base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream,
                                       "NTLM and Negotiate authenticate connections, which this gateway shares"));
  }
  if (t_.route.rule->hasDeadlines()) t_.rearm = true;
  const bool concerned = !s_.processing.chains().empty() || s_.processing.steps() != nullptr;
  const auto first = concerned ? s_.processing.beginFirstRound() : Processing::FirstRound::kNone;
  if (first != Processing::FirstRound::kNone) {
    return t_.raise(first == Processing::FirstRound::kBegun ? Event::kRouteSteps : Event::kStepsDone);
  }
  if (AuthenticationGate::owes(t_) && !AuthenticationGate(t_).admitAtOnce()) return;
  enter();
}

void RequestPath::takeRule(const routing::Rule* rule) {
  t_.route.take(rule);
  // Trailers may have come before the rule is known, and mirrors get them too.
  if (t_.requestBody.trailers() != nullptr) guardRequestTrailers(t_, s_.attempts.backend());
}

/// Chooses among the Backends of the rule; none if the rule has a local reply, or no Backends: then a step may answer.
std::optional<base::Error> RequestPath::chooseBackend(const routing::RouteMatch& match) {
  if (auto refused = routing::refusalOf(t_.request.head, match)) return refused;
  const routing::Rule* rule = t_.route.rule;
  if (rule->backends.empty() || routing::repliesLocally(t_.request.head, *rule)) return std::nullopt;
  s_.attempts.choose(s_.processing.steps() != nullptr ? s_.processing.steps()->headBeforeRule : nullptr);
  if (s_.attempts.backend() == nullptr) return rule->withoutBackend();
  if (s_.attempts.backend()->failure) return *s_.attempts.backend()->failure;
  return std::nullopt;
}

// --- steps ----------------------------------------------------------------------------------------------------------

void RequestPath::onMoved(RequestBody::Outcome outcome) {
  switch (outcome) {
    case RequestBody::Outcome::kDone:
      return t_.raise(Event::kStepsDone);
    case RequestBody::Outcome::kMatchAgain:
      return t_.raise(Event::kMatchAgain);
    case RequestBody::Outcome::kWaits:
      return await();
    case RequestBody::Outcome::kRefused:
      return;
  }
}

/// Sends 100 (Continue) to a client that waits for it before it sends the body that a step needs.
void RequestPath::await() {
  if (s_.processing.starves()) proceed(t_);
  t_.rearm = true;
}

void RequestPath::processTentative() {
  if (namesDestination(s_.attempts) && !findDestination()) return;
  if (!s_.processing.beginTentative()) return t_.raise(Event::kStepsDone);
  onMoved(s_.requestBody.moveRequest());
}

void RequestPath::authenticate() {
  if (!AuthenticationGate(t_).admit()) return;
  if (s_.processing.steps() != nullptr) s_.processing.steps()->identify(t_.caller);
  if (t_.authentication->refused) return t_.raise(Event::kRejected);  // the error is that of refuseKnown()
  if (!std::exchange(t_.authentication->halfway, false)) return t_.raise(Event::kStepsDone);
  s_.processing.beginBeforeRouting(Round::kSecond);
  t_.raise(Event::kGatewaySteps);
}

// Policies judge between the rounds, so that no step behind authentication sees a request that is denied anyway.
void RequestPath::processSecond() {
  if (AuthenticationGate::owes(t_)) return t_.raise(Event::kAuthenticate);
  if (s_.processing.steps() == nullptr) return t_.raise(Event::kStepsDone);
  if (namesDestination(s_.attempts) && !findDestination()) return;
  if (EgressGate::guards(t_.route) && !egress().admitTentative()) return deny();
  s_.processing.beginSecondRound();
  onMoved(s_.requestBody.moveRequest());
}

// Steps that ask for another match of the route cost no transition each, because there may be more of them than one
// drive allows.
void RequestPath::passWishes() {
  RequestBody::Outcome outcome = RequestBody::Outcome::kMatchAgain;
  while (outcome == RequestBody::Outcome::kMatchAgain) outcome = s_.requestBody.moveRequest();
  onMoved(outcome);
}

void RequestPath::matchAgain() {
  routing::RouteMatch match;
  Processing::Rematch result = s_.processing.matchAgain(match);
  while (result == Processing::Rematch::kSame) {
    const RequestBody::Outcome outcome = s_.requestBody.moveRequest();
    if (outcome != RequestBody::Outcome::kMatchAgain) return onMoved(outcome);
    result = s_.processing.matchAgain(match);
  }
  if (result == Processing::Rematch::kRefused) return;
  s_.processing.leaveRule();
  t_.context.observer().onLeftRoute(t_.exchange);
  s_.attempts.reset();
  t_.egress = nullptr;
  takeRule(match.rule);
  s_.processing.rebuildHead();
  const std::optional<base::Error> refusal = chooseBackend(match);
  t_.context.observer().onRouted(t_.exchange);
  s_.processing.chains().findPhases();
  if (refusal) {
    s_.processing.steps()->findPlace();
    return refuseKnown(t_, *refusal);
  }
  if (t_.route.rule->hasDeadlines()) t_.rearm = true;
  s_.processing.restartRounds();
  t_.raise(Event::kRouteChanged);
}

// --- attempts -------------------------------------------------------------------------------------------------------

/// Called when the request is settled. Its first attempt may be made.
void RequestPath::enter() {
  s_.processing.endRounds();
  if (s_.attempts.backend() == nullptr) return answerByRule();
  if (routing::repliesLocally(t_.request.head, *s_.attempts.backend())) return t_.raise(Event::kRejected);
  if (namesDestination(s_.attempts) && !findDestination()) return;
  s_.attempts.keepForRetries(s_.processing.requestCarrier());
  if (EgressGate::guards(t_.route) && !admitToPolicies()) return;
  const auto& mirrors = t_.route.rule->mirrors;
  if (mirrors.empty()) return prepareAdmitted();
  // Mirrors start behind the request, because a copy may lead to the same Backend and must not take the room of the
  // request itself; unless steps of the attempt take the body away.
  const bool taken = s_.processing.chains().hasAttemptSteps();
  if (taken) s_.mirrors.start(mirrors);
  prepareAdmitted();
  if (!taken) s_.mirrors.start(mirrors);
}

/// Called for a request that no step has answered and that goes to no Backend.
void RequestPath::answerByRule() {
  const routing::Rule& rule = *t_.route.rule;
  const http::RequestHead& asked = t_.asked != nullptr ? *t_.asked : t_.request.head;
  if (!rule.backends.empty() || routing::repliesLocally(asked, rule)) return t_.raise(Event::kRejected);
  t_.raise(Event::kRejected, rule.withoutBackend());
}

void RequestPath::prepare() {
  if (namesDestination(s_.attempts) && !findDestination()) return;
  if (!EgressGate::guards(t_.route) || admitToPolicies()) prepareAdmitted();
}

void RequestPath::prepareAdmitted() {
  if (t_.request.head.tunnel == http::Tunnel::kStream && !TunnelGate(t_, s_.attempts).enter()) return;
  s_.attempts.begin();
  if (t_.requestBody.trailers() != nullptr) guardRequestTrailers(t_, s_.attempts.backend());
  makeAttempt();
}

/// Returns false if the request, which names its destination, cannot go there.
bool RequestPath::findDestination() {
  // Such a Backend is not dialled.
  if (routing::repliesLocally(t_.request.head, *s_.attempts.backend())) return true;
  const std::optional<base::Error> refusal = exchange::findDestination(t_, s_.attempts.current());
  if (refusal) refuseKnown(t_, *refusal);
  return !refusal;
}

/// Returns false if policies deny every Backend that the attempt could go to.
bool RequestPath::admitToPolicies() {
  const routing::WeightedBackend* const chosen = s_.attempts.backend();
  const bool admitted = egress().admitAttempt();
  if (s_.attempts.backend() != chosen) s_.processing.chains().findPhases();
  if (!admitted) deny();
  return admitted;
}

void RequestPath::deny() { t_.raise(Event::kRejected, routing::egressDenied()); }

/// Called when policies deny the attempt, which has begun.
void RequestPath::passOver() {
  s_.attempts.current().request.abandon();
  t_.context.observer().onLeftRoute(t_.exchange);
  const bool passed = egress().passOver();
  t_.context.observer().onRouted(t_.exchange);
  if (!passed) return deny();
  s_.processing.chains().findPhases();
  endAttempt();
  s_.attempts.rewind();
  prepare();
}

/// Makes an attempt with its own copy of the request, if steps are to see it; then it is admitted.
void RequestPath::makeAttempt() {
  if (!s_.processing.chains().hasAttemptSteps()) {
    if (s_.processing.steps() != nullptr) s_.processing.steps()->dropTentative();
    return admit();
  }
  if (!s_.attempts.current().request.entered()) startMirrorsOfBackend();
  s_.processing.beginAttempt();
  t_.raise(Event::kAttemptSteps);
}

void RequestPath::admit() {
  Attempt& attempt = s_.attempts.current();
  if (attempt.request.entered()) return t_.raise(Event::kRouted);  // the same attempt is made again
  const auto* plan = routing::planFor(t_.request.head, attempt.destination());
  if (plan == nullptr) {
    return t_.raise(Event::kRejected, base::Error::upstream(base::ErrorType::kHttpProtocolError,
                                                            "the backend carries no tunnel of this kind"));
  }
  if (EgressGate::guards(t_.route)) {
    const bool changed = s_.processing.attempt() != nullptr;
    if (changed && !egress().admitAgain(*s_.processing.steps()->attemptHead)) return t_.raise(Event::kPassOver);
    egress().report();
  }
  if (attempt.requested != nullptr) {
    if (auto full = takeDestination(t_, attempt)) return t_.raise(Event::kUnavailable, *std::move(full));
  }
  if (!attempt.request.enter(*plan, t_.share)) {
    return t_.raise(Event::kUnavailable, upstream::tooManyRequests(upstream::requestLimit((*plan)->connection.bounds)));
  }
  if (!attempt.backend->mirrors.empty() && s_.processing.attempt() == nullptr) startMirrorsOfBackend();
  t_.raise(Event::kRouted);
}

void RequestPath::startMirrorsOfBackend() {
  const routing::WeightedBackend& backend = *s_.attempts.backend();
  if (!backend.mirrors.empty() && !s_.attempts.hasTried(backend)) s_.mirrors.start(backend.mirrors);
}

void RequestPath::repeat() {
  s_.attempts.markRepeated();
  endAttempt();
  s_.attempts.rewind();
  makeAttempt();
}

void RequestPath::backOff() {
  s_.attempts.current().request.cancel();
  const Attempt failed = s_.attempts.next();
  s_.processing.chains().findPhases();
  const bool answered = t_.response.has_value() && !failed.broke;
  t_.context.observer().onRetry(t_.exchange, failed, answered ? nullptr : &*t_.error);
  endAttempt();
  s_.attempts.rewind();
  if (s_.attempts.due() <= t_.now()) return t_.raise(Event::kRetryDue);
  t_.rearm = true;
}

/// Ends an attempt that is given up, which leaves nothing behind.
void RequestPath::endAttempt() {
  s_.processing.endAttempt();
  t_.pending &= ~kAttemptEvents;
  t_.interims.clear();
  t_.response.reset();
  s_.responseBody.reset();
}

void RequestPath::forward() {
  if (t_.streamTunnel != nullptr && !TunnelGate(t_, s_.attempts).release()) return;
  s_.requestBody.move(movesAttempt());
  s_.attempts.current().request.wake();
}

// --- the connection -------------------------------------------------------------------------------------------------

void RequestPath::acquire() {
  Attempt& attempt = s_.attempts.current();
  if (attempt.begun == base::MonotonicTime{}) attempt.begun = t_.now();
  routing::EgressDial* const dial = t_.egress != nullptr ? egress().dial() : nullptr;
  const net::Addresses* allowed = nullptr;
  if (s_.processing.chains().wants(Phase::kConnect)) {
    allowed = s_.processing.steps()->connect.allowed();
    if (allowed == nullptr) return ConnectGate(t_, s_.attempts, s_.processing).begin();
  }
  const auto leased = attempt.request.acquire(s_.attempts.wishes(allowed, dial));
  if (dial != nullptr && !egress().reportAddresses()) return t_.raise(Event::kPassOver);
  if (!leased.ok()) return t_.raise(Event::kUnavailable, leased.error());
  if (*leased) t_.raise(Event::kLeased);
}

void RequestPath::begin() {
  Attempt& attempt = s_.attempts.current();
  attempt.unprocessed = false;
  attempt.begun = t_.now();
  attempt.status = 0;
  if (t_.downstream() == nullptr || !attempt.request.claim()) {
    return s_.attempts.onReset(base::Error::upstream(base::ErrorType::kConnectionTerminated, "the connection was lost"),
                               true);
  }
  processing::Pipeline* const steps = s_.processing.attempt();
  if (steps != nullptr) {
    if (!ConnectGate(t_, s_.attempts, s_.processing).admitsConnection()) return;
    s_.processing.beginBackendRequest();
    const RequestBody::Outcome outcome = s_.requestBody.move(true);
    if (outcome == RequestBody::Outcome::kWaits) postpone();
    if (outcome != RequestBody::Outcome::kDone) return attempt.request.giveBack();
    ExchangeSteps& own = *s_.processing.steps();
    if (steps->carries()) frame(*own.attemptHead, steps->alters(), own.attemptBody);
  }
  if (EgressGate::guards(t_.route) &&
      !egress().admitSent(steps != nullptr ? s_.processing.steps()->attemptHead : nullptr)) {
    attempt.request.giveBack();
    return deny();
  }
  attempt.count();
  attempt.made = true;
  http::RequestHead head =
      steps != nullptr ? *s_.processing.steps()->attemptHead : s_.attempts.head(s_.processing.ruleFilters());
  // Destinations that clients name do not learn the names of workloads.
  if (attempt.requested == nullptr) nameCaller(t_, t_.request.arena, head);
  if (t_.requestBody.trailers() != nullptr) s_.processing.guardTrailers();
  http::spellPathAsSent(t_.request.arena, head);
  if (head.body == http::Body::kTunnel) openHandshake(t_.request.arena, t_.context.generator(), head);
  head.expectContinue = passesExpectation(t_, head);
  if (!attempt.request.begin(head, t_.client.connection)) {
    return s_.attempts.onReset(base::Error::internal("the request cannot be expressed towards the backend"), false);
  }
  if (t_.route.rule->boundsAttempts() || head.expectContinue) t_.rearm = true;
  if (!head.expectContinue) proceed(t_);
}

void RequestPath::postpone() {
  t_.raise(Event::kPostponed);
  await();
}

// Called in a tunnel whose backend has ended its side and was lost then.
void RequestPath::dismissClient() {
  if (!t_.tunnels() || t_.requestBody.end() != http::PipeEnd::kOpen) return;
  if (http::ServerCodec* codec = t_.codec()) codec->dismiss(t_.client.stream);
}

/// Returns true if the body moves through the steps of the attempt too.
bool RequestPath::movesAttempt() const {
  return s_.processing.attempt() != nullptr && s_.processing.steps()->backendRequestEntered;
}

}  // namespace sluice::exchange
