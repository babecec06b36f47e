#include "proxy/exchange/exchange.h"

#include <algorithm>
#include <bit>

#include "proxy/exchange/reply/local_reply.h"

namespace sluice::exchange {
namespace {

// No real course of events needs so many transitions in one drive: an exchange that passes this bound spins.
constexpr int kMaxTransitions = 64;

}  // namespace

// --- the mover ------------------------------------------------------------------------------------------------------

void Exchange::drive() {
  for (int transitions = 0; t_.pending != 0; ++transitions) {
    auto event = static_cast<Event>(std::countr_zero(t_.pending));
    t_.pending &= t_.pending - 1;
    if (transitions == kMaxTransitions) {
      t_.pending = 0;
      t_.error = base::Error::internal("the exchange did not come to rest");
      event = Event::kInternalFailure;
    }
    const RequestCell& request = requestCell(t_.requestState, event);
    const ResponseCell& response = responseCell(t_.responseState, event);
    t_.requestState = request.next;
    t_.responseState = response.next;
    if (request.action != RequestAction::kNone) requestPath_.act(request.action);
    if (response.action != ResponseAction::kNone) responsePath_.act(response.action);
    if (transitions == kMaxTransitions) break;
  }
  if (!account_.isIdle()) account_.settle();
  // A step may have been suspended while any event was handled.
  if (t_.rearm || processing_.deadline() != base::MonotonicTime::max()) arm();
  t_.scheduled = false;  // last of all: events that it raised itself were taken already
}

void Exchange::onRequestReset(const base::Error& error, bool answerable) {
  requestBody_.breakOff();
  raise(answerable ? Event::kRequestBroken : Event::kClientGone, error);
}

void Exchange::onStepAnswer(processing::Ticket ticket, bool dropped) {
  ExchangeSteps* steps = processing_.steps();
  if (steps == nullptr || !steps->answer(ticket, dropped)) return;
  t_.progress();
  raise(Event::kStepAnswer);
}

const processing::Step* Exchange::suspendedStep() const {
  const ExchangeSteps* steps = processing_.steps();
  return steps != nullptr ? steps->suspended() : nullptr;
}

// --- time -----------------------------------------------------------------------------------------------------------

/// Returns true if the client owes bytes of its body, and nothing else is owed.
bool Exchange::clientStalls() const {
  const http::RequestHead& head = t_.request.head;
  if (head.body == http::Body::kTunnel) return false;
  if (processing_.steps() != nullptr) {
    if (processing_.deadline() != base::MonotonicTime::max()) return false;  // a step owes its answer
    if (processing_.starves()) return !speaksGrpc(head);
  }
  return t_.requestState == RequestState::kSending && isBeforeHead(t_.responseState) &&
         t_.requestBody.end() == http::PipeEnd::kOpen && t_.requestBody.bytes.empty() && !speaksGrpc(head);
}

// This is inline because every exchange arms its timer.
inline Timeline Exchange::timeline() const {
  Timeline line{.timeouts = t_.context.timeouts(),
                .lastProgress = t_.lastProgress,
                .answering = t_.responseState == ResponseState::kAnswering,
                .tunnels = t_.tunnels(),
                .clientStalls = false};
  if (line.answering) return line;
  line.clientStalls = clientStalls();
  line.withheld = account_.withheldDeadline();
  line.unclaimed = account_.takingDeadline();
  line.request = requestDeadline(t_.started, t_.route.rule, line.timeouts);
  // HTTPRouteTimeouts.backendRequest bounds an attempt until the response has come whole.
  const processing::Pipeline* response = processing_.responseCarrier();
  const bool whole = response != nullptr && !response->isOpen();
  const bool bounded = attempts_.current().request.active() && t_.responseBody.end() == http::PipeEnd::kOpen && !whole;
  if (bounded) line.attempt = attempts_.deadline();
  line.retry = attempts_.due();
  line.step = processing_.deadline();
  return line;
}

// The timer is not moved with every byte: the exchange looks when it fires. So it must not sleep past a stall that
// begins meanwhile.
void Exchange::arm() {
  t_.rearm = false;
  const base::TimeoutSettings& timeouts = t_.context.timeouts();
  base::MonotonicTime due = std::min(firstDeadline(timeline()), t_.now() + timeouts.responseIdle);
  if (t_.requestBody.end() == http::PipeEnd::kOpen) due = std::min(due, t_.now() + timeouts.bodyIdle);
  t_.context.worker().timers().set(*this, due);
}

void Exchange::onTimer() {
  account_.settle();  // other exchanges may have reached a bound
  const Expiry expiry = expiredAt(timeline(), t_.now());
  if (expiry == Expiry::kNone) return arm();
  expire(expiry);
}

void Exchange::expire(Expiry expiry) {
  const auto ofClient = [](const char* what) {
    return base::Error{base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream, what};
  };
  const auto ofBackend = [](base::ErrorType type, const char* what) { return base::Error::upstream(type, what); };
  switch (expiry) {
    case Expiry::kNone:
      return;
    case Expiry::kReply:
      t_.context.onLimit("clientIdle");
      return raise(Event::kDeadline, ofClient("the client did not take the answer in time"));
    case Expiry::kWithheld:
      return raise(Event::kDeadline, {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                                      "too much waits for this client, or for what it sends to be taken"});
    case Expiry::kUnclaimed:
      if (account_.socketMoves()) {
        t_.progress();
        return arm();
      }
      t_.context.onLimit("responseIdle");
      return raise(Event::kDeadline, ofClient("the client did not take the response in time"));
    case Expiry::kBody:
      t_.context.onLimit("bodyIdle");
      return raise(Event::kDeadline, base::Error::badRequest(408, "the request body did not arrive in time"));
    case Expiry::kStep:
      processing_.steps()->expire(t_.now());
      t_.progress();
      arm();
      return raise(Event::kStepAnswer);
    case Expiry::kRetry:
      return raise(Event::kRetryDue);
    case Expiry::kIdle:
      t_.context.onLimit("streamIdle");
      if (!t_.responseBody.bytes.empty()) {
        return raise(Event::kDeadline, ofClient("the client did not take the response in time"));
      }
      if (t_.tunnels()) {
        return raise(Event::kDeadline,
                     ofBackend(base::ErrorType::kConnectionTerminated, "nothing moved in the tunnel for too long"));
      }
      break;
    case Expiry::kRequest:
      t_.context.onLimit("request");
      break;
    case Expiry::kAttempt:
      t_.context.onLimit("backendRequest");
      break;
  }
  raise(expiry == Expiry::kAttempt ? Event::kAttemptExpired : Event::kDeadline,
        ofBackend(base::ErrorType::kHttpResponseTimeout, "the backend did not answer in time"));
}

}  // namespace sluice::exchange
