// What bounds an exchange in time: one timer for whichever of its deadlines comes first.
#include <algorithm>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/reply/local_reply.h"

namespace sluice::exchange {

// The client owes us body bytes, and nobody else owes anything.
bool Exchange::clientStalls() const {
  if (request_.head.body == http::Body::kTunnel) return false;
  if (steps_) {
    if (stepDeadline() != base::MonotonicTime::max()) return false;  // a step does
    if (starves()) return !speaksGrpc(request_.head);
  }
  return requestState_ == RequestState::kSending && responseState_ == ResponseState::kWaiting &&
         requestBody_.end() == http::PipeEnd::kOpen && requestBody_.bytes.empty() && !speaksGrpc(request_.head);
}

base::MonotonicTime Exchange::deadline() const {
  const base::TimeoutSettings& timeouts = owner_.timeouts();
  // An answer of our own is small, so it has a time to be taken in, whether or not some of it moves.
  if (responseState_ == ResponseState::kAnswering) return lastProgress_ + timeouts.clientIdle;
  const base::MonotonicTime idleUntil = lastProgress_ + (clientStalls() ? timeouts.bodyIdle : timeouts.streamIdle);
  const base::MonotonicTime bounded = std::min(idleUntil, memoryDeadline());
  if (tunnels()) return bounded;  // it ends when nothing moves in it
  const base::MonotonicTime due = std::min({bounded, requestDeadline(), attemptDeadline(), retryTime()});
  return steps_ ? std::min(due, stepDeadline()) : due;
}

base::MonotonicTime Exchange::requestDeadline() const {
  const bool own = rule_ != nullptr && rule_->requestTimeout;
  const base::Duration request = own ? *rule_->requestTimeout : owner_.timeouts().request;
  return request == base::Duration::zero() ? base::MonotonicTime::max() : started_ + request;
}

// HTTPRouteTimeouts.backendRequest: until the response has come whole.
base::MonotonicTime Exchange::attemptDeadline() const {
  const bool bounded = attempt_.request.active() && responseBody_.end() == http::PipeEnd::kOpen && !hasWholeResponse();
  return bounded ? attempt_.request.deadline(rule_->backendRequestTimeout) : base::MonotonicTime::max();
}

base::MonotonicTime Exchange::memoryDeadline() const {
  const bool withheld = withheldSince_ != base::MonotonicTime{};
  return std::min(takingDeadline(),
                  withheld ? withheldSince_ + owner_.timeouts().responseIdle : base::MonotonicTime::max());
}

base::MonotonicTime Exchange::retryTime() const { return retries_ ? retries_->due() : base::MonotonicTime::max(); }

// The timer is not moved with every byte: it looks when it fires. So it must not sleep past a stall that begins
// meanwhile.
void Exchange::arm() {
  const base::TimeoutSettings& timeouts = owner_.timeouts();
  base::MonotonicTime due = std::min(deadline(), owner_.worker().now() + timeouts.responseIdle);
  if (requestBody_.end() == http::PipeEnd::kOpen) due = std::min(due, owner_.worker().now() + timeouts.bodyIdle);
  owner_.worker().timers().set(*this, due);
}

void Exchange::onTimer() {
  settleAccounts();  // a bound may have been reached by others
  if (deadline() > owner_.worker().now()) return arm();
  expire();
}

void Exchange::expire() {
  const base::MonotonicTime now = owner_.worker().now();
  if (responseState_ == ResponseState::kAnswering) {
    owner_.onLimit("clientIdle");
    return raise(Event::kDeadline, {base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
                                    "the client did not take the answer in time"});
  }
  if (expireForMemory(now)) return;
  if (clientStalls() && lastProgress_ + owner_.timeouts().bodyIdle <= now) {
    owner_.onLimit("bodyIdle");
    return raise(Event::kDeadline, base::Error::badRequest(408, "the request body did not arrive in time"));
  }
  const bool idle = lastProgress_ + owner_.timeouts().streamIdle <= now;
  const bool late = requestDeadline() <= now;
  if (!idle && !late && stepDeadline() <= now) {
    steps_->expire(now);
    progress();
    arm();
    return raise(Event::kStepAnswer);
  }
  if (!idle && !late && retryTime() <= now) return raise(Event::kRetryDue);
  const bool ofAttempt = !idle && attemptDeadline() <= now;
  owner_.onLimit(idle ? "streamIdle" : ofAttempt ? "backendRequest" : "request");
  if (idle && !responseBody_.bytes.empty()) {
    return raise(Event::kDeadline, {base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
                                    "the client did not take the response in time"});
  }
  if (tunnels()) {
    return raise(Event::kDeadline, base::Error::upstream(base::ErrorType::kConnectionTerminated,
                                                         "nothing moved in the tunnel for too long"));
  }
  raise(ofAttempt ? Event::kAttemptExpired : Event::kDeadline,
        base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the backend did not answer in time"));
}

}  // namespace sluice::exchange
