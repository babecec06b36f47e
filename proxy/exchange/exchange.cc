#include "proxy/exchange/exchange.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/reply/local_reply.h"
#include "proxy/exchange/reply/own_answer.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/http/connection_auth.h"
#include "proxy/routing/policy/preflight.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;

namespace {

// More than any real course of events needs in one go: whoever passes it spins.
constexpr int kMaxTransitions = 64;
// A grant waits until this much was taken, so that window updates stay rare.
constexpr std::size_t kGrantUnit = 32 * 1024;

}  // namespace

Exchange::Exchange(base::Handle<Exchange> self, Context& owner, const Origin& origin, http::RequestMessage&& request)
    : self_(self),
      owner_(owner),
      origin_(origin),
      request_(std::move(request)),
      requestBody_(owner.worker().chunks()),
      responseBody_(owner.worker().chunks()),
      attempt_{{owner.upstreams(), token()}},
      started_(owner.worker().now()),
      lastProgress_(started_) {
  if (request_.head.body == http::Body::kNone) requestBody_.finish();
  arm();
}

Exchange::~Exchange() {
  if (!mirrors_.empty()) leaveMirrors();
}

void Exchange::pin(const std::string& revision) {
  if (pin_) return;
  pin_ = std::make_unique<Pin>();
  pin_->revision = revision;
  if (rule_ != nullptr) pin_->rule = rule_->shared_from_this();
  if (listener_ != nullptr) pin_->listener = listener_->shared_from_this();
}

void Exchange::schedule() { owner_.schedule(*this); }

void Exchange::raise(Event event, const base::Error& error) {
  // What the client is being told, or was told, stays the reason.
  if (responseState_ == ResponseState::kWaiting || responseState_ == ResponseState::kStreaming) error_ = error;
  raise(event);
}

// This is inline because an exchange does it most often.
inline void Exchange::step(Event event) {
  const auto& requestCellNow = requestCell(requestState_, event);
  const auto& responseCellNow = responseCell(responseState_, event);
  requestState_ = requestCellNow.next;
  responseState_ = responseCellNow.next;
  if (requestCellNow.action != Action::kNone) act(requestCellNow.action);
  if (responseCellNow.action != Action::kNone) act(responseCellNow.action);
}

void Exchange::drive() {
  for (int transitions = 0; pending_ != 0; ++transitions) {
    auto event = static_cast<Event>(std::countr_zero(pending_));
    pending_ &= pending_ - 1;
    if (transitions == kMaxTransitions) {
      pending_ = 0;
      error_ = base::Error::internal("the exchange did not come to rest");
      event = Event::kInternalFailure;
    }
    step(event);
    if (transitions == kMaxTransitions) return;
  }
  if (!hasNothingToSettle()) settleAccounts();
  // A step may have begun to wait, with whatever it was asked about.
  if (stepDeadline() != base::MonotonicTime::max()) arm();
}

void Exchange::act(Action action) {
  switch (action) {
    case Action::kNone:
      return;
    case Action::kRoute:
      return route();
    case Action::kProcess:
      return process();
    case Action::kEnter:
      return enter();
    case Action::kRepeat:
      return repeat();
    case Action::kBackOff:
      return backOff();
    case Action::kAcquire:
      return acquire();
    case Action::kAbandon:
      return abandon();
    case Action::kBegin:
      return begin();
    case Action::kForwardRequest:
      return forwardRequest();
    case Action::kGrantClient:
      return grantClient();
    case Action::kDismissClient:
      return dismissClient();
    case Action::kCancelUpstream:
      return cancelUpstream();
    case Action::kForwardInterim:
      return forwardInterim();
    case Action::kStartResponse:
      return startResponse();
    case Action::kForwardResponse:
      return forwardResponse();
    case Action::kGrantUpstream:
      return grantUpstream();
    case Action::kJudgeFailure:
      return judgeFailure();
    case Action::kProcessResponse:
      return processResponse();
    case Action::kJudgeResponse:
      return judgeResponse();
    case Action::kProcessHead:
      return processHead();
    case Action::kProcessOn:
      return processResponseOn();
    case Action::kAnswer:
      return answer();
    case Action::kBreakResponse:
      return breakResponse();
    case Action::kDropMirrors:
      return dropMirrors();
  }
}

// --- the request's way -------------------------------------------------------------------------------------

void Exchange::route() {
  if (passedHere(request_.head.headers, owner_.identity())) {
    routed_ = true;
    owner_.observer().onRouted(*this);
    return raise(Event::kRejected, base::Error(base::ErrorType::kProxyLoopDetected, base::ErrorOrigin::kDownstream,
                                               "the request has passed this gateway before"));
  }
  const routing::RouteMatch match = matchHead(*origin_.routes, request_.head);
  listener_ = match.listener;
  if (listener_ != nullptr && listener_->preRouting) return processBeforeRouting();
  decide(match);
}

routing::RouteMatch Exchange::matchHead(const routing::RouteTable& routes, const http::RequestHead& head) {
  const Downstream* downstream = owner_.downstream(origin_.connection);
  const std::string_view serverName = downstream != nullptr ? downstream->serverName() : std::string_view();
  return routing::matchRequest(routes, head, serverName);
}

/// Where the request goes, as far as that is up to its route.
void Exchange::decide(const routing::RouteMatch& match) {
  takeRule(match.rule);
  const std::optional<base::Error> refusal = chooseBackend(match);
  routed_ = true;
  owner_.observer().onRouted(*this);
  findPhases();
  if (refusal) return raise(Event::kRejected, *refusal);
  if (owner_.refusesConnectionAuth() && http::authenticatesConnection(request_.head.headers)) {
    return raise(Event::kRejected,
                 base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream,
                             "NTLM and Negotiate authenticate connections, which this gateway shares"));
  }
  if (rule_->requestTimeout) arm();
  if (phases_ == 0 && !steps_) return onProcessed();
  processRequest();
}

/// Of the listener, the rule and the share that was chosen.
processing::Chains Exchange::chains() const {
  const routing::WeightedBackend* share = attempt_.backend;
  const processing::Chain* ofShare = nullptr;
  if (share != nullptr && share->chain) {
    ofShare = share->chain.get();
  } else if (share != nullptr && share->backend) {
    ofShare = share->backend->chain.get();
  }
  return {listener_ != nullptr ? listener_->chain.get() : nullptr, rule_ != nullptr ? rule_->chain.get() : nullptr,
          ofShare};
}

void Exchange::findPhases() {
  const auto of = [](const processing::Chain* chain) -> std::uint8_t { return chain != nullptr ? chain->phases() : 0; };
  const processing::Chains all = chains();
  phases_ = of(all[0]) | of(all[1]) | of(all[2]);
}

/// It may be of a later snapshot than what is pinned already.
void Exchange::takeRule(const routing::Rule* rule) {
  rule_ = rule;
  if (pin_) pin_->rule = rule_ != nullptr ? rule_->shared_from_this() : nullptr;
  // Trailers may be here before the rule is known, and mirrors get them too.
  if (requestBody_.trailers() != nullptr) guardClientsTrailers();
}

void Exchange::onProcessed() {
  if (attempt_.backend == nullptr || answersItself(request_.head, *attempt_.backend)) return raise(Event::kRejected);
  // What a tunnel carries can not be had again.
  if (rule_->retry && request_.head.body != http::Body::kTunnel) {
    retries_ = std::make_unique<Retries>(*rule_, requestBody_.bytes, owner_.limits().replayBuffer);
  }
  if (rule_->mirrors.empty()) return enter();
  // Behind the request: a copy may lead to the same Backend, and must not take the room of the request itself; unless
  // steps of the attempt take the body away.
  const bool taken = hasAttemptSteps();
  if (taken) startMirrors(rule_->mirrors);
  enter();
  if (!taken) startMirrors(rule_->mirrors);
}

void Exchange::enter() {
  attempt_.begun = owner_.worker().now();
  if (requestBody_.trailers() != nullptr) guardClientsTrailers();
  if (retries_) {
    retries_->begin();
    arm();
  }
  prepareAttempt();
}

/// With its own copy of the request, if processors are to see it; then admit().
void Exchange::prepareAttempt() {
  if (!hasAttemptSteps()) return admit();
  if (!attempt_.request.entered()) startMirrorsOfShare();
  processAttempt();
}

void Exchange::admit() {
  if (attempt_.request.entered()) return raise(Event::kRouted);  // once more
  const auto* plan = routing::planFor(request_.head, attempt_.backend->backend);
  if (plan == nullptr) {
    return raise(Event::kRejected,
                 base::Error::upstream(base::ErrorType::kHttpProtocolError,
                                       "the backend speaks HTTP/2 only, which has no upgrade to a WebSocket"));
  }
  if (!attempt_.request.enter(*plan)) {
    return raise(Event::kUnavailable, base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                                                            "too many requests to the backend at once"));
  }
  if (!attempt_.backend->mirrors.empty() && attemptSteps() == nullptr) startMirrorsOfShare();
  raise(Event::kRouted);
}

std::optional<base::Error> Exchange::chooseBackend(const routing::RouteMatch& match) {
  if (rule_ == nullptr) {
    const auto type = match.misdirected ? base::ErrorType::kMisdirectedRequest : base::ErrorType::kDestinationNotFound;
    return base::Error(type, base::ErrorOrigin::kDownstream, match.reason);
  }
  if (rule_->grpc && !speaksGrpc(request_.head)) {
    return base::Error::badRequest(415, "the route for this request takes gRPC over HTTP/2 only");
  }
  if (rule_->failure) return *rule_->failure;
  if (answersItself(request_.head, *rule_)) return std::nullopt;
  attempt_.backend = rule_->session ? resumeSession() : rule_->choose(owner_.random());
  if (attempt_.backend == nullptr) return routing::Rule::withoutWeight(rule_->grpc);
  if (attempt_.backend->failure) return *attempt_.backend->failure;
  return std::nullopt;
}

void Exchange::acquire() {
  const net::Addresses* allowed = nullptr;
  if (wants(Phase::kConnect)) {
    allowed = steps_->connect.allowed();
    if (allowed == nullptr) return processConnect();
  }
  const upstream::Wishes wishes = {.preferred = session_ ? session_->endpoint() : nullptr,
                                   .avoided = retries_ ? retries_->avoided() : nullptr,
                                   .allowed = allowed,
                                   .client = origin_.connection};
  const auto leased = attempt_.request.acquire(wishes);
  if (!leased.ok()) return raise(Event::kUnavailable, leased.error());
  if (*leased) raise(Event::kLeased);
}

void Exchange::abandon() { attempt_.request.abandon(); }

void Exchange::begin() {
  unprocessed_ = false;
  attempt_.begun = owner_.worker().now();
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr || !attempt_.request.claim()) {
    return onUpstreamReset(base::Error::upstream(base::ErrorType::kConnectionTerminated, "the connection was lost"),
                           true);
  }
  const bool prepared = attemptSteps() != nullptr;
  if (prepared && !processBackendRequest()) return attempt_.request.giveBack();
  ++attempt_.number;
  http::RequestHead head = prepared ? *steps_->attemptHead : headOfAttempt();
  if (steps_ && requestBody_.trailers() != nullptr) guardTrailers();
  if (head.body == http::Body::kTunnel) openHandshake(request_.arena, owner_.generator(), head);
  if (!attempt_.request.begin(head, origin_.connection)) {
    return onUpstreamReset(base::Error::internal("the request cannot be expressed towards the backend"), false);
  }
  if (rule_->backendRequestTimeout != base::Duration::zero()) arm();
  proceed(*downstream);
}

http::RequestHead Exchange::headOfAttempt() {
  return attemptHead(request_.arena, request_.head, *rule_, *attempt_.backend, owner_.identity(),
                     {origin_.client, origin_.secure}, ruleFilters());
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
  if (steps_) moveRequestBody();
  attempt_.request.wake();
}

void Exchange::grantClient() {
  if (steps_) forwardRequest();
  grant();
}

void Exchange::grant() {
  if (requestTaken_ < kGrantUnit && !requestBody_.bytes.empty()) return;
  if (withholds(requestBody_.bytes.size())) return;
  http::ServerCodec* codec = downstreamCodec();
  if (codec == nullptr) return;
  widenRequest(*codec);
  codec->grant(origin_.stream, std::exchange(requestTaken_, 0));
}

// The backend has ended its side, and then it was lost.
void Exchange::dismissClient() {
  if (!tunnels() || requestBody_.end() != http::PipeEnd::kOpen) return;
  if (http::ServerCodec* codec = downstreamCodec()) codec->dismiss(origin_.stream);
}

void Exchange::cancelUpstream() { attempt_.request.cancel(); }

// --- the response's way ------------------------------------------------------------------------------------

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
  http::ServerCodec* codec = downstreamCodec();
  for (http::ResponseMessage& interim : interims_) {
    if (codec != nullptr && mayPass(interim)) codec->sendInterim(origin_.stream, interim.head);
  }
  interims_.clear();
}

void Exchange::startResponse() {
  attempt_.firstByte = owner_.worker().now();
  error_.reset();
  if (retries_) retries_->replay.release();
  if (steps_ && steps_->response) releaseResponse();
  status_ = response_->head.status;
  removeAccept(request_.head, response_->head);
  finishHead(response_->arena, request_.head, {*rule_, attempt_.backend}, response_->head.headers);
  if (session_) tellSession();
  if (http::ServerCodec* codec = downstreamCodec()) codec->sendResponse(origin_.stream, response_->head);
}

void Exchange::forwardResponse() {
  if (carrier(&ExchangeSteps::response) != nullptr && responseState_ == ResponseState::kStreaming) moveResponse();
  if (http::ServerCodec* codec = downstreamCodec()) codec->wake(origin_.stream);
}

void Exchange::grantUpstream() {
  if (carrier(&ExchangeSteps::response) != nullptr) return forwardResponse();
  grantBackend();
}

void Exchange::grantBackend() {
  if (responseTaken_ < kGrantUnit && !responseBody_.bytes.empty()) return;
  if (!attempt_.request.active() || withholds(responseBody_.bytes.size())) return;
  widenResponse();
  attempt_.request.grant(std::exchange(responseTaken_, 0));
}

void Exchange::answer() {
  if (error_) status_ = error_->status;
  http::ServerCodec* codec = downstreamCodec();
  if (codec == nullptr) return;
  if (retries_) retries_->replay.release();
  if (steps_) steps_->response.reset();
  response_.emplace(owner_.worker().chunks());
  responseBody_ = http::BodyPipe(owner_.worker().chunks());
  if (error_) {
    response_->head = localReply(response_->arena, responseBody_, request_.head, *error_);
    if (rule_ != nullptr)
      finishErrorHead(response_->arena, request_.head, {*rule_, attempt_.backend}, response_->head.headers);
  } else {
    response_->head =
        ownAnswer(response_->arena, asked(), {*rule_, attempt_.backend}, {origin_.secure, listener_->port});
    responseBody_.finish();
  }
  processOwnAnswer();
  status_ = response_->head.status;
  codec->sendResponse(origin_.stream, response_->head);
  dropHeads();
  lastProgress_ = owner_.worker().now();
  arm();
}

void Exchange::breakResponse() {
  responseBody_.breakOff();
  if (http::ServerCodec* codec = downstreamCodec()) codec->reset(origin_.stream, http::ResetReason::kFailed);
  raise(Event::kGiveUp);
}

}  // namespace sluice::exchange
