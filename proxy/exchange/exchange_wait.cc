#include "proxy/exchange/exchange_wait.h"

#include <algorithm>
#include <utility>

#include "proxy/http/grpc.h"

namespace sluice::exchange {
namespace {

bool hasSuspendedStep(const ExchangeState& s) {
  const ExchangeSteps* steps = s.processing.steps();
  return steps != nullptr && steps->suspended() != nullptr;
}

bool isSending(const ExchangeState& s) {
  const RequestState state = s.transaction.requestState;
  return state == RequestState::kSending || state == RequestState::kSent;
}

bool clientTakesNothing(const Transaction& t) {
  return t.responseState == ResponseState::kStreaming && !t.responseBody.bytes.empty();
}

bool backendTakesNothing(const ExchangeState& s) {
  if (!isSending(s)) return false;
  const bool left = s.transaction.requestState == RequestState::kSending && !s.requestBody.outlet().bytes.empty();
  return left || s.attempts.current().request.backsUp();
}

ExchangeWait waitForConnection(const ExchangeState& s) {
  using Stage = upstream::ConnectionWait::Stage;
  upstream::ConnectionWait wait = s.attempts.current().request.wait();
  const auto named = [&wait](Wait what) { return ExchangeWait{what, std::move(wait.where)}; };
  switch (wait.stage) {
    case Stage::kNone:
      break;
    case Stage::kResolver:
      return named(Wait::kResolver);
    case Stage::kQueue:
      return named(Wait::kConnection);
    case Stage::kDial:
      return named(Wait::kDial);
    case Stage::kHandshake:
      return named(Wait::kHandshake);
  }
  return {};
}

/// Returns true if the client may send more of its body to a Backend that has the request.
bool clientMaySend(const Transaction& t) {
  return t.requestState == RequestState::kSending && t.requestBody.end() == http::PipeEnd::kOpen;
}

/// Returns the event for which a response waits that goes to the client, or that steps want as a whole.
Wait waitForResponseBody(const Transaction& t) {
  if (t.tunnels()) return Wait::kTunnel;
  if (t.responseBody.end() != http::PipeEnd::kOpen) return Wait::kNothing;
  return clientMaySend(t) ? Wait::kEitherSide : Wait::kResponseBody;
}

/// Returns the event for which the request waits until the Backend has it and has begun to answer.
ExchangeWait waitForRequest(const ExchangeState& s) {
  const Transaction& t = s.transaction;
  if (t.requestState == RequestState::kAuthenticating) return {Wait::kPassword};
  if (s.processing.starves()) return {Wait::kRequestBody};
  if (t.requestState == RequestState::kBackingOff) return {Wait::kBackoff};
  if (t.requestState == RequestState::kAcquiring) return waitForConnection(s);
  if (!isSending(s)) return {};
  if (!clientMaySend(t) || t.request.head.body == http::Body::kTunnel) return {Wait::kResponseHead};
  if (t.awaitsContinue()) return {Wait::kResponseHead};
  return {http::speaksGrpc(t.request.head) ? Wait::kEitherSide : Wait::kRequestBody};
}

}  // namespace

ExchangeWait waitOf(const ExchangeState& s) {
  const Transaction& t = s.transaction;
  if (hasSuspendedStep(s)) return {Wait::kProcessor};
  if (clientTakesNothing(t)) return {Wait::kClientCredit};
  if (backendTakesNothing(s)) return {Wait::kBackendCredit};
  switch (t.responseState) {
    case ResponseState::kWaiting:
      return waitForRequest(s);
    case ResponseState::kBackendResponse:
    case ResponseState::kResponseHeaders:
    case ResponseState::kStreaming:
      return {waitForResponseBody(t)};
    case ResponseState::kAnswering:
      return {Wait::kClientCredit};
    case ResponseState::kDone:
      return {clientMaySend(t) ? Wait::kRequestBody : Wait::kNothing};
  }
  return {};
}

base::MonotonicTime clientOwesSince(const ExchangeState& s) {
  if (!isSending(s) && s.transaction.requestState != RequestState::kPostponed) return base::MonotonicTime::max();
  switch (waitOf(s).what) {
    case Wait::kEitherSide:
      if (!isBeforeHead(s.transaction.responseState)) return base::MonotonicTime::max();
      [[fallthrough]];
    case Wait::kRequestBody:
      return std::max(s.transaction.lastProgress, s.attempts.current().begun);
    case Wait::kClientCredit:
      return s.account.owesSince();
    default:
      return base::MonotonicTime::max();
  }
}

}  // namespace sluice::exchange
