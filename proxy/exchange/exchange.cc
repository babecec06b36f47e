#include "proxy/exchange/exchange.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/local_reply.h"

namespace sluice::exchange {
namespace {

// More than any real course of events needs in one go: whoever passes it spins.
constexpr int kMaxTransitions = 64;
// timeouts.bodyIdle is a window in which a client must bring at least this much of its body, so that a drip does not count as progress.
constexpr std::uint64_t kLeastBodyPerWindow = 1024;
// A grant waits until this much was taken, so that window updates stay rare.
constexpr std::size_t kGrantUnit = 32 * 1024;

}  // namespace

Exchange::Exchange(base::Handle<Exchange> self, Exchanges& owner, const Origin& origin, http::RequestMessage&& request)
    : self_(self),
      owner_(owner),
      origin_(origin),
      request_(std::move(request)),
      requestBody_(owner.worker().chunks()),
      responseBody_(owner.worker().chunks()),
      started_(owner.worker().now()),
      lastProgress_(started_) {
  if (request_.head.body == http::Body::kNone) requestBody_.finish();
  arm();
}

Exchange::~Exchange() {
  if (attempt_.cluster != nullptr) attempt_.cluster->leave();
}

void Exchange::pin(const std::string& revision) {
  if (pin_) return;
  pin_ = std::make_unique<Pin>(Pin{rule_ != nullptr ? rule_->shared_from_this() : nullptr, revision});
}

void Exchange::raise(Event event) {
  pending_ |= 1U << static_cast<unsigned>(event);
  if (!scheduled) owner_.schedule(*this);
}

void Exchange::raise(Event event, const base::Error& error) {
  // What the client is being told, or was told, stays the reason.
  if (responseState_ == ResponseState::kWaiting || responseState_ == ResponseState::kStreaming) error_ = error;
  raise(event);
}

void Exchange::drive() {
  for (int transitions = 0; pending_ != 0; ++transitions) {
    if (transitions == kMaxTransitions) {
      pending_ = 0;
      error_ = base::Error::internal("the exchange did not come to rest");
      step(Event::kInternalFailure);
      return;
    }
    const auto event = static_cast<Event>(std::countr_zero(pending_));
    pending_ &= pending_ - 1;
    step(event);
  }
}

void Exchange::step(Event event) {
  const auto& requestCellNow = requestCell(requestState_, event);
  const auto& responseCellNow = responseCell(responseState_, event);
  requestState_ = requestCellNow.next;
  responseState_ = responseCellNow.next;
  if (requestCellNow.action != Action::kNone) act(requestCellNow.action);
  if (responseCellNow.action != Action::kNone) act(responseCellNow.action);
}

void Exchange::act(Action action) {
  switch (action) {
    case Action::kNone: return;
    case Action::kRoute: return route();
    case Action::kAcquire: return acquire();
    case Action::kAbandon: return abandon();
    case Action::kBegin: return begin();
    case Action::kForwardRequest: return forwardRequest();
    case Action::kGrantClient: return grantClient();
    case Action::kCancelUpstream: return cancelUpstream();
    case Action::kForwardInterim: return forwardInterim();
    case Action::kStartResponse: return startResponse();
    case Action::kForwardResponse: return forwardResponse();
    case Action::kGrantUpstream: return grantUpstream();
    case Action::kJudgeReset: return judgeReset();
    case Action::kAnswer: return answer();
    case Action::kBreakResponse: return breakResponse();
  }
}

// --- the request's way -----------------------------------------------------------------------------------------------------------

void Exchange::route() {
  std::optional<base::Error> refusal = chooseBackend();
  routed_ = true;
  owner_.observer().onRouted(*this);
  if (refusal) return raise(Event::kRejected, *refusal);
  if (rule_->requestTimeout) arm();
  if (redirect() != nullptr) return raise(Event::kRejected);
  upstream::Cluster& cluster = owner_.upstreams().cluster(attempt_.backend->backend);
  if (!cluster.tryEnter()) {
    owner_.onLimit("backendRequests");
    return raise(Event::kRejected, base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                                                         "too many requests to the backend at once"));
  }
  attempt_.cluster = &cluster;
  raise(Event::kRouted);
}

std::optional<base::Error> Exchange::chooseBackend() {
  if (passedHere(request_.head.headers, owner_.identity())) {
    return base::Error(base::ErrorType::kProxyLoopDetected, base::ErrorOrigin::kDownstream,
                       "the request has passed this gateway before");
  }
  const Downstream* downstream = owner_.downstream(origin_.connection);
  const std::string_view serverName = downstream != nullptr ? downstream->serverName() : std::string_view();
  const routing::RouteMatch match = origin_.routes->match(request_.head, serverName);
  rule_ = match.rule;
  if (rule_ == nullptr) {
    const auto type =
        match.misdirected ? base::ErrorType::kMisdirectedRequest : base::ErrorType::kDestinationNotFound;
    return base::Error(type, base::ErrorOrigin::kDownstream, match.reason);
  }
  if (rule_->grpc && !speaksGrpc(request_.head)) {
    return base::Error::badRequest(415, "the route for this request takes gRPC over HTTP/2 only");
  }
  if (rule_->failure) return *rule_->failure;
  if (rule_->redirect) return std::nullopt;
  attempt_.backend = rule_->choose(owner_.random());
  if (attempt_.backend == nullptr) return base::Error::config("the rule has no backend with a weight");
  return attempt_.backend->failure;
}

const routing::Redirect* Exchange::redirect() const {
  if (rule_ == nullptr) return nullptr;
  if (rule_->redirect) return &*rule_->redirect;
  return attempt_.backend != nullptr && attempt_.backend->redirect ? &*attempt_.backend->redirect : nullptr;
}

void Exchange::acquire() {
  auto lease = attempt_.cluster->acquire(token());
  if (!lease.ok()) return raise(Event::kUnavailable, lease.error());
  if (lease->empty()) return;
  attempt_.connection = *lease;
  raise(Event::kLeased);
}

void Exchange::abandon() {
  attempt_.cluster->abandon(token());
  // A connection that was leased and will not be used goes back when it is flushed.
  if (upstream::Connection* connection = owner_.upstreams().find(attempt_.connection)) connection->touch();
}

void Exchange::begin() {
  upstream::Connection* connection = owner_.upstreams().find(attempt_.connection);
  ++attempt_.number;
  attempt_.begun = owner_.worker().now();
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (connection == nullptr || connection->available() == 0 || downstream == nullptr) {
    return onUpstreamReset(base::Error::upstream(base::ErrorType::kConnectionTerminated, "the connection was lost"), true);
  }
  attempt_.reused = connection->requests() > 0;
  attempt_.peer = connection->peer().withPort(attempt_.cluster->plan().port);
  attempt_.hasPeer = true;
  const http::RequestHead head = attemptHead(request_.arena, request_.head, *rule_, *attempt_.backend, owner_.identity(),
                                             {origin_.client, origin_.secure});
  attempt_.stream = connection->begin(token(), head);
  if (attempt_.stream == 0) {
    return onUpstreamReset(base::Error::internal("the request can not be expressed towards the backend"), false);
  }
  if (rule_->backendRequestTimeout != base::Duration::zero()) arm();
  proceed(*downstream);
}

// RFC 9110 section 10.1.1: once, and only to a client that still waits for it.
void Exchange::proceed(Downstream& downstream) {
  if (!request_.head.expectContinue || requestBytes_ > 0 || requestBody_.end() != http::PipeEnd::kOpen) return;
  if (std::exchange(proceeded_, true)) return;
  http::ResponseHead head;
  head.status = 100;
  downstream.codec().sendInterim(origin_.stream, head);
  downstream.touch();
}

void Exchange::forwardRequest() {
  upstream::Connection* connection = owner_.upstreams().find(attempt_.connection);
  if (connection == nullptr || connection->codec() == nullptr) return;
  connection->codec()->wake(attempt_.stream);
  connection->touch();
}

void Exchange::grantClient() {
  if (requestTaken_ < kGrantUnit && !requestBody_.bytes.empty()) return;
  if (http::ServerCodec* codec = downstreamCodec()) codec->grant(origin_.stream, std::exchange(requestTaken_, 0));
}

void Exchange::cancelUpstream() {
  upstream::Connection* connection = owner_.upstreams().find(attempt_.connection);
  if (connection == nullptr || connection->codec() == nullptr || !attempt_.active()) return;
  http::ClientCodec& codec = *connection->codec();
  codec.cancel(std::exchange(attempt_.stream, 0), http::ResetReason::kCancelled);
  if (codec.wantsProduce() || codec.state() != http::CodecState::kOpen) connection->touch();
}

// --- the response's way ----------------------------------------------------------------------------------------------------------

http::ServerCodec* Exchange::downstreamCodec() {
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr) {
    raise(Event::kClientGone);
    return nullptr;
  }
  downstream->touch();
  return &downstream->codec();
}

void Exchange::forwardInterim() {
  // The client's 100 came from us, with the connection at hand; the backend's would be a second one.
  http::ServerCodec* codec = downstreamCodec();
  for (const http::ResponseMessage& interim : interims_) {
    if (codec != nullptr && interim.head.status != 100) codec->sendInterim(origin_.stream, interim.head);
  }
  interims_.clear();
}

void Exchange::startResponse() {
  attempt_.firstByte = owner_.worker().now();
  error_.reset();
  status_ = response_->head.status;
  rule_->responseHeaders.apply(response_->arena, response_->head.headers);
  attempt_.backend->responseHeaders.apply(response_->arena, response_->head.headers);
  if (http::ServerCodec* codec = downstreamCodec()) codec->sendResponse(origin_.stream, response_->head);
}

void Exchange::forwardResponse() {
  if (http::ServerCodec* codec = downstreamCodec()) codec->wake(origin_.stream);
}

void Exchange::grantUpstream() {
  if (responseTaken_ < kGrantUnit && !responseBody_.bytes.empty()) return;
  upstream::Connection* connection = owner_.upstreams().find(attempt_.connection);
  if (connection == nullptr || connection->codec() == nullptr || !attempt_.active()) return;
  connection->codec()->grant(attempt_.stream, std::exchange(responseTaken_, 0));
  connection->touch();
}

// RFC 9110 section 9.2.2, RFC 9113 section 8.7: again only if the backend has certainly not acted, or if a kept connection had gone
// stale under a request that may be repeated; never once body bytes are gone, and never twice.
void Exchange::judgeReset() {
  const bool bodyIntact = requestPassed_ == 0 && requestBody_.end() != http::PipeEnd::kBroken;
  const bool again = unprocessed_ || (wentStale() && http::isIdempotent(request_.head.method));
  raise(attempt_.number < 2 && again && bodyIntact ? Event::kRetry : Event::kGiveUp);
}

// The connection came from the pool and is no more, which one stream's reset alone does not mean.
bool Exchange::wentStale() {
  if (!attempt_.reused || error_->type != base::ErrorType::kConnectionTerminated) return false;
  upstream::Connection* connection = owner_.upstreams().find(attempt_.connection);
  return connection == nullptr || connection->codec() == nullptr || connection->codec()->state() == http::CodecState::kClosed;
}

void Exchange::answer() {
  if (error_) status_ = error_->status;
  http::ServerCodec* codec = downstreamCodec();
  if (codec == nullptr) return;
  response_.emplace(owner_.worker().chunks());
  responseBody_ = http::BodyPipe(owner_.worker().chunks());
  response_->head =
      error_ ? localReply(response_->arena, responseBody_, request_.head, *error_) : redirectReply(*redirect());
  status_ = response_->head.status;
  codec->sendResponse(origin_.stream, response_->head);
  progress();
  arm();
}

http::ResponseHead Exchange::redirectReply(const routing::Redirect& redirect) {
  base::Arena& arena = response_->arena;
  const routing::RedirectFrom from{origin_.secure, rule_->listenerPort};
  http::ResponseHead head;
  head.status = redirect.status;
  head.version = request_.head.version;
  head.headers.add(arena, "location", redirect.location(arena, request_.head, from));
  head.contentLength = 0;
  rule_->responseHeaders.apply(arena, head.headers);
  if (attempt_.backend != nullptr) attempt_.backend->responseHeaders.apply(arena, head.headers);
  responseBody_.finish();
  return head;
}

void Exchange::breakResponse() {
  responseBody_.breakOff();
  if (http::ServerCodec* codec = downstreamCodec()) codec->reset(origin_.stream, http::ResetReason::kFailed);
  raise(Event::kGiveUp);
}

// --- what the sinks record -------------------------------------------------------------------------------------------------------

void Exchange::addRequestBody(std::string_view bytes) {
  requestBytes_ += bytes.size();
  progressWithin(requestBytes_, receivedMark_);
  // Once nobody wants it, it is received only to be dropped.
  if (requestState_ == RequestState::kStopped) return;
  requestBody_.bytes.append(bytes);
  raise(Event::kRequestBody);
}

void Exchange::endRequest(std::optional<http::Trailers> trailers) {
  progress();
  if (trailers) {
    requestBody_.finish(std::move(*trailers));
  } else {
    requestBody_.finish();
  }
  raise(Event::kRequestBody);
}

void Exchange::onRequestReset(const base::Error& error, bool answerable) {
  requestBody_.breakOff();
  raise(answerable ? Event::kRequestBroken : Event::kClientGone, error);
}

void Exchange::onInterim(http::ResponseMessage&& message) {
  progress();
  interims_.push_back(std::move(message));
  raise(Event::kInterim);
}

void Exchange::onResponse(http::ResponseMessage&& message) {
  progress();
  if (message.head.body == http::Body::kNone) {
    responseBody_.finish();
  }
  response_ = std::move(message);
  raise(Event::kResponseHead);
}

void Exchange::addResponseBody(std::string_view bytes) {
  progress();
  responseBody_.bytes.append(bytes);
  raise(Event::kResponseBody);
}

void Exchange::endResponse(std::optional<http::Trailers> trailers) {
  progress();
  if (requestState_ == RequestState::kSent) attempt_.stream = 0;  // both ways are done: there is nothing to cut
  if (trailers) {
    responseBody_.finish(std::move(*trailers));
  } else {
    responseBody_.finish();
  }
  raise(Event::kResponseBody);
}

void Exchange::onUpstreamReset(const base::Error& error, bool unprocessed) {
  unprocessed_ = unprocessed;
  attempt_.stream = 0;
  raise(Event::kUpstreamReset, error);
}

void Exchange::onRequestTaken(std::size_t count) {
  requestPassed_ += count;
  progressWithin(requestPassed_, passedMark_);
  requestTaken_ += count;
  raise(Event::kRequestTaken);
}

void Exchange::onResponseTaken(std::size_t count) {
  progress();
  responseTaken_ += count;
  responseBytes_ += count;
  raise(Event::kResponseTaken);
}

// --- deadlines -------------------------------------------------------------------------------------------------------------------

void Exchange::progress() {
  lastProgress_ = owner_.worker().now();
  receivedMark_ = requestBytes_;
  passedMark_ = requestPassed_;
}

void Exchange::progressWithin(std::uint64_t total, std::uint64_t mark) {
  if (total - mark >= kLeastBodyPerWindow) progress();
}

// The client owes us body bytes, and nobody else owes anything.
bool Exchange::clientStalls() const {
  return requestState_ == RequestState::kSending && responseState_ == ResponseState::kWaiting &&
         requestBody_.end() == http::PipeEnd::kOpen && requestBody_.bytes.empty() && !isGrpc(request_.head);
}

base::MonotonicTime Exchange::deadline() const {
  const config::TimeoutSettings& timeouts = owner_.timeouts();
  const base::MonotonicTime idleUntil = lastProgress_ + (clientStalls() ? timeouts.bodyIdle : timeouts.streamIdle);
  // An answer of our own has the time that it takes to be read.
  if (responseState_ == ResponseState::kAnswering) return idleUntil;
  return std::min({idleUntil, requestDeadline(), attemptDeadline()});
}

base::MonotonicTime Exchange::requestDeadline() const {
  const bool own = rule_ != nullptr && rule_->requestTimeout;
  const base::Duration request = own ? *rule_->requestTimeout : owner_.timeouts().request;
  return request == base::Duration::zero() ? base::MonotonicTime::max() : started_ + request;
}

// HTTPRouteTimeouts.backendRequest: until the response has come whole.
base::MonotonicTime Exchange::attemptDeadline() const {
  const bool bounded = attempt_.active() && rule_->backendRequestTimeout != base::Duration::zero() &&
                       responseBody_.end() == http::PipeEnd::kOpen;
  return bounded ? attempt_.begun + rule_->backendRequestTimeout : base::MonotonicTime::max();
}

// The timer is not moved with every byte: it looks when it fires. So it must not sleep past a stall that begins meanwhile.
void Exchange::arm() {
  base::MonotonicTime due = deadline();
  if (requestBody_.end() == http::PipeEnd::kOpen) due = std::min(due, owner_.worker().now() + owner_.timeouts().bodyIdle);
  owner_.worker().timers().set(*this, due);
}

void Exchange::onTimer() {
  if (deadline() > owner_.worker().now()) return arm();
  expire();
}

void Exchange::expire() {
  const base::MonotonicTime now = owner_.worker().now();
  if (clientStalls() && lastProgress_ + owner_.timeouts().bodyIdle <= now) {
    owner_.onLimit("bodyIdle");
    return raise(Event::kDeadline, base::Error::badRequest(408, "the request body did not arrive in time"));
  }
  const bool idle = lastProgress_ + owner_.timeouts().streamIdle <= now;
  owner_.onLimit(idle ? "streamIdle" : attemptDeadline() <= now ? "backendRequest" : "request");
  if (idle && !responseBody_.bytes.empty()) {
    return raise(Event::kDeadline, {base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
                                    "the client did not take the response in time"});
  }
  raise(Event::kDeadline, base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the backend did not answer in time"));
}

}  // namespace sluice::exchange
