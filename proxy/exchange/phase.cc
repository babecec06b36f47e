#include "proxy/exchange/phase.h"

namespace sluice::exchange {
namespace {

template <typename State>
struct Entry {
  State state;
  Event event;
  Action action;
  State next;
};

template <typename State, std::size_t kStates, std::size_t kCount>
constexpr CellTable<State, kStates> makeTable(const Entry<State> (&entries)[kCount]) {
  CellTable<State, kStates> table{};
  for (std::size_t state = 0; state < kStates; ++state) {
    for (auto& cell : table[state]) cell = {Action::kNone, static_cast<State>(state)};
  }
  for (const auto& entry : entries) {
    table[static_cast<std::size_t>(entry.state)][static_cast<std::size_t>(entry.event)] = {entry.action, entry.next};
  }
  return table;
}

using Req = RequestState;
using Res = ResponseState;
using E = Event;
using A = Action;

constexpr Entry<Req> kRequestEntries[] = {
    {Req::kRouting, E::kArrived, A::kRoute, Req::kRouting},
    {Req::kRouting, E::kRefusedHead, A::kNone, Req::kStopped},
    {Req::kRouting, E::kRequestBroken, A::kNone, Req::kStopped},
    {Req::kRouting, E::kRejected, A::kNone, Req::kStopped},
    {Req::kRouting, E::kRouted, A::kAcquire, Req::kAcquiring},
    // Steps of processors wait for a body, or for an answer.
    {Req::kRouting, E::kRequestBody, A::kProcess, Req::kRouting},
    {Req::kRouting, E::kStepAnswer, A::kProcess, Req::kRouting},
    // Between two attempts.
    {Req::kRouting, E::kRetry, A::kBackOff, Req::kRouting},
    {Req::kRouting, E::kRetryDue, A::kEnter, Req::kRouting},
    {Req::kRouting, E::kGiveUp, A::kNone, Req::kStopped},
    {Req::kRouting, E::kClientGone, A::kNone, Req::kStopped},
    {Req::kRouting, E::kDeadline, A::kNone, Req::kStopped},
    {Req::kRouting, E::kInternalFailure, A::kNone, Req::kStopped},

    {Req::kAcquiring, E::kPoolReady, A::kAcquire, Req::kAcquiring},
    {Req::kAcquiring, E::kLeased, A::kBegin, Req::kSending},
    {Req::kAcquiring, E::kRequestBody, A::kProcess, Req::kAcquiring},
    {Req::kAcquiring, E::kStepAnswer, A::kProcess, Req::kAcquiring},
    {Req::kAcquiring, E::kRejected, A::kAbandon, Req::kStopped},
    {Req::kAcquiring, E::kRetry, A::kBackOff, Req::kRouting},
    {Req::kAcquiring, E::kGiveUp, A::kNone, Req::kStopped},
    {Req::kAcquiring, E::kRequestBroken, A::kAbandon, Req::kStopped},
    {Req::kAcquiring, E::kClientGone, A::kAbandon, Req::kStopped},
    {Req::kAcquiring, E::kDeadline, A::kAbandon, Req::kStopped},
    {Req::kAcquiring, E::kInternalFailure, A::kAbandon, Req::kStopped},

    {Req::kSending, E::kRequestBody, A::kForwardRequest, Req::kSending},
    {Req::kSending, E::kRequestTaken, A::kGrantClient, Req::kSending},
    {Req::kSending, E::kStepAnswer, A::kForwardRequest, Req::kSending},
    {Req::kSending, E::kPostponed, A::kNone, Req::kRouting},
    {Req::kSending, E::kRequestSent, A::kDismissClient, Req::kSent},
    {Req::kSending, E::kAttemptExpired, A::kCancelUpstream, Req::kSending},
    {Req::kSending, E::kRepeat, A::kRepeat, Req::kRouting},
    {Req::kSending, E::kRetry, A::kBackOff, Req::kRouting},
    {Req::kSending, E::kGiveUp, A::kNone, Req::kStopped},
    {Req::kSending, E::kRejected, A::kCancelUpstream, Req::kStopped},
    {Req::kSending, E::kRequestBroken, A::kCancelUpstream, Req::kStopped},
    {Req::kSending, E::kClientGone, A::kCancelUpstream, Req::kStopped},
    {Req::kSending, E::kDeadline, A::kCancelUpstream, Req::kStopped},
    // An early response is complete: whatever of the request is still to come has lost its purpose.
    {Req::kSending, E::kResponseSent, A::kCancelUpstream, Req::kStopped},
    {Req::kSending, E::kInternalFailure, A::kCancelUpstream, Req::kStopped},

    {Req::kSent, E::kRequestTaken, A::kGrantClient, Req::kSent},
    {Req::kSent, E::kAttemptExpired, A::kCancelUpstream, Req::kSent},
    {Req::kSent, E::kRepeat, A::kRepeat, Req::kRouting},
    {Req::kSent, E::kRetry, A::kBackOff, Req::kRouting},
    {Req::kSent, E::kGiveUp, A::kNone, Req::kStopped},
    {Req::kSent, E::kRejected, A::kCancelUpstream, Req::kStopped},
    {Req::kSent, E::kRequestBroken, A::kCancelUpstream, Req::kStopped},
    {Req::kSent, E::kClientGone, A::kCancelUpstream, Req::kStopped},
    {Req::kSent, E::kDeadline, A::kCancelUpstream, Req::kStopped},
    // Nothing is left to cut, unless the backend leaves open a stream whose response was complete with its head.
    {Req::kSent, E::kResponseSent, A::kCancelUpstream, Req::kStopped},
    {Req::kSent, E::kInternalFailure, A::kCancelUpstream, Req::kStopped},
};

constexpr Entry<Res> kResponseEntries[] = {
    {Res::kWaiting, E::kRefusedHead, A::kAnswer, Res::kAnswering},
    {Res::kWaiting, E::kRequestBroken, A::kAnswer, Res::kAnswering},
    {Res::kWaiting, E::kRejected, A::kAnswer, Res::kAnswering},
    {Res::kWaiting, E::kUnavailable, A::kJudgeFailure, Res::kWaiting},
    {Res::kWaiting, E::kInterim, A::kForwardInterim, Res::kWaiting},
    {Res::kWaiting, E::kResponseArrived, A::kProcessResponse, Res::kWaiting},
    {Res::kWaiting, E::kResponseHead, A::kProcessHead, Res::kWaiting},
    {Res::kWaiting, E::kResponseBody, A::kProcessOn, Res::kWaiting},
    {Res::kWaiting, E::kStepAnswer, A::kProcessOn, Res::kWaiting},
    {Res::kWaiting, E::kResponseReady, A::kStartResponse, Res::kStreaming},
    {Res::kWaiting, E::kResponseRefused, A::kJudgeResponse, Res::kWaiting},
    {Res::kWaiting, E::kUpstreamReset, A::kJudgeFailure, Res::kWaiting},
    {Res::kWaiting, E::kAttemptExpired, A::kJudgeFailure, Res::kWaiting},
    {Res::kWaiting, E::kGiveUp, A::kAnswer, Res::kAnswering},
    {Res::kWaiting, E::kDeadline, A::kAnswer, Res::kAnswering},
    {Res::kWaiting, E::kInternalFailure, A::kAnswer, Res::kAnswering},
    {Res::kWaiting, E::kClientGone, A::kDropMirrors, Res::kDone},

    {Res::kStreaming, E::kResponseBody, A::kForwardResponse, Res::kStreaming},
    {Res::kStreaming, E::kStepAnswer, A::kForwardResponse, Res::kStreaming},
    {Res::kStreaming, E::kResponseTaken, A::kGrantUpstream, Res::kStreaming},
    {Res::kStreaming, E::kResponseSent, A::kNone, Res::kDone},
    {Res::kStreaming, E::kUpstreamReset, A::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kRejected, A::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kAttemptExpired, A::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kRequestBroken, A::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kDeadline, A::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kInternalFailure, A::kBreakResponse, Res::kDone},
    {Res::kStreaming, E::kClientGone, A::kDropMirrors, Res::kDone},

    {Res::kAnswering, E::kResponseBody, A::kForwardResponse, Res::kAnswering},
    {Res::kAnswering, E::kResponseSent, A::kNone, Res::kDone},
    {Res::kAnswering, E::kDeadline, A::kBreakResponse, Res::kDone},
    {Res::kAnswering, E::kInternalFailure, A::kBreakResponse, Res::kDone},
    {Res::kAnswering, E::kClientGone, A::kDropMirrors, Res::kDone},
};

constexpr std::array<std::string_view, kRequestStates> kRequestNames{"routing", "acquiring", "sending", "sent",
                                                                     "stopped"};
constexpr std::array<std::string_view, kResponseStates> kResponseNames{"waiting", "streaming", "answering", "done"};
constexpr std::array<std::string_view, kEvents> kEventNames{
    "arrived",          "refused head",    "request broken", "routed",        "rejected",
    "client gone",      "repeat",          "retry",          "give up",       "retry due",
    "pool ready",       "leased",          "postponed",      "unavailable",   "request body",
    "request taken",    "request sent",    "step answer",    "interim",       "response arrived",
    "response refused", "response head",   "response ready", "response body", "response taken",
    "upstream reset",   "attempt expired", "response sent",  "deadline",      "internal failure"};

}  // namespace

constinit const CellTable<Req, kRequestStates> kRequestTable = makeTable<Req, kRequestStates>(kRequestEntries);
constinit const CellTable<Res, kResponseStates> kResponseTable = makeTable<Res, kResponseStates>(kResponseEntries);

std::string_view requestStateName(RequestState state) { return kRequestNames[static_cast<std::size_t>(state)]; }
std::string_view responseStateName(ResponseState state) { return kResponseNames[static_cast<std::size_t>(state)]; }
std::string_view eventName(Event event) { return kEventNames[static_cast<std::size_t>(event)]; }

}  // namespace sluice::exchange
