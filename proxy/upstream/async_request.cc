#include "proxy/upstream/async_request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/upstream/pins.h"

namespace sluice::upstream {

AsyncRequest::AsyncRequest(UpstreamContext& context, AsyncRequestOwner& owner, const AsyncRequestTimes& times)
    : context_(context),
      owner_(owner),
      times_(times),
      token_(context.enroll(*this)),
      request_(context, token_),
      body_(context.worker().chunks()),
      made_(context.worker().now()),
      begun_(made_),
      lastProgress_(made_) {
  context_.worker().timers().set(*this, deadline());
}

AsyncRequest::~AsyncRequest() {
  const AsyncEvent end = ending();
  raise(AsyncEvent::kDrop);
  raise(end);
  context_.leave(*this);
}

void AsyncRequest::start(const http::RequestHead& head, const net::Addresses* allowed, routing::EgressDial* dial,
                         std::optional<std::uint64_t> hash) {
  head_ = &head;
  allowed_ = allowed;
  dial_ = dial;
  hash_ = hash;
  if (head.body == http::Body::kNone) body_.finish();
  raise(AsyncEvent::kStart);
}

// --- calls and events ------------------------------------------------------------------------------------------------

void AsyncRequest::progress() {
  lastProgress_ = context_.worker().now();
  context_.markDirty(*this);
}

void AsyncRequest::wake() {
  if (!over()) progress();
}

void AsyncRequest::grant(std::size_t count) {
  if (over()) return;
  taken_ += count;
  progress();
}

void AsyncRequest::fail(const base::Error& error) {
  if (over()) return;
  error_ = error;
  raise(AsyncEvent::kFail);
  context_.markDirty(*this);
}

bool AsyncRequest::onPoolReady() {
  const bool heeds = !kAsyncRequestTable.ignores(requestState_, AsyncEvent::kPoolReady);
  raise(AsyncEvent::kPoolReady);
  return heeds;
}

bool AsyncRequest::onPoolFailed(const base::Error& error) {
  if (requestState_ > AsyncRequestState::kWaiting) return false;
  attempted_ = attempted_ || base::isOfConnection(error);
  fail(error);
  return true;
}

void AsyncRequest::onResponse(http::ResponseMessage&& message) {
  raise(message.head.body == http::Body::kNone ? AsyncEvent::kHeadAlone : AsyncEvent::kHead);
  owner_.onResponse(std::move(message));
  progress();
}

void AsyncRequest::onResponseBody(std::string_view bytes) {
  owner_.onResponseBody(bytes);
  progress();
}

void AsyncRequest::onResponseEnd(std::optional<http::Trailers> trailers) {
  raise(AsyncEvent::kEnd);
  trailers_ = std::move(trailers);
  progress();
}

// A request is repeated, like that of an exchange: if the Backend has certainly not acted, or if the method is
// idempotent (RFC 9110 section 9.2.2, RFC 9113 section 8.7); and only if the whole body is still here, and nothing of
// an answer has come.
bool AsyncRequest::mayRepeat(const base::Error& error, bool unprocessed) const {
  const bool keepsAll = requestState_ == AsyncRequestState::kSending || requestState_ == AsyncRequestState::kSent;
  if (repeats_ == kMostRepeats || !keepsAll || responseState_ != AsyncResponseState::kSilent) return false;
  return unprocessed || (http::isIdempotent(head_->method) && request_.wentStale(error));
}

void AsyncRequest::onReset(const base::Error& error, bool unprocessed) {
  const bool again = mayRepeat(error, unprocessed);
  request_.end();
  if (!again) return fail(error);
  if (request_.wentStale(error)) request_.avoidStale();
  ++repeats_;
  raise(AsyncEvent::kRepeat);
  progress();
}

void AsyncRequest::onRequestTaken() {
  raise(AsyncEvent::kTaken);
  lastProgress_ = context_.worker().now();
  owner_.onRequestTaken();
}

base::MonotonicTime AsyncRequest::deadline() const {
  base::MonotonicTime due = std::min(lastProgress_ + times_.idle, request_.deadline(times_.attempt));
  if (times_.whole != base::Duration::zero()) due = std::min(due, made_ + times_.whole);
  return due;
}

void AsyncRequest::onTimer() {
  if (deadline() > context_.worker().now()) return context_.worker().timers().set(*this, deadline());
  attempted_ = attempted_ || request_.wait().isForBackend();
  fail(base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the backend did not answer in time"));
}

// --- transitions and actions -----------------------------------------------------------------------------------------

void AsyncRequest::raise(AsyncEvent event) {
  for (std::optional<AsyncEvent> next = event; next;) {
    const auto& request = kAsyncRequestTable.at(requestState_, *next);
    const auto& response = kAsyncResponseTable.at(responseState_, *next);
    requestState_ = request.next;
    responseState_ = response.next;
    next = act(request.action);
    act(response.action);
  }
}

void AsyncRequest::drive() {
  if (!isDecided(responseState_)) raise(AsyncEvent::kBeat);
  if (isDecided(responseState_)) raise(ending());
}

AsyncEvent AsyncRequest::ending() const {
  switch (responseState_) {
    case AsyncResponseState::kWhole:
    case AsyncResponseState::kFailedButWhole:
      return AsyncEvent::kEndWhole;
    case AsyncResponseState::kFailed:
      return error_->type == base::ErrorType::kHttpResponseTimeout ? AsyncEvent::kEndSilent : AsyncEvent::kEndEarly;
    default:
      return AsyncEvent::kEndEarly;
  }
}

std::optional<AsyncEvent> AsyncRequest::act(AsyncRequestAction action) {
  switch (action) {
    case AsyncRequestAction::kNone:
      break;
    case AsyncRequestAction::kTellAddresses:
      owner_.onAddresses();
      break;
    case AsyncRequestAction::kAskSoon:
      context_.markDirty(*this);
      break;
    case AsyncRequestAction::kAcquire:
      return acquire();
    case AsyncRequestAction::kBegin:
      return begin();
    case AsyncRequestAction::kFeed:
      if (taken_ > 0) request_.grant(std::exchange(taken_, 0));
      request_.wake();
      break;
    case AsyncRequestAction::kGrant:
      if (taken_ > 0) request_.grant(std::exchange(taken_, 0));
      break;
    case AsyncRequestAction::kAbandon:
      if (request_.entered()) request_.abandon();
      leave();
      break;
    case AsyncRequestAction::kCut:
      request_.cancel();
      leave();
      break;
    case AsyncRequestAction::kExpire:
      request_.expire();
      leave();
      break;
    case AsyncRequestAction::kRelease:
      request_.end();
      leave();
      break;
  }
  return std::nullopt;
}

void AsyncRequest::act(AsyncResponseAction action) {
  switch (action) {
    case AsyncResponseAction::kNone:
      break;
    case AsyncResponseAction::kTellEnd:
      owner_.onResponseEnd(std::move(trailers_));
      break;
    case AsyncResponseAction::kTellFailure:
      owner_.onFailed(*error_);
      break;
  }
}

std::optional<AsyncEvent> AsyncRequest::acquire() {
  const auto leased = request_.acquire({.allowed = allowed_, .dial = dial_, .hash = hash_ ? &*hash_ : nullptr});
  if (leased.ok()) return *leased ? std::optional(AsyncEvent::kLeased) : std::nullopt;
  error_ = leased.error();
  attempted_ = attempted_ || base::isOfConnection(*error_);
  return AsyncEvent::kFail;
}

AsyncEvent AsyncRequest::begin() {
  begun_ = context_.worker().now();
  if (!request_.claim()) {
    attempted_ = true;
    error_ = base::Error::upstream(base::ErrorType::kConnectionTerminated, "the connection was lost");
    return AsyncEvent::kFail;
  }
  if (auto refusal = owner_.refusalOf(request_)) {
    error_ = *std::move(refusal);
    return AsyncEvent::kFail;
  }
  attempted_ = true;
  if (!request_.begin(*head_, token_)) {
    error_ = base::Error::internal("the request cannot be expressed towards the backend");
    return AsyncEvent::kFail;
  }
  context_.worker().timers().set(*this, deadline());
  return AsyncEvent::kBegun;
}

void AsyncRequest::leave() {
  request_.giveBack();
  request_.leave();
  context_.pins().release(token_);
  cancel();
}

}  // namespace sluice::upstream
