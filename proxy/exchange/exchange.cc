#include "proxy/exchange/exchange.h"

#include <algorithm>
#include <bit>

#include "proxy/exchange/attempt/expectation.h"
#include "proxy/exchange/authentication/authentication_gate.h"
#include "proxy/http/grpc.h"

namespace sluice::exchange {
namespace {

// An exchange that passes this bound in one drive spins. Eleven attempts that fail at once, with steps in each, take
// about a hundred transitions, and steps that change the route take a few each.
constexpr int kMaxTransitions = 4096;

/// Returns the error of an exchange that waits in vain for something that no client owes.
base::Error silence(const Transaction& t) {
  if (t.requestState == RequestState::kAuthenticating) {
    return {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kInternal,
            "the password was not checked in time"};
  }
  return base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the backend did not answer in time");
}

/// Returns the error of the side that has stalled the exchange; `silent` is that of a backend that does not answer.
base::Error idleError(const Transaction& t, const base::Error& silent) {
  if (!t.responseBody.bytes.empty()) {
    return {base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
            "the client did not take the response in time"};
  }
  if (!t.tunnels()) return silent;
  return base::Error::upstream(base::ErrorType::kConnectionTerminated, "nothing moved in the tunnel for too long");
}

/// Sets the deadlines of a tunnel for bytes of any protocol.
void boundTunnel(const StreamTunnel& stream, Timeline& line) {
  if (line.timeouts.tunnel != base::Duration::zero()) line.tunnelEnd = stream.agreed + line.timeouts.tunnel;
  const bool isAwaited = stream.first.begun() && !stream.first.known() && stream.firstByte != base::MonotonicTime{};
  if (isAwaited) line.sniff = stream.firstByte + line.timeouts.tunnelSniff;
}

/// Returns the name of the limit of an exchange in which nothing moves.
std::string_view idleLimitOf(http::Tunnel tunnel) {
  return tunnel == http::Tunnel::kStream ? "tunnelIdle" : "streamIdle";
}

}  // namespace

// --- the mover ------------------------------------------------------------------------------------------------------

void Exchange::drive() {
  for (int transitions = 0; s_.transaction.pending != 0; ++transitions) {
    auto event = static_cast<Event>(std::countr_zero(s_.transaction.pending));
    s_.transaction.pending &= s_.transaction.pending - 1;
    if (transitions == kMaxTransitions) {
      s_.transaction.pending = 0;
      s_.transaction.error = base::Error::internal("the exchange did not come to rest");
      event = Event::kInternalFailure;
    }
    const RequestCell& request = requestCell(s_.transaction.requestState, event);
    const ResponseCell& response = responseCell(s_.transaction.responseState, event);
    s_.transaction.requestState = request.next;
    s_.transaction.responseState = response.next;
    if (request.action != RequestAction::kNone) requestPath_.act(request.action);
    if (response.action != ResponseAction::kNone) responsePath_.act(response.action);
    if (transitions == kMaxTransitions) break;
  }
  if (!s_.account.isIdle()) s_.account.settle();
  // A step may have been suspended while any event was handled.
  if (s_.transaction.rearm || s_.processing.deadline() != base::MonotonicTime::max()) arm();
  s_.transaction.scheduled = false;  // last of all: events that it raised itself were taken already
}

void Exchange::onRequestReset(const base::Error& error, bool answerable) {
  s_.requestBody.breakOff();
  s_.transaction.endTunnel(TunnelEnd::kClient);
  raise(answerable ? Event::kRequestBroken : Event::kClientGone, error);
}

void Exchange::onStepAnswer(processing::Ticket ticket, bool dropped) {
  if (ticket == Attempts::kCopyTicket) return s_.attempts.loseCopy();
  ExchangeSteps* steps = s_.processing.steps();
  if (steps == nullptr || !steps->answer(ticket, dropped)) return;
  s_.transaction.progress();
  raise(Event::kStepAnswer);
}

void Exchange::onPasswordChecked(bool right) {
  if (s_.transaction.requestState != RequestState::kAuthenticating) return;
  AuthenticationGate(s_.transaction).onChecked(right);
  s_.transaction.progress();
  raise(Event::kPasswordChecked);
}

const processing::Step* Exchange::suspendedStep() const {
  const ExchangeSteps* steps = s_.processing.steps();
  return steps != nullptr ? steps->suspended() : nullptr;
}

// --- its place at the Backend ---------------------------------------------------------------------------------------

void Exchange::surveyPlace(std::uint64_t breaker, upstream::PlaceSurvey& survey) const {
  if (!s_.attempts.current().request.holdsPlaceOf(breaker)) return;
  survey.add(token(), {s_.transaction.share, clientOwesSince(s_)});
}

// The client may have taken bytes out of the socket's buffer without an event for the gateway, so the socket is asked.
bool Exchange::giveWay(base::MonotonicTime stalledSince, const upstream::PlaceDemand& demand) {
  if (!s_.attempts.current().request.holdsPlaceOf(demand.breaker) || clientOwesSince(s_) > stalledSince) return false;
  if (!s_.transaction.responseBody.bytes.empty() && s_.account.renewIfSocketMoves()) return false;
  raise(Event::kDeadline, upstream::placeWanted(demand.limit));
  return true;
}

// --- time -----------------------------------------------------------------------------------------------------------

/// Returns true if the exchange waits for bytes of the client's body, and for nothing else.
bool Exchange::clientStalls() const {
  const http::RequestHead& head = s_.transaction.request.head;
  if (head.body == http::Body::kTunnel) return false;
  if (s_.processing.steps() != nullptr) {
    if (s_.processing.deadline() != base::MonotonicTime::max()) return false;  // a step is suspended
    if (s_.processing.starves()) return !http::speaksGrpc(head);
  }
  return s_.transaction.requestState == RequestState::kSending && isBeforeHead(s_.transaction.responseState) &&
         s_.transaction.requestBody.end() == http::PipeEnd::kOpen && s_.transaction.requestBody.bytes.empty() &&
         !s_.transaction.awaitsContinue() && !http::speaksGrpc(head);
}

/// Returns true if the Backend could move bytes: neither the client nor a step nor the client's memory holds the
/// exchange up.
bool Exchange::owesBytes(const Timeline& line) const {
  const bool uploads = s_.transaction.requestBody.end() == http::PipeEnd::kOpen &&
                       s_.transaction.requestBody.bytes.empty() && !s_.transaction.tunnels() &&
                       !s_.transaction.awaitsContinue();
  return !line.clientStalls && !uploads && s_.transaction.responseBody.bytes.empty() &&
         line.withheld == base::MonotonicTime::max() && s_.processing.deadline() == base::MonotonicTime::max();
}

Timeline Exchange::timeline() const {
  Timeline line{.timeouts = s_.transaction.context.timeouts(),
                .lastProgress = s_.transaction.lastProgress,
                .answering = s_.transaction.responseState == ResponseState::kAnswering,
                .tunnel = s_.transaction.tunnel,
                .clientStalls = false};
  if (line.answering) return line;
  if (line.tunnel == http::Tunnel::kStream) boundTunnel(*s_.transaction.streamTunnel, line);
  line.clientStalls = clientStalls();
  line.withheld = s_.account.withheldDeadline();
  line.unclaimed = s_.account.takingDeadline();
  if (const routing::Rule* rule = s_.transaction.route.rule) line.ruleStreamIdle = rule->streamIdleTimeout;
  line.request = requestDeadline(s_.transaction.started, s_.transaction.route.rule, line.timeouts);
  // HTTPRouteTimeouts.backendRequest bounds an attempt until the response has come whole.
  const processing::Pipeline* response = s_.processing.responseCarrier();
  const bool whole = response != nullptr && !response->isOpen();
  const bool bounded =
      s_.attempts.current().request.active() && s_.transaction.responseBody.end() == http::PipeEnd::kOpen && !whole;
  if (bounded) {
    line.attempt = s_.attempts.deadline();
    const base::Duration idle = s_.transaction.route.rule->attemptIdleTimeout;
    if (idle != base::Duration::zero() && owesBytes(line)) {
      line.attemptIdle = std::max(s_.transaction.lastProgress + idle, s_.attempts.current().request.deadline(idle));
    }
  }
  line.retry = s_.attempts.due();
  line.step = s_.processing.deadline();
  line.proceed = proceedDeadline(s_.transaction, s_.attempts);
  return line;
}

// The timer is not moved with every byte: the exchange looks when it fires. So it must not sleep past a stall that
// begins meanwhile.
void Exchange::armAt(base::MonotonicTime deadline) {
  s_.transaction.rearm = false;
  const base::TimeoutSettings& timeouts = s_.transaction.context.timeouts();
  base::MonotonicTime due = std::min(deadline, s_.transaction.now() + timeouts.responseIdle);
  if (s_.transaction.requestBody.end() == http::PipeEnd::kOpen)
    due = std::min(due, s_.transaction.now() + timeouts.bodyIdle);
  const routing::Rule* rule = s_.transaction.route.rule;
  if (rule != nullptr && rule->attemptIdleTimeout != base::Duration::zero()) {
    due = std::min(due, s_.transaction.now() + rule->attemptIdleTimeout);
  }
  s_.transaction.context.worker().timers().set(*this, due);
}

// The settings alone bound a new exchange: it has no route, no attempt and no steps.
void Exchange::armNew() {
  const base::TimeoutSettings& timeouts = s_.transaction.context.timeouts();
  const base::MonotonicTime started = s_.transaction.started;
  armAt(firstDeadline({.timeouts = timeouts,
                       .lastProgress = started,
                       .answering = false,
                       .tunnel = http::Tunnel::kNone,
                       .clientStalls = false,
                       .request = requestDeadline(started, nullptr, timeouts)}));
}

void Exchange::onTimer() {
  s_.account.settle();  // other exchanges may have reached a bound
  const Expiry expiry = expiredAt(timeline(), s_.transaction.now());
  if (expiry == Expiry::kNone) return arm();
  expire(expiry);
}

/// Counts the timeout, and returns the error of an exchange that has run into it.
base::Error Exchange::timedOut(std::string_view timeout, base::Error error) {
  s_.transaction.context.onLimit(timeout);
  return std::move(error).ofLimit(timeout);
}

void Exchange::expire(Expiry expiry) {
  const auto ofClient = [](const char* what) {
    return base::Error{base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream, what};
  };
  const auto ofTunnel = [](const char* what) {
    return base::Error::upstream(base::ErrorType::kConnectionTerminated, what);
  };
  const base::Error silent = silence(s_.transaction);
  switch (expiry) {
    case Expiry::kNone:
      return;
    case Expiry::kReply:
      return raise(Event::kDeadline, timedOut("clientIdle", ofClient("the client did not take the answer in time")));
    case Expiry::kWithheld:
      return raise(Event::kDeadline,
                   timedOut("responseIdle", {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                                             "too much waits for this client, or for what it sends to be taken"}));
    case Expiry::kUnclaimed:
      if (s_.account.renewIfSocketMoves()) {
        s_.transaction.progress();
        return arm();
      }
      return raise(Event::kDeadline,
                   timedOut("responseIdle", ofClient("the client did not take the response in time")));
    case Expiry::kBody:
      return raise(Event::kDeadline,
                   timedOut("bodyIdle", base::Error::badRequest(408, "the request body did not arrive in time")));
    case Expiry::kStep:
      s_.processing.steps()->expire(s_.transaction.now());
      s_.transaction.progress();
      arm();
      return raise(Event::kStepAnswer);
    case Expiry::kRetry:
      return raise(Event::kRetryDue);
    case Expiry::kProceed:
      s_.transaction.context.onLimit("expectContinue");
      s_.transaction.rearm = true;
      return raise(Event::kProceedDue);
    case Expiry::kIdle:
      s_.attempts.onDeadline();
      s_.transaction.endTunnel(TunnelEnd::kIdle);
      return raise(Event::kDeadline, timedOut(idleLimitOf(s_.transaction.tunnel), idleError(s_.transaction, silent)));
    case Expiry::kTunnel:
      s_.transaction.endTunnel(TunnelEnd::kTotal);
      return raise(Event::kDeadline, timedOut("tunnel", ofTunnel("the tunnel has lasted for as long as it may")));
    case Expiry::kSniff:
      s_.transaction.streamTunnel->first.finish();
      s_.transaction.context.onLimit("tunnelSniff");
      arm();
      return raise(Event::kRequestBody);
    case Expiry::kRequest:
      s_.attempts.onDeadline();
      return raise(Event::kDeadline, timedOut("request", silent));
    case Expiry::kAttempt:
      return raise(Event::kAttemptExpired, timedOut("backendRequest", silent));
    case Expiry::kAttemptIdle:
      return raise(Event::kAttemptExpired, timedOut("attemptIdle", silent));
  }
}

}  // namespace sluice::exchange
