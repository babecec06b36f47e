// An exchange and the payload processors of its listener, its rule and its Backend: which steps run when (E-94), and
// how bodies move through them.
#include <algorithm>
#include <new>
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/steps/body_framing.h"
#include "proxy/http/hygiene.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;
using processing::Pipeline;
using processing::Round;

/// The Backend's, before it has a connection.
bool Exchange::hasOwnSteps() const {
  constexpr std::uint8_t kOwn = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody);
  const processing::Chain* own = phases_ != 0 ? chains()[2] : nullptr;
  return own != nullptr && (own->phases() & kOwn) != 0;
}

ExchangeSteps& Exchange::steps() {
  if (!steps_) {
    void* place = request_.arena.allocate(sizeof(ExchangeSteps), alignof(ExchangeSteps));
    steps_.reset(new (place) ExchangeSteps(*this, token(), origin_.client.ip(), owner_, request_));
  }
  return *steps_;
}

processing::Place Exchange::place() const {
  const ExchangeNames names = namesOf(*this);
  // The listener is known before a rule is.
  return {listener_ != nullptr ? std::string_view(listener_->gateway) : names.gateway, names.route, names.backend};
}

void Exchange::onStepAnswer(processing::Ticket ticket, bool dropped) {
  if (!steps_ || !steps_->answer(ticket, dropped)) return;
  progress();
  raise(Event::kStepAnswer);
}

/// A buffered step waits for the client's body, and nobody else does anything.
bool Exchange::starves() const {
  if (!steps_) return false;
  const processing::Pipeline* request = carrier(&ExchangeSteps::request);
  if (request != nullptr && request->starves()) return true;
  const bool none =
      request != nullptr ? request->isOpen() && request->source.empty() : requestBody_.end() == http::PipeEnd::kOpen;
  return none && requestBody_.bytes.empty() && steps_->attempt && steps_->attempt->starves();
}

// --- the request's way -------------------------------------------------------------------------------------

/// Those of the Backend, on the attempt's own copy.
void Exchange::processAttempt() {
  const processing::Chains all = chains();
  auto* head = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
      http::RequestHead(headOfAttempt());
  const processing::Chains own = {nullptr, nullptr, all[2]};
  const bool wanted = processing::wantsBody(own, bitOf(Phase::kRequestBody)) ||
                      processing::wantsBody(all, bitOf(Phase::kBackendRequest));
  processing::Pipeline& pipeline = steps().beginAttempt(*head, processing::bodyPath(head->body, wanted));
  const bool begun = steps_->tentativeChain == own[2];
  if (begun) steps_->tentativeEdits.layOn(request_.arena, *head, [](const processing::Step&) { return true; });
  const Round left = begun ? Round::kSecond : Round::kBoth;
  pipeline.appendRequest(own, left);
  pendingSteps_ = Pending::kAttempt;
  process();
}

/// What waited goes on.
void Exchange::process() {
  if (pendingSteps_ == Pending::kNothing) return moveRequestBody();
  Pipeline::Outcome outcome = moveSteps();
  while (outcome == Pipeline::Outcome::kMatchAgain) {
    matchAgain();
    outcome = error_ ? Pipeline::Outcome::kRefused : moveRequest();
  }
  if (outcome == Pipeline::Outcome::kWaits) return await();
  if (outcome == Pipeline::Outcome::kRefused) return;
  switch (std::exchange(pendingSteps_, Pending::kNothing)) {
    case Pending::kNothing:
      return;
    case Pending::kBeforeRouting:
      return decide(matchWithHints(request_.head));
    case Pending::kFirstRound:
      return processTentative();
    case Pending::kTentative:
      return processSecondRound();
    case Pending::kRequest:
      if (steps_->request->carries()) {
        for (http::RequestHead* head : {&request_.head, asked_}) {
          frame(*head, steps_->request->alters(), requestBody_);
        }
      }
      return onProcessed();
    case Pending::kAttempt:
      return admit();
    case Pending::kConnect:
      steps_->connect.end();
      return acquire();
    case Pending::kBackendRequest:
      return raise(Event::kRouted);
  }
}

/// Moves the steps that are under way.
Pipeline::Outcome Exchange::moveSteps() {
  switch (pendingSteps_) {
    case Pending::kNothing:
      return Pipeline::Outcome::kDone;
    case Pending::kBeforeRouting:
    case Pending::kFirstRound:
    case Pending::kTentative:
    case Pending::kRequest:
      return moveRequest();
    case Pending::kAttempt:
    case Pending::kConnect:
    case Pending::kBackendRequest:
      return moveBoth();
  }
  return Pipeline::Outcome::kDone;
}

/// A client that waits to be told so is told to send the body that a step waits for.
void Exchange::await() {
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream != nullptr && starves()) proceed(*downstream);
  arm();
}

/// The attempt has a connection. False: it does not go on with it now.
bool Exchange::processBackendRequest() {
  processing::Pipeline& pipeline = *steps_->attempt;
  if (!std::exchange(steps_->backendRequestEntered, true)) {
    if (wants(Phase::kBackendRequest)) pipeline.append(chains(), Phase::kBackendRequest);
    pipeline.seal();
  }
  const Pipeline::Outcome outcome = moveAttempt();
  if (outcome == Pipeline::Outcome::kWaits) {
    pendingSteps_ = Pending::kBackendRequest;
    raise(Event::kPostponed);
    await();
  }
  if (outcome != Pipeline::Outcome::kDone) return false;
  if (pipeline.carries()) frame(*steps_->attemptHead, pipeline.alters(), steps_->attemptBody);
  return true;
}

void Exchange::guardTrailers() {
  const http::RequestHead& sent = steps_->attemptHead != nullptr ? *steps_->attemptHead : request_.head;
  for (http::BodyPipe* pipe : {&requestBody_, &steps_->attemptBody}) {
    if (http::Headers* trailers = pipe->trailers()) removeTwinsOf(sent.headers, *trailers);
  }
}

Pipeline::Outcome Exchange::moveRequest() {
  processing::Pipeline& pipeline = *steps_->request;
  if (!pipeline.carries()) return pipeline.go(requestBody_.bytes, 0);
  base::ByteQueue passed(owner_.worker().chunks());
  const Pipeline::Outcome outcome = pipeline.go(passed, requestBody_.bytes.size());
  if (outcome == Pipeline::Outcome::kRefused || outcome == Pipeline::Outcome::kMatchAgain) return outcome;
  for (; !passed.empty() && (retries_ || !mirrors_.empty()); passed.consume(passed.front().size())) {
    receiveBody(passed.front());
  }
  requestBody_.bytes.splice(passed, passed.size());
  if (pipeline.tookEnd()) receiveEnd(std::exchange(pipeline.trailers, std::nullopt));
  if (const std::size_t fed = pipeline.takeFed()) {
    requestTaken_ += fed;
    grant();
  }
  if (requestBody_.bytes.empty()) pipeline.releaseBuffers();
  return outcome;
}

Pipeline::Outcome Exchange::moveAttempt() {
  processing::Pipeline& pipeline = *steps_->attempt;
  http::BodyPipe& body = steps_->attemptBody;
  Pipeline::Outcome outcome = pipeline.go(body.bytes, 0);
  while (pipeline.carries() && outcome != Pipeline::Outcome::kRefused) {
    const std::size_t count = std::min(pipeline.room(body.bytes.size()), requestBody_.bytes.size());
    const bool ends =
        pipeline.isOpen() && count == requestBody_.bytes.size() && requestBody_.end() == http::PipeEnd::kComplete;
    if (count == 0 && !ends) break;
    pipeline.source.splice(requestBody_.bytes, count);
    if (count > 0) passRequest(count);
    if (ends) pipeline.end(trailersOf(requestBody_));
    outcome = pipeline.go(body.bytes, 0);
  }
  if (!pipeline.carries() || outcome == Pipeline::Outcome::kRefused) return outcome;
  if (pipeline.tookEnd()) {
    finishPipe(body, std::exchange(pipeline.trailers, std::nullopt));
    guardTrailers();
  }
  if (body.bytes.empty()) pipeline.releaseBuffers();
  grant();
  return outcome;
}

/// Through the steps of the request and those of the attempt; the outcome is that of the attempt's.
Pipeline::Outcome Exchange::moveBoth() {
  const bool carried = carrier(&ExchangeSteps::request) != nullptr;
  while (true) {
    if (carried && moveRequest() == Pipeline::Outcome::kRefused) return Pipeline::Outcome::kRefused;
    const std::size_t before = requestBody_.bytes.size();
    const Pipeline::Outcome outcome = moveAttempt();
    // What the attempt took has made room.
    const bool took = requestBody_.bytes.size() < before;
    if (!carried || !took || outcome == Pipeline::Outcome::kRefused) return outcome;
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
  // RFC 9110 section 6.4.1: there is none, so no step can make one.
  const bool bodiless = request_.head.method == http::Method::kHead || http::statusForbidsBody(response_->head.status);
  steps().beginResponse(response_->head, processing::bodyPath(response_->head.body,
                                                              !bodiless && processing::wantsBody(chains(), bodies)));
}

/// Steps of the Backend's response, before it is decided whether it is kept.
void Exchange::processResponse() {
  steps_->response->append(chains(), Phase::kBackendResponse);
  pendingResponse_ = PendingResponse::kBackendResponse;
  processResponseOn();
}

/// Steps of the response that is kept.
void Exchange::processHead() {
  const processing::Chains all = chains();
  steps_->response->append(all, Phase::kResponseHeaders);
  steps_->response->append(all, Phase::kResponseBody);
  pendingResponse_ = PendingResponse::kKept;
  processResponseOn();
}

void Exchange::processResponseOn() {
  if (pendingResponse_ == PendingResponse::kNothing) return;
  const Pipeline::Outcome outcome = moveResponse();
  if (outcome == Pipeline::Outcome::kWaits) return arm();
  if (outcome == Pipeline::Outcome::kRefused) return;
  if (std::exchange(pendingResponse_, PendingResponse::kNothing) == PendingResponse::kKept) {
    return raise(Event::kResponseReady);
  }
  judgeStatus();
}

Pipeline::Outcome Exchange::moveResponse() {
  processing::Pipeline& pipeline = *steps_->response;
  const Pipeline::Outcome outcome = pipeline.go(responseBody_.bytes, 0);
  if (outcome == Pipeline::Outcome::kRefused || !pipeline.carries()) return outcome;
  if (pipeline.tookEnd()) finishPipe(responseBody_, std::exchange(pipeline.trailers, std::nullopt));
  if (responseBody_.bytes.empty()) pipeline.releaseBuffers();
  responseTaken_ += pipeline.takeFed();
  if (responseTaken_ > 0) grantBackend();
  return outcome;
}

/// All that could keep it from the client has been asked: its head is about to leave.
void Exchange::releaseResponse() {
  processing::Pipeline& pipeline = *steps_->response;
  pipeline.seal();
  if (!pipeline.carries()) return;
  moveResponse();
  frame(response_->head, pipeline.alters(), responseBody_);
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
