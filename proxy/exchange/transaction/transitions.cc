#include "proxy/exchange/transaction/transitions.h"

#include <array>

namespace sluice::exchange {
namespace {

using Req = RequestState;
using Res = ResponseState;
using E = Event;
using A = RequestAction;
using B = ResponseAction;

/// Adds the events that end the exchange, each of which ends the request with `action`.
constexpr void addEnds(RequestTable& table, Req state, RequestAction action) {
  for (const Event event : {E::kRequestBroken, E::kRejected, E::kClientGone, E::kDeadline, E::kInternalFailure}) {
    table.set(state, event, action, Req::kStopped);
  }
  table.set(state, E::kGiveUp, A::kNone, Req::kStopped);
}

constexpr base::Transition<Req, E, A> kRequestTransitions[] = {
    {Req::kRouting, E::kArrived, A::kRoute, Req::kRouting},
    {Req::kRouting, E::kRefusedHead, A::kNone, Req::kStopped},
    {Req::kRouting, E::kGatewaySteps, A::kProcess, Req::kBeforeRouting},
    {Req::kRouting, E::kRouteSteps, A::kProcess, Req::kFirstRound},
    {Req::kRouting, E::kStepsDone, A::kProcessTentative, Req::kTentative},
    {Req::kRouting, E::kAuthenticate, A::kAuthenticate, Req::kAuthenticating},
    {Req::kRouting, E::kAttemptSteps, A::kProcess, Req::kPreparing},
    {Req::kRouting, E::kRouted, A::kAcquire, Req::kAcquiring},
    {Req::kRouting, E::kRetry, A::kBackOff, Req::kBackingOff},

    {Req::kBeforeRouting, E::kRequestBody, A::kProcess, Req::kBeforeRouting},
    {Req::kBeforeRouting, E::kStepAnswer, A::kProcess, Req::kBeforeRouting},
    {Req::kBeforeRouting, E::kMatchAgain, A::kPassWishes, Req::kBeforeRouting},
    {Req::kBeforeRouting, E::kStepsDone, A::kMatch, Req::kRouting},

    {Req::kFirstRound, E::kRequestBody, A::kProcess, Req::kFirstRound},
    {Req::kFirstRound, E::kStepAnswer, A::kProcess, Req::kFirstRound},
    {Req::kFirstRound, E::kMatchAgain, A::kMatchAgain, Req::kFirstRound},
    {Req::kFirstRound, E::kRouteChanged, A::kProcess, Req::kFirstRound},
    {Req::kFirstRound, E::kAuthenticate, A::kAuthenticate, Req::kAuthenticating},
    {Req::kFirstRound, E::kStepsDone, A::kProcessTentative, Req::kTentative},

    {Req::kTentative, E::kRequestBody, A::kProcess, Req::kTentative},
    {Req::kTentative, E::kStepAnswer, A::kProcess, Req::kTentative},
    {Req::kTentative, E::kMatchAgain, A::kMatchAgain, Req::kTentative},
    {Req::kTentative, E::kRouteChanged, A::kProcess, Req::kFirstRound},
    {Req::kTentative, E::kAuthenticate, A::kAuthenticate, Req::kAuthenticating},
    {Req::kTentative, E::kStepsDone, A::kProcessSecond, Req::kSecondRound},

    {Req::kAuthenticating, E::kPasswordChecked, A::kAuthenticate, Req::kAuthenticating},
    {Req::kAuthenticating, E::kGatewaySteps, A::kProcess, Req::kBeforeRouting},
    {Req::kAuthenticating, E::kStepsDone, A::kProcessSecond, Req::kSecondRound},

    {Req::kSecondRound, E::kRequestBody, A::kProcess, Req::kSecondRound},
    {Req::kSecondRound, E::kStepAnswer, A::kProcess, Req::kSecondRound},
    {Req::kSecondRound, E::kMatchAgain, A::kMatchAgain, Req::kSecondRound},
    {Req::kSecondRound, E::kRouteChanged, A::kProcess, Req::kFirstRound},
    {Req::kSecondRound, E::kAuthenticate, A::kAuthenticate, Req::kAuthenticating},
    {Req::kSecondRound, E::kStepsDone, A::kEnter, Req::kPreparing},

    {Req::kPreparing, E::kAttemptSteps, A::kProcess, Req::kPreparing},
    {Req::kPreparing, E::kRequestBody, A::kProcess, Req::kPreparing},
    {Req::kPreparing, E::kStepAnswer, A::kProcess, Req::kPreparing},
    {Req::kPreparing, E::kStepsDone, A::kAdmit, Req::kPreparing},
    {Req::kPreparing, E::kRouted, A::kAcquire, Req::kAcquiring},
    {Req::kPreparing, E::kRetry, A::kBackOff, Req::kBackingOff},
    {Req::kPreparing, E::kPassOver, A::kPassOver, Req::kPreparing},

    {Req::kAcquiring, E::kPoolReady, A::kAcquire, Req::kAcquiring},
    {Req::kAcquiring, E::kConnectSteps, A::kProcess, Req::kConnecting},
    {Req::kAcquiring, E::kLeased, A::kBegin, Req::kSending},
    {Req::kAcquiring, E::kRequestBody, A::kMoveBody, Req::kAcquiring},
    {Req::kAcquiring, E::kStepAnswer, A::kMoveBody, Req::kAcquiring},
    {Req::kAcquiring, E::kRetry, A::kBackOff, Req::kBackingOff},
    {Req::kAcquiring, E::kPassOver, A::kPassOver, Req::kPreparing},

    {Req::kConnecting, E::kRequestBody, A::kProcess, Req::kConnecting},
    {Req::kConnecting, E::kStepAnswer, A::kProcess, Req::kConnecting},
    {Req::kConnecting, E::kStepsDone, A::kAcquireAllowed, Req::kAcquiring},
    {Req::kConnecting, E::kRetry, A::kBackOff, Req::kBackingOff},

    {Req::kPostponed, E::kRequestBody, A::kProcess, Req::kPostponed},
    {Req::kPostponed, E::kStepAnswer, A::kProcess, Req::kPostponed},
    {Req::kPostponed, E::kStepsDone, A::kAcquire, Req::kAcquiring},
    {Req::kPostponed, E::kRetry, A::kBackOff, Req::kBackingOff},

    {Req::kSending, E::kRequestBody, A::kForwardRequest, Req::kSending},
    {Req::kSending, E::kRequestTaken, A::kGrantClient, Req::kSending},
    {Req::kSending, E::kStepAnswer, A::kForwardRequest, Req::kSending},
    {Req::kSending, E::kPostponed, A::kNone, Req::kPostponed},
    {Req::kSending, E::kConnectionRefused, A::kAcquire, Req::kAcquiring},
    {Req::kSending, E::kRequestSent, A::kDismissClient, Req::kSent},
    {Req::kSending, E::kAttemptExpired, A::kCancelUpstream, Req::kSending},
    {Req::kSending, E::kRepeat, A::kRepeat, Req::kPreparing},
    {Req::kSending, E::kRetry, A::kBackOff, Req::kBackingOff},
    // An early response is complete, so the remaining bytes of the request are not needed.
    {Req::kSending, E::kResponseSent, A::kCancelUpstream, Req::kStopped},

    {Req::kSending, E::kTunnelRefused, A::kCancelUpstream, Req::kStopped},

    {Req::kSent, E::kRequestTaken, A::kGrantClient, Req::kSent},
    {Req::kSent, E::kAttemptExpired, A::kCancelUpstream, Req::kSent},
    {Req::kSent, E::kRepeat, A::kRepeat, Req::kPreparing},
    {Req::kSent, E::kRetry, A::kBackOff, Req::kBackingOff},
    // This has an effect only if the backend has left a stream open whose response was complete with its head.
    {Req::kSent, E::kResponseSent, A::kCancelUpstream, Req::kStopped},

    {Req::kBackingOff, E::kRetryDue, A::kPrepare, Req::kPreparing},
    {Req::kBackingOff, E::kRequestBody, A::kMoveBody, Req::kBackingOff},
    {Req::kBackingOff, E::kStepAnswer, A::kMoveBody, Req::kBackingOff},
};

constexpr RequestTable makeRequestTable() {
  RequestTable table;
  for (const Req state : {Req::kRouting, Req::kBeforeRouting, Req::kFirstRound, Req::kTentative, Req::kAuthenticating,
                          Req::kSecondRound, Req::kPreparing, Req::kPostponed, Req::kBackingOff}) {
    addEnds(table, state, A::kNone);
  }
  for (const Req state : {Req::kAcquiring, Req::kConnecting}) addEnds(table, state, A::kAbandon);
  for (const Req state : {Req::kSending, Req::kSent}) addEnds(table, state, A::kCancelUpstream);
  table.set(kRequestTransitions);
  return table;
}

constexpr base::Transition<Res, E, B> kResponseTransitions[] = {
    {Res::kWaiting, E::kRefusedHead, B::kReply, Res::kAnswering},
    {Res::kWaiting, E::kUnavailable, B::kJudgeFailure, Res::kWaiting},
    {Res::kWaiting, E::kInterim, B::kForwardInterim, Res::kWaiting},
    {Res::kWaiting, E::kProceedDue, B::kProceed, Res::kWaiting},
    {Res::kWaiting, E::kResponseArrived, B::kProcessResponse, Res::kBackendResponse},
    {Res::kWaiting, E::kResponseRefused, B::kJudgeResponse, Res::kWaiting},
    {Res::kWaiting, E::kResponseHead, B::kProcessHead, Res::kResponseHeaders},
    {Res::kWaiting, E::kResponseReady, B::kStartResponse, Res::kStreaming},
    {Res::kWaiting, E::kUpstreamReset, B::kJudgeFailure, Res::kWaiting},
    {Res::kWaiting, E::kAttemptExpired, B::kJudgeFailure, Res::kWaiting},

    {Res::kBackendResponse, E::kResponseBody, B::kProcessOn, Res::kBackendResponse},
    {Res::kBackendResponse, E::kStepAnswer, B::kProcessOn, Res::kBackendResponse},
    {Res::kBackendResponse, E::kResponseStepsDone, B::kJudgeStatus, Res::kWaiting},
    {Res::kBackendResponse, E::kUpstreamReset, B::kJudgeFailure, Res::kBackendResponse},
    {Res::kBackendResponse, E::kAttemptExpired, B::kJudgeFailure, Res::kBackendResponse},
    {Res::kBackendResponse, E::kRepeat, B::kNone, Res::kWaiting},
    {Res::kBackendResponse, E::kRetry, B::kNone, Res::kWaiting},

    {Res::kResponseHeaders, E::kResponseBody, B::kProcessOn, Res::kResponseHeaders},
    {Res::kResponseHeaders, E::kStepAnswer, B::kProcessOn, Res::kResponseHeaders},
    {Res::kResponseHeaders, E::kResponseStepsDone, B::kStartResponse, Res::kStreaming},
    {Res::kResponseHeaders, E::kUpstreamReset, B::kGiveUp, Res::kResponseHeaders},
    {Res::kResponseHeaders, E::kAttemptExpired, B::kGiveUp, Res::kResponseHeaders},

    {Res::kStreaming, E::kResponseBody, B::kForwardResponse, Res::kStreaming},
    {Res::kStreaming, E::kStepAnswer, B::kForwardResponse, Res::kStreaming},
    {Res::kStreaming, E::kResponseTaken, B::kGrantUpstream, Res::kStreaming},
    {Res::kStreaming, E::kResponseSent, B::kNone, Res::kDone},
    {Res::kStreaming, E::kUpstreamReset, B::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kRejected, B::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kAttemptExpired, B::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kRequestBroken, B::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kTunnelRefused, B::kRefuseTunnel, Res::kStreaming},
    {Res::kStreaming, E::kDeadline, B::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kInternalFailure, B::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kClientGone, B::kDropMirrors, Res::kDone},

    {Res::kAnswering, E::kResponseBody, B::kForwardResponse, Res::kAnswering},
    {Res::kAnswering, E::kResponseSent, B::kNone, Res::kDone},
    {Res::kAnswering, E::kDeadline, B::kBreakResponse, Res::kDone},
    {Res::kAnswering, E::kInternalFailure, B::kBreakResponse, Res::kDone},
    {Res::kAnswering, E::kClientGone, B::kDropMirrors, Res::kDone},
};

constexpr ResponseTable makeResponseTable() {
  ResponseTable table;
  for (const Res state : {Res::kWaiting, Res::kBackendResponse, Res::kResponseHeaders}) {
    for (const Event event : {E::kRequestBroken, E::kRejected, E::kGiveUp, E::kDeadline, E::kInternalFailure}) {
      table.set(state, event, B::kReply, Res::kAnswering);
    }
    table.set(state, E::kClientGone, B::kDropMirrors, Res::kDone);
  }
  table.set(kResponseTransitions);
  return table;
}

constexpr std::array<std::string_view, kRequestStates> kRequestNames{
    "routing",   "before-routing", "first-round", "tentative", "authenticating", "second-round", "preparing",
    "acquiring", "connecting",     "postponed",   "sending",   "sent",           "backing-off",  "stopped"};
constexpr std::array<std::string_view, kResponseStates> kResponseNames{
    "waiting", "backend-response", "response-headers", "streaming", "answering", "done"};
constexpr std::array<std::string_view, kEvents> kEventNames{"arrived",
                                                            "refused head",
                                                            "request broken",
                                                            "gateway steps",
                                                            "route steps",
                                                            "authenticate",
                                                            "routed",
                                                            "rejected",
                                                            "client gone",
                                                            "repeat",
                                                            "retry",
                                                            "pass over",
                                                            "give up",
                                                            "retry due",
                                                            "match again",
                                                            "route changed",
                                                            "steps done",
                                                            "attempt steps",
                                                            "connect steps",
                                                            "pool ready",
                                                            "leased",
                                                            "postponed",
                                                            "connection refused",
                                                            "unavailable",
                                                            "request body",
                                                            "request taken",
                                                            "request sent",
                                                            "password checked",
                                                            "step answer",
                                                            "interim",
                                                            "response arrived",
                                                            "response steps done",
                                                            "response refused",
                                                            "response head",
                                                            "response ready",
                                                            "proceed due",
                                                            "response body",
                                                            "response taken",
                                                            "upstream reset",
                                                            "attempt expired",
                                                            "response sent",
                                                            "tunnel refused",
                                                            "deadline",
                                                            "internal failure"};

}  // namespace

constinit const RequestTable kRequestTable = makeRequestTable();
constinit const ResponseTable kResponseTable = makeResponseTable();

std::string_view requestStateName(RequestState state) { return kRequestNames[static_cast<std::size_t>(state)]; }
std::string_view responseStateName(ResponseState state) { return kResponseNames[static_cast<std::size_t>(state)]; }
std::string_view eventName(Event event) { return kEventNames[static_cast<std::size_t>(event)]; }

}  // namespace sluice::exchange
