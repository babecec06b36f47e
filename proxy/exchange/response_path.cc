#include "proxy/exchange/response_path.h"

#include <utility>

#include "proxy/exchange/attempt/expectation.h"
#include "proxy/exchange/authentication/authentication_gate.h"
#include "proxy/exchange/reply/local_reply.h"
#include "proxy/exchange/request_id.h"
#include "proxy/exchange/steps/body_framing.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/exchange/unseen.h"
#include "proxy/http/connection_auth.h"
#include "proxy/routing/rule_reply.h"

namespace sluice::exchange {

using processing::Phase;
using processing::Pipeline;

void ResponsePath::act(ResponseAction action) {
  switch (action) {
    case ResponseAction::kForwardInterim:
      return forwardInterim();
    case ResponseAction::kProceed:
      return proceed(t_);
    case ResponseAction::kProcessResponse:
      s_.processing.beginBackendResponse();
      return process();
    case ResponseAction::kProcessHead:
      s_.processing.beginKeptResponse();
      return process();
    case ResponseAction::kProcessOn:
      return process();
    case ResponseAction::kJudgeStatus:
      return judgeStatus();
    case ResponseAction::kJudgeResponse:
      return judgeResponse();
    case ResponseAction::kJudgeFailure:
      return judgeFailure();
    case ResponseAction::kGiveUp:
      return t_.raise(Event::kGiveUp);
    case ResponseAction::kStartResponse:
      return start();
    case ResponseAction::kForwardResponse:
      return forward();
    case ResponseAction::kGrantUpstream:
      return s_.processing.responseCarrier() != nullptr ? forward() : s_.responseBody.grant();
    case ResponseAction::kReply:
      return reply();
    case ResponseAction::kBreakResponse:
      return breakOff();
    case ResponseAction::kRefuseTunnel:
      return refuseTunnel();
    case ResponseAction::kDropMirrors:
      return s_.mirrors.cancel();
    case ResponseAction::kNone:
      return;
  }
}

// --- calls of the upstream codec -------------------------------------------------------------------------------------

void ResponsePath::onInterim(http::ResponseMessage&& message) {
  t_.progress();
  t_.interims.push_back(std::move(message));
  t_.raise(Event::kInterim);
}

void ResponsePath::onResponse(http::ResponseMessage&& message) {
  t_.progress();
  if (http::asksToAuthenticateConnection(message.head)) keepToClient(message.head);
  s_.attempts.onAnswer(message.head);
  const bool processed = s_.processing.chains().wantsResponse();
  if (message.head.body == http::Body::kNone && !processed) t_.responseBody.finish();
  // The backend does not agree to a tunnel, so the request was complete with its head.
  if (t_.request.head.body == http::Body::kTunnel && message.head.body != http::Body::kTunnel) t_.requestBody.finish();
  t_.response = std::move(message);
  if (processed) {
    s_.processing.beginResponse();
    if (s_.processing.chains().wants(Phase::kBackendResponse)) return t_.raise(Event::kResponseArrived);
  }
  judgeStatus();
}

/// A client that answers the challenge authenticates the connection, which serves that client alone from then on.
void ResponsePath::keepToClient(http::ResponseHead& challenge) {
  if (t_.context.refusesConnectionAuth()) return http::removeConnectionChallenges(challenge.headers);
  s_.attempts.current().request.pin(t_.client.connection);
}

// --- the decision to keep the response -------------------------------------------------------------------------------

void ResponsePath::judgeStatus() {
  const Retries* const retries = s_.attempts.retries();
  if (retries != nullptr && retries->refuses(t_.response->head)) return t_.raise(Event::kResponseRefused);
  keep();
}

// A response that broke off before its head could leave is not kept: the client gets an error in its place.
void ResponsePath::keep() {
  if (t_.isBroken()) return;
  t_.raise(s_.processing.chains().wantsKeptResponse() ? Event::kResponseHead : Event::kResponseReady);
}

// If a rule names a status, requests answered with it may be repeated, whatever their method (GEP-1731).
void ResponsePath::judgeResponse() {
  switch (s_.attempts.plan()) {
    case Attempts::Planning::kPlanned:
      return t_.raise(Event::kRetry);
    case Attempts::Planning::kNone:
      return keep();
    case Attempts::Planning::kConstrained:
      return t_.raise(Event::kRejected, Retries::constrained());
  }
}

void ResponsePath::judgeFailure() {
  switch (s_.attempts.judgeFailure()) {
    case Attempts::Judgement::kRepeat:
      return t_.raise(Event::kRepeat);
    case Attempts::Judgement::kRetry:
      return t_.raise(Event::kRetry);
    case Attempts::Judgement::kGiveUp:
      return t_.raise(Event::kGiveUp);
  }
}

/// Moves the steps of the response's state.
void ResponsePath::process() {
  const Pipeline::Outcome outcome = s_.responseBody.move();
  if (outcome == Pipeline::Outcome::kWaits) t_.rearm = true;
  if (outcome == Pipeline::Outcome::kDone && !t_.isBroken()) t_.raise(Event::kResponseStepsDone);
}

// --- the response to the client --------------------------------------------------------------------------------------

void ResponsePath::forwardInterim() {
  http::ServerCodec* codec = t_.codec();
  for (http::ResponseMessage& interim : t_.interims) {
    const bool proceeds = interim.head.status == http::kContinue;
    if (codec == nullptr || (proceeds && !t_.awaitsContinue())) continue;
    const bool passes = mayPass(t_, *s_.attempts.backend(), s_.processing, interim);
    if (proceeds) {
      proceed(t_, passes ? &interim.head : nullptr);
    } else if (passes) {
      codec->sendInterim(t_.client.stream, interim.head);
    }
  }
  t_.interims.clear();
}

void ResponsePath::start() {
  s_.attempts.current().firstByte = t_.now();
  t_.error.reset();
  s_.attempts.settle();
  http::ResponseMessage& response = *t_.response;
  if (s_.processing.steps() != nullptr && s_.processing.steps()->response) {
    // Called when nothing can keep the response from the client any more, and its head is about to leave.
    Pipeline& steps = *s_.processing.steps()->response;
    steps.seal();
    if (steps.carries()) {
      s_.responseBody.move();
      frame(response.head, steps.alters(), t_.responseBody);
    }
  }
  t_.status = response.head.status;
  if (response.head.body == http::Body::kTunnel) open(response.head.tunnel);
  if (!response.head.dated) addDate(response);
  addRequestId(response);
  removeAccept(t_.request.head, response.head);
  routing::finishHead(response.arena, t_.request.head, {*t_.route.rule, s_.attempts.backend()}, response.head.headers);
  const bool mayBeFailure = response.head.status >= 400 || response.head.body == http::Body::kNone;
  if (mayBeFailure) settleStanding(response);
  s_.attempts.tellSession();
  if (http::ServerCodec* codec = t_.codec()) codec->sendResponse(t_.client.stream, response.head);
}

/// Called when the Backend has agreed to the tunnel that the client asks for.
void ResponsePath::open(http::Tunnel tunnel) {
  t_.tunnel = tunnel;
  if (t_.streamTunnel == nullptr) return;
  t_.streamTunnel->agreed = t_.now();
  // Either side may have ended its way in the meantime.
  if (t_.requestBody.end() != http::PipeEnd::kOpen) t_.endTunnel(TunnelEnd::kClient);
  if (t_.responseBody.end() != http::PipeEnd::kOpen) t_.endTunnel(TunnelEnd::kBackend);
  t_.context.observer().onTunnel(t_.exchange);
  t_.rearm = true;
  t_.raise(Event::kRequestBody);  // the client may have sent its first bytes already
}

/// Called when policies deny a tunnel by the first bytes of its TLS. The client is told so by the alert access_denied
/// (RFC 8446 section 6.2).
void ResponsePath::refuseTunnel() {
  constexpr std::string_view kAccessDenied("\x15\x03\x03\x00\x02\x02\x31", 7);
  t_.responseBody.bytes.append(kAccessDenied);
  t_.streamTunnel->alertBytes = kAccessDenied.size();
  t_.responseBody.finish();
  http::ServerCodec* codec = t_.codec();
  if (codec == nullptr) return;
  codec->dismiss(t_.client.stream);
  codec->wake(t_.client.stream);
}

/// Marks a failure as final for a gateway before this one. For other clients, removes the marks of gateways behind this
/// one.
void ResponsePath::settleStanding(http::ResponseMessage& response) {
  if (!t_.fromGateway) return hideFinal(response.arena, response.head.headers);
  const Retries* const retries = s_.attempts.retries();
  if (retries == nullptr || !retries->isFinal(response.head)) return;
  markFinal(response.arena, t_.context.identity(), response.head.status, response.head.headers);
}

/// Gives a response without a Date the current time, unless a step has set one. The origin should have; if it did not,
/// the first recipient that has a clock does (RFC 9110 section 6.6.1).
void ResponsePath::addDate(http::ResponseMessage& response) {
  if (response.head.headers.find(http::FieldId::kDate) != nullptr) return;
  response.head.headers.add(response.arena, http::FieldId::kDate, response.arena.copy(t_.context.date()));
}

/// Adds the request's id to the response, unless the origin has one of its own, by which its operators know the
/// request.
void ResponsePath::addRequestId(http::ResponseMessage& response) {
  const RequestIdField& field = t_.context.identity().requestId;
  if (t_.requestId.empty() || field.name().empty() || field.isIn(response.head.headers)) return;
  exchange::addRequestId(response.arena, response.head.headers, field, response.arena.copy(t_.requestId));
}

void ResponsePath::forward() {
  if (t_.responseState == ResponseState::kStreaming && s_.processing.responseCarrier() != nullptr)
    s_.responseBody.move();
  if (http::ServerCodec* codec = t_.codec()) codec->wake(t_.client.stream);
}

void ResponsePath::reply() {
  if (t_.error) t_.status = t_.error->status;
  s_.attempts.current().request.leave();
  http::ServerCodec* codec = t_.codec();
  if (codec == nullptr) return;
  s_.attempts.settle();
  t_.requestBody.bytes.clear();
  if (ExchangeSteps* steps = s_.processing.steps()) {
    steps->dropRequestBody();
    steps->response.reset();
  }
  if (t_.requestId.empty()) {  // its head was refused
    t_.requestId = settleRequestId(t_.request.arena, t_.request.head.headers, t_.context.identity().requestId,
                                   t_.context.generator());
  }
  http::ResponseMessage& reply = t_.response.emplace(t_.context.worker().chunks());
  t_.responseBody = http::BodyPipe(t_.context.worker().chunks());
  if (t_.error) {
    const std::string backend = t_.context.namesBackends() ? failingBackend() : std::string();
    reply.head = localReply(reply.arena, t_.responseBody,
                            {t_.request.head, *t_.error, t_.requestId, s_.processing.replyOfStep(), backend});
    if (AuthenticationGate::owes(t_)) addChallenge(reply.arena, t_, reply.head);
    if (t_.route.rule != nullptr) {
      routing::finishErrorHead(reply.arena, t_.request.head, {*t_.route.rule, s_.attempts.backend()},
                               reply.head.headers);
    }
    if (t_.fromGateway && isFinalHere(*t_.error)) {
      markFinal(reply.arena, t_.context.identity(), *t_.error, reply.head.headers);
    }
  } else {
    reply.head = routing::ruleReply(reply.arena, t_.asked != nullptr ? *t_.asked : t_.request.head,
                                    {*t_.route.rule, s_.attempts.backend()},
                                    routing::redirectPort(*t_.route.listener, t_.request.head));
    t_.responseBody.finish();
  }
  addDate(reply);
  addRequestId(reply);
  s_.processing.finishReply();
  t_.status = reply.head.status;
  codec->sendResponse(t_.client.stream, reply.head);
  t_.response.reset();  // the codec has copied the parts that it needs
  // Steps live in the request's arena, and keep the places that they have taken until the exchange is over.
  if (s_.processing.steps() == nullptr && !s_.headMemory.isFree()) s_.headMemory.drop();
  t_.lastProgress = t_.now();
  t_.rearm = true;
}

/// Returns the name of the Backend of which the error is; empty if it is not of one.
std::string ResponsePath::failingBackend() const {
  const routing::WeightedBackend* const chosen = s_.attempts.backend();
  const bool isOfBackend = t_.error->origin == base::ErrorOrigin::kUpstream && chosen != nullptr && chosen->backend;
  return isOfBackend ? routing::titleOf(*chosen->backend) : std::string();
}

void ResponsePath::breakOff() {
  t_.responseBody.breakOff();
  if (http::ServerCodec* codec = t_.codec()) codec->reset(t_.client.stream, http::ResetReason::kFailed);
  t_.raise(Event::kGiveUp);
}

}  // namespace sluice::exchange
