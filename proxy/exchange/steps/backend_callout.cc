#include "proxy/exchange/steps/backend_callout.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/exchange/transaction/context.h"
#include "proxy/exchange/transaction/fair_share.h"
#include "proxy/http/grpc.h"
#include "proxy/routing/backend_dial.h"
#include "proxy/routing/backend_target.h"
#include "proxy/routing/request_hash.h"

namespace sluice::exchange {
namespace {

constexpr std::uint32_t kUnavailable = 14;  // the status of gRPC for a server that cannot be reached
/// Bytes of a body that are kept for another attempt.
constexpr std::size_t kMostKept = std::size_t{64} * 1024;

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
      caller_(request.caller),
      client_(shareOf(caller_.get(), net::networkOf(request.client))),
      retry_(request.retry),
      timeout_(request.timeout),
      made_(context.worker().now()),
      dial_(routing::coverageOf(place.scope),
            {net::Address::parse(request.client, 0).value_or(net::Address()), caller_}, *plan_, context.observer()),
      keeps_(request.retry.attempts > 1),
      isWhole_(request.head.body == http::Body::kNone),
      received_(context.worker().chunks()),
      share_(context.bufferRoom(), request.client) {
  message_.head = http::clone(message_.arena, request.head);
  if (message_.head.authority.empty()) message_.head.authority = plan_->authority;
  hash_ = routing::requestHash(plan_->connection.balancing, message_.head, request.client);
  // A callout that leads back to this gateway is recognized as a loop by this.
  addVia(message_.arena, *plan_, context.identity(), message_.head);
  begin();
}

void BackendCallout::begin() {
  ++attempts_;
  request_.emplace(context_.upstreams(), static_cast<upstream::AsyncRequestOwner&>(*this),
                   upstream::AsyncRequestTimes{context_.timeouts().streamIdle, timeout_, {}});
  // The client has sent no such request, so there is one form of it.
  if (!dial_.admits(routing::egressHttp(message_.head), message_.head)) return onFailed(routing::egressDenied());
  if (!request_->enter(plan_)) {
    return onFailed(base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                                          "too many requests to the server that a processor asks")
                        .ofLimit(upstream::requestLimit(plan_->connection.bounds)));
  }
  request_->start(message_.head, nullptr, dial_.judged(), hash_);
  if (attempts_ == 1) return;
  request_->body().bytes.append(kept_);
  if (isWhole_) request_->body().finish();
  request_->wake();
}

bool BackendCallout::planAnother(std::uint32_t status) {
  if (!keeps_ || attempts_ >= retry_.attempts || !retry_.covers(status) || !received_.empty()) return false;
  double pause = static_cast<double>(retry_.firstPause.count());
  for (std::uint32_t i = 1; i < attempts_; ++i) pause *= retry_.multiplier;
  pause = std::min(pause, static_cast<double>(retry_.longestPause.count()));
  const base::MonotonicTime due = context_.worker().now() + base::Duration(static_cast<base::Duration::rep>(pause));
  if (due >= made_ + retry_.within) return false;
  answer_.reset();
  context_.worker().timers().set(pause_, due);
  return true;
}

// The steps go too, so they are not woken.
BackendCallout::~BackendCallout() {
  for (processing::Resumer& each : waiting_) each.release();
}

std::uint64_t BackendCallout::mostReceived() const { return context_.limits().processorBuffer; }

void BackendCallout::send(std::string_view bytes) {
  if (over() || isWhole_) return;
  request_->retakePlace();
  if (kept_.size() + bytes.size() > kMostKept) keepNoMore();
  if (keeps_) kept_.append(bytes);
  if (keeps_ && !share_.reach(received_.size() + kept_.size())) keepNoMore();
  if (isPausing()) {
    if (!keeps_) cancel();
    return;
  }
  if (request_->over()) return;
  if (unsent() + bytes.size() > context_.limits().exchangeBuffer) {
    context_.onLimit("exchangeBuffer");
    return request_->fail(tooMuch("the server does not take what a processor sends"));
  }
  request_->body().bytes.append(bytes);
  request_->wake();
}

void BackendCallout::end() {
  isWhole_ = true;
  if (isPausing()) return;
  request_->body().finish();
  request_->wake();
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
  const base::Error error = base::Error::internal("a processor has broken its request off");
  if (!isPausing()) return request_->fail(error);
  pause_.cancel();
  onFailed(error);
}

void BackendCallout::take(std::size_t count) {
  received_.consume(count);
  share_.keep(received_.size() + kept_.size());
  if (withheld_ > 0 && received_.size() <= mostReceived()) request_->grant(std::exchange(withheld_, 0));
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
  if (request_->over()) return;
  keepNoMore();
  received_.append(bytes);
  if (received_.size() <= mostReceived()) {
    request_->grant(bytes.size());
  } else if (!waiting_.empty() && moment_ == Moment::kEnd) {
    return failBeyondBound();
  } else {
    withheld_ += bytes.size();
  }
  if (!share_.reach(received_.size())) {
    context_.onLimit("processorBufferTotal");
    return request_->fail({base::ErrorType::kProcessorCapacityReached, base::ErrorOrigin::kProcessor,
                           "the gateway has no room for the answer to a processor"});
  }
  tell();
}

void BackendCallout::failBeyondBound() {
  context_.onLimit("processorBuffer");
  request_->fail(tooMuch("the answer to a processor is larger than it may be"));
}

void BackendCallout::onResponseEnd(std::optional<http::Trailers> trailers) {
  trailers_ = std::move(trailers);
  ended_ = true;
  dial_.end(request_->peer());
  context_.observer().onCallout(*this);
  const std::uint32_t status = keeps_ ? http::grpcStatusOf(answer_->head, this->trailers()).code : 0;
  if (status != 0 && planAnother(status)) {
    ended_ = false;
    trailers_.reset();
    return;
  }
  tell();
}

void BackendCallout::onFailed(const base::Error& error) {
  error_ = error;
  dial_.end(request_->peer());
  // A cancelled request is not reported, because the server is not at fault.
  if (!cancelled_) context_.observer().onCallout(*this);
  const bool isOfServer = error.origin == base::ErrorOrigin::kUpstream && !cancelled_;
  if (isOfServer && planAnother(kUnavailable)) return error_.reset();
  tell();
}

}  // namespace sluice::exchange
