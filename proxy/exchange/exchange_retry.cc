// What becomes of an exchange whose attempt failed: the same once more, another one, or the client is told.
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"

namespace sluice::exchange {
namespace {

constexpr std::uint32_t bits() { return 0; }
template <typename... Events>
constexpr std::uint32_t bits(Event first, Events... rest) {
  return (1U << static_cast<unsigned>(first)) | bits(rest...);
}

// What an attempt can still have to say when it is given up.
constexpr std::uint32_t kOfAttempt =
    bits(Event::kPoolReady, Event::kLeased, Event::kUnavailable, Event::kRequestTaken, Event::kRequestSent,
         Event::kInterim, Event::kResponseArrived, Event::kResponseRefused, Event::kResponseHead, Event::kResponseReady,
         Event::kResponseBody, Event::kUpstreamReset, Event::kAttemptExpired, Event::kPostponed);

/// Not ours, nor the address guard's, which would say the same again.
bool isPassing(const base::Error& error) {
  return error.origin == base::ErrorOrigin::kUpstream && error.type != base::ErrorType::kDestinationIpProhibited;
}

}  // namespace

// RFC 9110 section 9.2.2, RFC 9113 section 8.7: again only if the backend has certainly not acted, or if the request
// may be repeated. What costs no time is done at once and for every rule, but once: a connection kept too long, a
// stream refused.
void Exchange::judgeFailure() {
  const bool sent = requestState_ == RequestState::kSending || requestState_ == RequestState::kSent;
  if (retries_ && !sent) ++attempt_.number;
  const bool idempotent = http::isIdempotent(request_.head.method);
  const bool spurious = sent && (unprocessed_ || (idempotent && wentStale()));
  // A response that steps have seen as the one that is kept is no other's.
  const bool kept = pendingResponse_ == PendingResponse::kKept;
  if (spurious && !kept && !repeated_ && bodyIntact()) return raise(Event::kRepeat);
  const bool harmless = !sent || unprocessed_ || idempotent;
  raise(harmless && !kept && isPassing(*error_) && planRetry() ? Event::kRetry : Event::kGiveUp);
}

// Whoever configures a code says that requests answered with it may be repeated, whatever their method (GEP-1731).
void Exchange::judgeResponse() {
  if (planRetry()) return raise(Event::kRetry);
  keepResponse();
}

// The connection came from the pool and is no more, which one stream's reset alone does not mean.
bool Exchange::wentStale() {
  return attempt_.request.reused() && error_->type == base::ErrorType::kConnectionTerminated &&
         attempt_.request.lostConnection();
}

// The backend can be given all of the body again.
bool Exchange::bodyIntact() const {
  if (requestBody_.end() == http::PipeEnd::kBroken) return false;
  return requestPassed_ == 0 || (retries_ && retries_->replay.holds(requestPassed_));
}

bool Exchange::planRetry() {
  if (!retries_ || !retries_->left() || requestBody_.end() == http::PipeEnd::kBroken) return false;
  const base::MonotonicTime due = owner_.worker().now() + retries_->pause(owner_.random());
  // The client would wait for nothing.
  if (due >= requestDeadline()) return false;
  if (!bodyIntact()) {
    owner_.onLimit("replayBuffer");
    return false;
  }
  const routing::WeightedBackend& next = retries_->choose(*attempt_.backend, owner_.random());
  if (!budgetAllows(next)) {
    owner_.onLimit("retryBudget");
    return false;
  }
  retries_->plan(due, next);
  return true;
}

// Of the Backend that would have one request more, not of the one that failed.
bool Exchange::budgetAllows(const routing::WeightedBackend& next) {
  const auto* plan = routing::planFor(request_.head, next.backend);
  return plan == nullptr || owner_.upstreams().tryRetry(*plan);
}

void Exchange::rewind() {
  if (retries_) retries_->replay.rewind(requestBody_.bytes, requestPassed_);
  requestPassed_ = 0;
  progress();
}

void Exchange::repeat() {
  repeated_ = true;
  endAttempt();
  rewind();
  prepareAttempt();
}

/// What is given up leaves nothing behind, nor has it anything to say any more. Steps of the request, which go on, may.
void Exchange::endAttempt() {
  if (steps_) steps_->endAttempt();
  pendingSteps_ = Pending::kNothing;
  pendingResponse_ = PendingResponse::kNothing;
  pending_ &= ~kOfAttempt;
  interims_.clear();
  response_.reset();
  responseBody_ = http::BodyPipe(owner_.worker().chunks());
  responseWide_ = false;
}

void Exchange::backOff() {
  cancelUpstream();
  attempt_.request.leave();
  const Attempt failed = std::exchange(attempt_, Attempt{{owner_.upstreams(), token()}});
  if (failed.request.peer() != nullptr) retries_->avoid(*failed.request.peer());
  if (session_) session_->leave();
  attempt_.backend = &retries_->next();
  attempt_.number = failed.number;
  findPhases();
  const bool answered = response_.has_value();
  owner_.observer().onRetry(*this, failed, answered ? response_->head.status : error_->status,
                            answered ? nullptr : &*error_);
  endAttempt();
  rewind();
  if (retries_->due() <= owner_.worker().now()) return raise(Event::kRetryDue);
  arm();
}

}  // namespace sluice::exchange
