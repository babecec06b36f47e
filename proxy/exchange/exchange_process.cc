// An exchange and the payload processors of its listener, its rule and its Backend: which steps run when (E-94), and
// how bodies move through them.
#include <algorithm>
#include <new>
#include <utility>

#include "proxy/exchange/exchange.h"
#include "proxy/exchange/exchanges.h"
#include "proxy/http/hygiene.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;
using processing::Run;

namespace {

void finishPipe(http::BodyPipe& pipe, std::optional<http::Trailers> trailers) {
  if (trailers) return pipe.finish(*std::move(trailers));
  pipe.finish();
}

/// The list: its bytes are those of `pipe`.
std::optional<http::Trailers> copyOf(const http::BodyPipe& pipe) {
  if (pipe.trailers() == nullptr) return std::nullopt;
  http::Trailers copy(pipe.bytes.pool());
  copy.fields = pipe.trailers()->copy(copy.arena);
  return copy;
}

/// Fields that say something of the bytes of a body, which steps have changed.
void removeDigests(http::Headers& headers) {
  for (const std::string_view name : {"content-md5", "content-digest", "repr-digest", "digest", "want-repr-digest"}) {
    headers.remove(name);
  }
}

/// How a body that steps may change is framed: by its length if all of it is here, else by its end. One that was
/// nothing and is nothing stays so.
template <typename Head>
void frame(Head& head, bool alters, const http::BodyPipe& pipe) {
  if (!alters) return;
  removeDigests(head.headers);
  const bool whole = pipe.end() == http::PipeEnd::kComplete;
  if (whole && pipe.bytes.empty() && head.body == http::Body::kNone) return;
  head.body = whole && pipe.trailers() == nullptr ? http::Body::kLength : http::Body::kUntilEnd;
  head.contentLength = {};
  if (head.body == http::Body::kLength) head.contentLength = pipe.bytes.size();
}

}  // namespace

/// The Backend's, before it has a connection.
bool Exchange::hasOwnSteps() const {
  constexpr std::uint8_t kOwn = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody);
  const processing::Chain* own = phases_ != 0 ? chains()[2] : nullptr;
  return own != nullptr && (own->phases() & kOwn) != 0;
}

ExchangeSteps& Exchange::steps() {
  if (!steps_) {
    void* place = request_.arena.allocate(sizeof(ExchangeSteps), alignof(ExchangeSteps));
    steps_.reset(new (place) ExchangeSteps(*this, owner_, request_));
  }
  return *steps_;
}

void Exchange::onStepAnswer(processing::Ticket ticket, bool dropped) {
  if (!steps_ || !steps_->answer(ticket, dropped)) return;
  progress();
  raise(Event::kStepAnswer);
}

/// A buffered step waits for the client's body, and nobody else does anything.
bool Exchange::starves() const {
  if (!steps_) return false;
  const Stretch* request = carrier(&ExchangeSteps::request);
  if (request != nullptr && request->starves()) return true;
  const bool none =
      request != nullptr ? request->isOpen() && request->source.empty() : requestBody_.end() == http::PipeEnd::kOpen;
  return none && requestBody_.bytes.empty() && steps_->attempt && steps_->attempt->starves();
}

Stretch::Load Exchange::loadOf(const processing::Chains& chains, std::uint8_t phases, http::Body body) {
  bool carries = false;
  for (const processing::Chain* each : chains)
    carries = carries || (each != nullptr && (each->bodyPhases() & phases) != 0);
  return {carries && body != http::Body::kTunnel, body == http::Body::kLength || body == http::Body::kUntilEnd};
}

// --- the request's way -------------------------------------------------------------------------------------

/// Those of the listener that come before a route is matched; then decide().
void Exchange::processBeforeRouting() {
  const processing::Chains first = {listener_->preRouting.get(), nullptr, nullptr};
  findPhases();  // what they answer goes through response-headers of the listener
  // Whether steps of the route will want the body is not known.
  requestSteps(loadOf({}, 0, request_.head.body).flows).appendRequest(first);
  pendingSteps_ = Pending::kBeforeRouting;
  process();
}

/// Steps of the listener and of the rule, once; then onProcessed().
void Exchange::processRequest() {
  constexpr std::uint8_t kShared = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody);
  const processing::Chains all = chains();
  const auto concerned = [](const processing::Chain* chain) {
    return chain != nullptr && (chain->phases() & kShared) != 0;
  };
  const bool begun = steps_ && steps_->request;
  if (begun) steps_->findPlace();
  if (!begun && !concerned(all[0]) && !concerned(all[1])) return onProcessed();
  const processing::Chains shared = {all[0], all[1], nullptr};
  Stretch& stretch =
      begun ? *steps_->request
            : requestSteps(loadOf(shared, bitOf(Phase::kRequestBody), request_.head.body).carries);
  stretch.appendRequest(shared);
  stretch.seal();
  pendingSteps_ = Pending::kRequest;
  process();
}

/// `carries`: the body goes through them.
Stretch& Exchange::requestSteps(bool carries) {
  asked_ = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
      http::RequestHead(request_.head);
  request_.head.headers = asked_->headers.copy(request_.arena);
  Stretch& stretch = steps().beginRequest({false, false});
  if (carries) carryRequest();
  return stretch;
}

void Exchange::carryRequest() {
  Stretch& stretch = *steps_->request;
  stretch.carry(loadOf({}, 0, request_.head.body).flows);
  stretch.source.splice(requestBody_.bytes, requestBody_.bytes.size());
  if (requestBody_.end() == http::PipeEnd::kComplete) stretch.end(requestBody_.takeTrailers());
  requestBody_ = http::BodyPipe(owner_.worker().chunks());
}

/// E-97a: by the head as steps have made it. What has run does not run again.
void Exchange::matchAgain() {
  if (pendingSteps_ != Pending::kRequest || std::exchange(steps_->matchedAgain, true)) return;
  const routing::RouteMatch match = matchWithHints();
  if (match.rule == rule_) return;
  // Steps of it may have the body under their hands.
  steps_->formerRule = rule_->shared_from_this();
  owner_.observer().onLeftRoute(*this);
  session_.reset();
  attempt_ = {};
  takeRule(match.rule);
  const std::optional<base::Error> refusal = chooseBackend(match);
  owner_.observer().onRouted(*this);
  findPhases();
  steps_->findPlace();
  if (refusal) return raise(Event::kRejected, *refusal);
  if (rule_->requestTimeout) arm();
  const processing::Chains all = chains();
  Stretch& stretch = *steps_->request;
  const processing::Chains own = {nullptr, all[1], nullptr};
  if (!stretch.carries && loadOf(own, bitOf(Phase::kRequestBody), request_.head.body).carries) carryRequest();
  stretch.changeRoute(all[0], all[1]);
}

/// By what is served now: what the request came in by may be gone since.
routing::RouteMatch Exchange::matchWithHints() {
  const Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr) return {};
  const http::Headers real = request_.head.headers;
  for (const http::Field& hint : steps_->wish.hints) {
    if (request_.head.headers.all().data() == real.all().data()) request_.head.headers = real.copy(request_.arena);
    request_.head.headers.set(request_.arena, hint.name, hint.value);
  }
  const routing::RouteMatch match = matchHead(downstream->routes());
  request_.head.headers = real;
  return match;
}

/// Those of the Backend, on the attempt's own copy.
void Exchange::processAttempt() {
  const processing::Chains all = chains();
  auto* head = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
      http::RequestHead(attemptHead(request_.arena, request_.head, *rule_, *attempt_.backend, owner_.identity(),
                                    {origin_.client, origin_.secure}));
  const processing::Chains own = {nullptr, nullptr, all[2]};
  const Stretch::Load ofOwn = loadOf(own, bitOf(Phase::kRequestBody), head->body);
  const Stretch::Load ofAll = loadOf(all, bitOf(Phase::kBackendRequest), head->body);
  Stretch& stretch = steps().beginAttempt(*head, {ofOwn.carries || ofAll.carries, ofAll.flows});
  stretch.append(own, {Phase::kRequestHeaders});
  stretch.append(own, {Phase::kRequestBody});
  pendingSteps_ = Pending::kAttempt;
  process();
}

/// What waited goes on.
void Exchange::process() {
  if (pendingSteps_ == Pending::kNothing) return moveRequestBody();
  const bool ofRequest = pendingSteps_ == Pending::kRequest || pendingSteps_ == Pending::kBeforeRouting;
  Run::Outcome outcome = ofRequest ? moveRequest() : moveBoth();
  while (outcome == Run::Outcome::kMatchAgain) {
    matchAgain();
    outcome = error_ ? Run::Outcome::kRefused : moveRequest();
  }
  if (outcome == Run::Outcome::kWaits) return await();
  if (outcome == Run::Outcome::kRefused) return;
  switch (std::exchange(pendingSteps_, Pending::kNothing)) {
    case Pending::kNothing:
      return;
    case Pending::kBeforeRouting:
      return decide(matchWithHints());
    case Pending::kRequest:
      if (steps_->request->carries) {
        for (http::RequestHead* head : {&request_.head, asked_}) {
          frame(*head, steps_->request->run.alters(), requestBody_);
        }
      }
      return onProcessed();
    case Pending::kAttempt:
      return admit();
    case Pending::kConnect:
      steps_->endConnect();
      return acquire();
    case Pending::kBackendRequest:
      return raise(Event::kRouted);
  }
}

/// A client that waits to be told so is told to send the body that a step waits for.
void Exchange::await() {
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream != nullptr && starves()) proceed(*downstream);
  arm();
}

/// The attempt has a connection. False: it does not go on with it now.
bool Exchange::processBackendRequest() {
  Stretch& stretch = *steps_->attempt;
  if (!std::exchange(steps_->backendRequestEntered, true)) {
    if (wants(Phase::kBackendRequest)) stretch.append(chains(), {Phase::kBackendRequest});
    stretch.seal();
  }
  const Run::Outcome outcome = moveAttempt();
  if (outcome == Run::Outcome::kWaits) {
    pendingSteps_ = Pending::kBackendRequest;
    raise(Event::kPostponed);
    await();
  }
  if (outcome != Run::Outcome::kDone) return false;
  if (stretch.carries) frame(*steps_->attemptHead, stretch.run.alters(), steps_->attemptBody);
  return true;
}

/// What steps have put into the head is not for the client to say once more behind its body (attack: a credential's
/// twin as a trailer, which some servers merge).
void Exchange::guardTrailers() {
  const http::RequestHead& sent = steps_->attemptHead != nullptr ? *steps_->attemptHead : request_.head;
  for (http::BodyPipe* pipe : {&requestBody_, &steps_->attemptBody}) {
    http::Headers* trailers = pipe->trailers();
    if (trailers == nullptr) continue;
    trailers->removeIf([&](const http::Field& trailer) {
      return std::any_of(sent.headers.begin(), sent.headers.end(),
                         [&](const http::Field& field) { return http::areTwins(trailer.name, field.name); });
    });
  }
}

Run::Outcome Exchange::moveRequest() {
  Stretch& stretch = *steps_->request;
  if (!stretch.carries) return stretch.go(requestBody_.bytes, 0);
  base::ByteQueue passed(owner_.worker().chunks());
  const Run::Outcome outcome = stretch.go(passed, requestBody_.bytes.size());
  if (outcome == Run::Outcome::kRefused || outcome == Run::Outcome::kMatchAgain) return outcome;
  for (; !passed.empty() && (retries_ || !mirrors_.empty()); passed.consume(passed.front().size())) {
    receiveBody(passed.front());
  }
  requestBody_.bytes.splice(passed, passed.size());
  if (stretch.tookEnd()) receiveEnd(std::exchange(stretch.trailers, std::nullopt));
  if (const std::size_t fed = stretch.takeFed()) {
    requestTaken_ += fed;
    grant();
  }
  if (requestBody_.bytes.empty()) stretch.run.releaseBuffers();
  return outcome;
}

Run::Outcome Exchange::moveAttempt() {
  Stretch& stretch = *steps_->attempt;
  http::BodyPipe& body = steps_->attemptBody;
  Run::Outcome outcome = stretch.go(body.bytes, 0);
  while (stretch.carries && outcome != Run::Outcome::kRefused) {
    const std::size_t count = std::min(stretch.run.room(body.bytes.size()), requestBody_.bytes.size());
    const bool ends =
        stretch.isOpen() && count == requestBody_.bytes.size() && requestBody_.end() == http::PipeEnd::kComplete;
    if (count == 0 && !ends) break;
    stretch.source.splice(requestBody_.bytes, count);
    if (count > 0) passRequest(count);
    if (ends) stretch.end(copyOf(requestBody_));
    outcome = stretch.go(body.bytes, 0);
  }
  if (!stretch.carries || outcome == Run::Outcome::kRefused) return outcome;
  if (stretch.tookEnd()) {
    finishPipe(body, std::exchange(stretch.trailers, std::nullopt));
    guardTrailers();
  }
  if (body.bytes.empty()) stretch.run.releaseBuffers();
  grant();
  return outcome;
}

/// Through the steps of the request and those of the attempt; the outcome is that of the attempt's.
Run::Outcome Exchange::moveBoth() {
  const bool carried = carrier(&ExchangeSteps::request) != nullptr;
  while (true) {
    if (carried && moveRequest() == Run::Outcome::kRefused) return Run::Outcome::kRefused;
    const std::size_t before = requestBody_.bytes.size();
    const Run::Outcome outcome = moveAttempt();
    // What the attempt took has made room.
    const bool took = requestBody_.bytes.size() < before;
    if (!carried || !took || outcome == Run::Outcome::kRefused) return outcome;
  }
}

/// As far as there is room for it, through whatever it has to go through.
void Exchange::moveRequestBody() {
  if (!steps_) return;
  if (attemptSteps() != nullptr && steps_->backendRequestEntered) {
    moveBoth();
  } else if (carrier(&ExchangeSteps::request) != nullptr) {
    moveRequest();
  }
}

// --- the response's way ------------------------------------------------------------------------------------

void Exchange::beginResponseSteps() {
  const std::uint8_t bodies = bitOf(Phase::kBackendResponse) | bitOf(Phase::kResponseBody);
  const Stretch::Load load = loadOf(chains(), bodies, response_->head.body);
  // RFC 9110 section 6.4.1: there is none, so no step can make one.
  const bool bodiless = request_.head.method == http::Method::kHead || http::statusForbidsBody(response_->head.status);
  steps().beginResponse(response_->head, {load.carries && !bodiless, load.flows});
}

/// Steps of the Backend's response, before it is decided whether it is kept.
void Exchange::processResponse() {
  steps_->response->append(chains(), {Phase::kBackendResponse});
  pendingResponse_ = PendingResponse::kBackendResponse;
  processResponseOn();
}

/// Steps of the response that is kept.
void Exchange::processHead() {
  const processing::Chains all = chains();
  steps_->response->append(all, {Phase::kResponseHeaders});
  steps_->response->append(all, {Phase::kResponseBody});
  pendingResponse_ = PendingResponse::kKept;
  processResponseOn();
}

void Exchange::processResponseOn() {
  if (pendingResponse_ == PendingResponse::kNothing) return;
  const Run::Outcome outcome = moveResponse();
  if (outcome == Run::Outcome::kWaits) return arm();
  if (outcome == Run::Outcome::kRefused) return;
  if (std::exchange(pendingResponse_, PendingResponse::kNothing) == PendingResponse::kKept) {
    return raise(Event::kResponseReady);
  }
  judgeStatus();
}

Run::Outcome Exchange::moveResponse() {
  Stretch& stretch = *steps_->response;
  const Run::Outcome outcome = stretch.go(responseBody_.bytes, 0);
  if (outcome == Run::Outcome::kRefused || !stretch.carries) return outcome;
  if (stretch.tookEnd()) finishPipe(responseBody_, std::exchange(stretch.trailers, std::nullopt));
  if (responseBody_.bytes.empty()) stretch.run.releaseBuffers();
  responseTaken_ += stretch.takeFed();
  if (responseTaken_ > 0) grantBackend();
  return outcome;
}

/// All that could keep it from the client has been asked: its head is about to leave.
void Exchange::releaseResponse() {
  Stretch& stretch = *steps_->response;
  stretch.seal();
  if (!stretch.carries) return;
  moveResponse();
  frame(response_->head, stretch.run.alters(), responseBody_);
}

void Exchange::processOwnAnswer() {
  if (steps_ && steps_->refusal) {
    for (const auto& [name, value] : steps_->refusal->fields) {
      base::Arena& arena = response_->arena;
      response_->head.headers.add(arena, arena.copy(name), arena.copy(value));
    }
  }
  const bool seen = steps_ && steps_->refusal && steps_->refusal->phase == Phase::kResponseHeaders;
  if (seen || !wants(Phase::kResponseHeaders)) return;
  steps().passBy(chains(), response_->head);
}

}  // namespace sluice::exchange
