#include "proxy/exchange/steps/backend_callout.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/routing/backend_target.h"

namespace sluice::exchange {
namespace {

base::Error tooMuch(std::string_view what) {
  return {base::ErrorType::kHttpProtocolError, base::ErrorOrigin::kProcessor, std::string(what)};
}

}  // namespace

BackendCallout::BackendCallout(ExchangeContext& context, const processing::CalloutRequest& request,
                               const processing::Place& place)
    : context_(context),
      plan_(routing::planOf(*request.target)),
      message_(context.worker().chunks()),
      place_{message_.arena.copy(place.gateway), message_.arena.copy(place.route), {}},
      request_(context.upstreams(), *this, {context.timeouts().streamIdle, request.timeout, {}}),
      received_(context.worker().chunks()),
      share_(context.bufferRoom()) {
  message_.head = http::clone(message_.arena, request.head);
  if (message_.head.authority.empty()) message_.head.authority = plan_->authority;
  // A callout that leads back to this gateway is recognized as a loop by this.
  message_.head.headers.add(message_.arena, http::FieldId::kVia, context.identity().via(message_.head.version));
  if (request_.enter(plan_)) {
    request_.start(message_.head);
    return;
  }
  onFailed(base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                                 "too many requests to the server that a processor asks"));
}

// The steps go too, so they are not woken.
BackendCallout::~BackendCallout() {
  for (processing::Resumer& each : waiting_) each.release();
}

std::uint64_t BackendCallout::mostReceived() const { return context_.limits().processorBuffer; }

void BackendCallout::send(std::string_view bytes) {
  if (request_.over() || request_.body().end() != http::PipeEnd::kOpen) return;
  if (unsent() + bytes.size() > context_.limits().exchangeBuffer) {
    context_.onLimit("exchangeBuffer");
    return request_.fail(tooMuch("the server does not take what a processor sends"));
  }
  request_.body().bytes.append(bytes);
  request_.wake();
}

void BackendCallout::end() {
  request_.body().finish();
  request_.wake();
}

void BackendCallout::await(processing::Resumer resumer, Moment moment) {
  const auto isSame = [&](const processing::Resumer& each) { return each.isSameAs(resumer); };
  if (std::any_of(waiting_.begin(), waiting_.end(), isSame)) {
    resumer.release();
  } else {
    waiting_.push_back(std::move(resumer));
  }
  moment_ = moment;
  if (moment == Moment::kEnd && !over() && received_.size() > mostReceived()) failBeyondBound();
  if (over() || (moment == Moment::kChange && changed_)) tell();
}

void BackendCallout::cancel() {
  if (over()) return;
  cancelled_ = true;
  request_.fail(base::Error::internal("a processor has broken its request off"));
}

void BackendCallout::take(std::size_t count) {
  received_.consume(count);
  share_.keep(received_.size());
  if (withheld_ > 0 && received_.size() <= mostReceived()) request_.grant(std::exchange(withheld_, 0));
}

void BackendCallout::tell() {
  changed_ = true;
  if (waiting_.empty() || (moment_ == Moment::kEnd && !over())) return;
  changed_ = false;
  for (processing::Resumer& each : std::exchange(waiting_, {})) each.resume();
}

void BackendCallout::onResponse(http::ResponseMessage&& message) {
  answer_ = std::move(message);
  tell();
}

void BackendCallout::onResponseBody(std::string_view bytes) {
  if (request_.over()) return;
  received_.append(bytes);
  if (received_.size() <= mostReceived()) {
    request_.grant(bytes.size());
  } else if (!waiting_.empty() && moment_ == Moment::kEnd) {
    return failBeyondBound();
  } else {
    withheld_ += bytes.size();
  }
  if (!share_.reach(received_.size())) {
    context_.onLimit("processorBufferTotal");
    return request_.fail({base::ErrorType::kProcessorCapacityReached, base::ErrorOrigin::kProcessor,
                          "the gateway has no room for the answer to a processor"});
  }
  tell();
}

void BackendCallout::failBeyondBound() {
  context_.onLimit("processorBuffer");
  request_.fail(tooMuch("the answer to a processor is larger than it may be"));
}

void BackendCallout::onResponseEnd(std::optional<http::Trailers> trailers) {
  trailers_ = std::move(trailers);
  ended_ = true;
  context_.observer().onCallout(*this);
  tell();
}

void BackendCallout::onFailed(const base::Error& error) {
  error_ = error;
  if (!cancelled_) context_.observer().onCallout(*this);  // a request that was broken off is no fault of the server
  tell();
}

}  // namespace sluice::exchange
