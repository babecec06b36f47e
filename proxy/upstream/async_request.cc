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
  if (state_ != State::kOver) finish();
  context_.leave(*this);
}

void AsyncRequest::start(const http::RequestHead& head, const net::Addresses* allowed) {
  head_ = &head;
  allowed_ = allowed;
  if (head.body == http::Body::kNone) body_.finish();
  state_ = State::kWaiting;
  worthAsking_ = true;
  context_.markDirty(*this);
}

// --- what it is told -------------------------------------------------------------------------------------------------

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
  context_.markDirty(*this);
}

bool AsyncRequest::onPoolReady() {
  if (state_ == State::kPreparing) {
    owner_.onAddresses();
    return true;
  }
  if (state_ != State::kWaiting) return false;
  worthAsking_ = true;
  context_.markDirty(*this);
  return true;
}

bool AsyncRequest::onPoolFailed(const base::Error& error) {
  if (state_ != State::kWaiting && state_ != State::kPreparing) return false;
  fail(error);
  return true;
}

void AsyncRequest::onResponse(http::ResponseMessage&& message) {
  heard_ = true;
  answered_ = message.head.body == http::Body::kNone;
  owner_.onResponse(std::move(message));
  progress();
}

void AsyncRequest::onResponseBody(std::string_view bytes) {
  owner_.onResponseBody(bytes);
  progress();
}

void AsyncRequest::onResponseEnd(std::optional<http::Trailers> trailers) {
  answered_ = true;
  trailers_ = std::move(trailers);
  progress();
}

// A request is repeated, like that of an exchange: if the Backend has certainly not acted, or if the method is
// idempotent (RFC 9110 section 9.2.2, RFC 9113 section 8.7); and only if the whole body is still here, and nothing of
// an answer has come.
bool AsyncRequest::mayRepeat(const base::Error& error, bool unprocessed) const {
  if (repeats_ == kMostRepeats || touched_ || heard_ || over()) return false;
  return unprocessed || (http::isIdempotent(head_->method) && request_.wentStale(error));
}

void AsyncRequest::onReset(const base::Error& error, bool unprocessed) {
  const bool again = mayRepeat(error, unprocessed);
  request_.end();
  if (!again) return fail(error);
  if (request_.wentStale(error)) request_.avoidStale();
  ++repeats_;
  sent_ = heard_ = false;
  state_ = State::kWaiting;
  worthAsking_ = true;
  progress();
}

void AsyncRequest::onRequestTaken() {
  touched_ = true;
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
  fail(base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the backend did not answer in time"));
}

// --- what follows from it --------------------------------------------------------------------------------------------

void AsyncRequest::drive() {
  if (state_ == State::kOver) return;
  if (state_ == State::kWaiting && worthAsking_ && !error_) acquire();
  if (state_ == State::kSending && !error_ && !answered_) feed();
  if (!error_ && !answered_) return;
  finish();
  if (error_) return owner_.onFailed(*error_);
  owner_.onResponseEnd(std::move(trailers_));
}

void AsyncRequest::acquire() {
  worthAsking_ = false;
  const auto leased = request_.acquire({.allowed = allowed_});
  if (!leased.ok()) {
    error_ = leased.error();
  } else if (*leased) {
    begin();
  }
}

void AsyncRequest::begin() {
  begun_ = context_.worker().now();
  if (!request_.claim()) {
    error_ = base::Error::upstream(base::ErrorType::kConnectionTerminated, "the connection was lost");
    return;
  }
  if (!request_.begin(*head_, token_)) {
    error_ = base::Error::internal("the request cannot be expressed towards the backend");
    return;
  }
  state_ = State::kSending;
  context_.worker().timers().set(*this, deadline());
}

void AsyncRequest::feed() {
  if (taken_ > 0) request_.grant(std::exchange(taken_, 0));
  if (!sent_) request_.wake();
}

void AsyncRequest::finish() {
  const bool isWhole = sent_ && answered_;
  if (isWhole) request_.end();
  const bool isSilent = error_ && error_->type == base::ErrorType::kHttpResponseTimeout && sent_ && !heard_;
  isSilent ? request_.expire() : request_.cancel();
  if (request_.entered() && state_ != State::kSending) {
    request_.abandon();
  } else {
    request_.giveBack();
  }
  request_.leave();
  context_.pins().release(token_);
  state_ = State::kOver;
  cancel();
}

}  // namespace sluice::upstream
