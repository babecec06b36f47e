#include "proxy/exchange/transaction/transitions.h"

#include <gtest/gtest.h>

#include <queue>
#include <set>
#include <utility>

#include "test/support/expected_cells.h"

namespace sluice::exchange {
namespace {

using Req = RequestState;
using Res = ResponseState;
using E = Event;
using A = RequestAction;
using B = ResponseAction;

// The tables are written out a second time, row by row, so a change of a table has to be made here too.
const test::ExpectedCells<Req, E, A> kRequestCells{
    {{Req::kRouting, E::kArrived}, {A::kRoute, Req::kRouting}},
    {{Req::kRouting, E::kRefusedHead}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kGatewaySteps}, {A::kProcess, Req::kBeforeRouting}},
    {{Req::kRouting, E::kRouteSteps}, {A::kProcess, Req::kFirstRound}},
    {{Req::kRouting, E::kStepsDone}, {A::kProcessTentative, Req::kTentative}},
    {{Req::kRouting, E::kAuthenticate}, {A::kAuthenticate, Req::kAuthenticating}},
    {{Req::kRouting, E::kAttemptSteps}, {A::kProcess, Req::kPreparing}},
    {{Req::kRouting, E::kRouted}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kRouting, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kRouting, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kBeforeRouting, E::kRequestBody}, {A::kProcess, Req::kBeforeRouting}},
    {{Req::kBeforeRouting, E::kStepAnswer}, {A::kProcess, Req::kBeforeRouting}},
    {{Req::kBeforeRouting, E::kMatchAgain}, {A::kPassWishes, Req::kBeforeRouting}},
    {{Req::kBeforeRouting, E::kStepsDone}, {A::kMatch, Req::kRouting}},
    {{Req::kBeforeRouting, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kBeforeRouting, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kBeforeRouting, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kBeforeRouting, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kBeforeRouting, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kBeforeRouting, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kFirstRound, E::kRequestBody}, {A::kProcess, Req::kFirstRound}},
    {{Req::kFirstRound, E::kStepAnswer}, {A::kProcess, Req::kFirstRound}},
    {{Req::kFirstRound, E::kMatchAgain}, {A::kMatchAgain, Req::kFirstRound}},
    {{Req::kFirstRound, E::kRouteChanged}, {A::kProcess, Req::kFirstRound}},
    {{Req::kFirstRound, E::kAuthenticate}, {A::kAuthenticate, Req::kAuthenticating}},
    {{Req::kFirstRound, E::kStepsDone}, {A::kProcessTentative, Req::kTentative}},
    {{Req::kFirstRound, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kFirstRound, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kFirstRound, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kFirstRound, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kFirstRound, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kFirstRound, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kTentative, E::kRequestBody}, {A::kProcess, Req::kTentative}},
    {{Req::kTentative, E::kStepAnswer}, {A::kProcess, Req::kTentative}},
    {{Req::kTentative, E::kMatchAgain}, {A::kMatchAgain, Req::kTentative}},
    {{Req::kTentative, E::kRouteChanged}, {A::kProcess, Req::kFirstRound}},
    {{Req::kTentative, E::kAuthenticate}, {A::kAuthenticate, Req::kAuthenticating}},
    {{Req::kTentative, E::kStepsDone}, {A::kProcessSecond, Req::kSecondRound}},
    {{Req::kTentative, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kTentative, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kTentative, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kTentative, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kTentative, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kTentative, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kAuthenticating, E::kPasswordChecked}, {A::kAuthenticate, Req::kAuthenticating}},
    {{Req::kAuthenticating, E::kGatewaySteps}, {A::kProcess, Req::kBeforeRouting}},
    {{Req::kAuthenticating, E::kStepsDone}, {A::kProcessSecond, Req::kSecondRound}},
    {{Req::kAuthenticating, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kAuthenticating, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kAuthenticating, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kAuthenticating, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kAuthenticating, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kAuthenticating, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kSecondRound, E::kAuthenticate}, {A::kAuthenticate, Req::kAuthenticating}},
    {{Req::kSecondRound, E::kRequestBody}, {A::kProcess, Req::kSecondRound}},
    {{Req::kSecondRound, E::kStepAnswer}, {A::kProcess, Req::kSecondRound}},
    {{Req::kSecondRound, E::kMatchAgain}, {A::kMatchAgain, Req::kSecondRound}},
    {{Req::kSecondRound, E::kRouteChanged}, {A::kProcess, Req::kFirstRound}},
    {{Req::kSecondRound, E::kStepsDone}, {A::kEnter, Req::kPreparing}},
    {{Req::kSecondRound, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kSecondRound, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kSecondRound, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kSecondRound, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kSecondRound, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kSecondRound, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kPreparing, E::kRequestBody}, {A::kProcess, Req::kPreparing}},
    {{Req::kPreparing, E::kStepAnswer}, {A::kProcess, Req::kPreparing}},
    {{Req::kPreparing, E::kAttemptSteps}, {A::kProcess, Req::kPreparing}},
    {{Req::kPreparing, E::kStepsDone}, {A::kAdmit, Req::kPreparing}},
    {{Req::kPreparing, E::kRouted}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kPreparing, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kPreparing, E::kPassOver}, {A::kPassOver, Req::kPreparing}},
    {{Req::kPreparing, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kPreparing, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kPreparing, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kPreparing, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kPreparing, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kPreparing, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kAcquiring, E::kRequestBody}, {A::kMoveBody, Req::kAcquiring}},
    {{Req::kAcquiring, E::kStepAnswer}, {A::kMoveBody, Req::kAcquiring}},
    {{Req::kAcquiring, E::kPoolReady}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kAcquiring, E::kConnectSteps}, {A::kProcess, Req::kConnecting}},
    {{Req::kAcquiring, E::kLeased}, {A::kBegin, Req::kSending}},
    {{Req::kAcquiring, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kAcquiring, E::kPassOver}, {A::kPassOver, Req::kPreparing}},
    {{Req::kAcquiring, E::kRequestBroken}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kRejected}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kClientGone}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kDeadline}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kInternalFailure}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kConnecting, E::kRequestBody}, {A::kProcess, Req::kConnecting}},
    {{Req::kConnecting, E::kStepAnswer}, {A::kProcess, Req::kConnecting}},
    {{Req::kConnecting, E::kStepsDone}, {A::kAcquireAllowed, Req::kAcquiring}},
    {{Req::kConnecting, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kConnecting, E::kRequestBroken}, {A::kAbandon, Req::kStopped}},
    {{Req::kConnecting, E::kRejected}, {A::kAbandon, Req::kStopped}},
    {{Req::kConnecting, E::kClientGone}, {A::kAbandon, Req::kStopped}},
    {{Req::kConnecting, E::kDeadline}, {A::kAbandon, Req::kStopped}},
    {{Req::kConnecting, E::kInternalFailure}, {A::kAbandon, Req::kStopped}},
    {{Req::kConnecting, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kPostponed, E::kRequestBody}, {A::kProcess, Req::kPostponed}},
    {{Req::kPostponed, E::kStepAnswer}, {A::kProcess, Req::kPostponed}},
    {{Req::kPostponed, E::kStepsDone}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kPostponed, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kPostponed, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kPostponed, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kPostponed, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kPostponed, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kPostponed, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kPostponed, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kSending, E::kRequestBody}, {A::kForwardRequest, Req::kSending}},
    {{Req::kSending, E::kStepAnswer}, {A::kForwardRequest, Req::kSending}},
    {{Req::kSending, E::kRequestTaken}, {A::kGrantClient, Req::kSending}},
    {{Req::kSending, E::kPostponed}, {A::kNone, Req::kPostponed}},
    {{Req::kSending, E::kConnectionRefused}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kSending, E::kRequestSent}, {A::kDismissClient, Req::kSent}},
    {{Req::kSending, E::kTunnelRefused}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kRequestTaken}, {A::kGrantClient, Req::kSent}},
    {{Req::kSending, E::kAttemptExpired}, {A::kCancelUpstream, Req::kSending}},
    {{Req::kSending, E::kRepeat}, {A::kRepeat, Req::kPreparing}},
    {{Req::kSending, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kSending, E::kResponseSent}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kRequestBroken}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kRejected}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kClientGone}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kDeadline}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kInternalFailure}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kSent, E::kAttemptExpired}, {A::kCancelUpstream, Req::kSent}},
    {{Req::kSent, E::kRepeat}, {A::kRepeat, Req::kPreparing}},
    {{Req::kSent, E::kRetry}, {A::kBackOff, Req::kBackingOff}},
    {{Req::kSent, E::kResponseSent}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kRequestBroken}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kRejected}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kClientGone}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kDeadline}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kInternalFailure}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kBackingOff, E::kRequestBody}, {A::kMoveBody, Req::kBackingOff}},
    {{Req::kBackingOff, E::kStepAnswer}, {A::kMoveBody, Req::kBackingOff}},
    {{Req::kBackingOff, E::kRetryDue}, {A::kPrepare, Req::kPreparing}},
    {{Req::kBackingOff, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kBackingOff, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kBackingOff, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kBackingOff, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kBackingOff, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kBackingOff, E::kGiveUp}, {A::kNone, Req::kStopped}},
};

const test::ExpectedCells<Res, E, B> kResponseCells{
    {{Res::kWaiting, E::kRefusedHead}, {B::kReply, Res::kAnswering}},
    {{Res::kWaiting, E::kRequestBroken}, {B::kReply, Res::kAnswering}},
    {{Res::kWaiting, E::kRejected}, {B::kReply, Res::kAnswering}},
    {{Res::kWaiting, E::kGiveUp}, {B::kReply, Res::kAnswering}},
    {{Res::kWaiting, E::kDeadline}, {B::kReply, Res::kAnswering}},
    {{Res::kWaiting, E::kInternalFailure}, {B::kReply, Res::kAnswering}},
    {{Res::kWaiting, E::kClientGone}, {B::kDropMirrors, Res::kDone}},
    {{Res::kWaiting, E::kUnavailable}, {B::kJudgeFailure, Res::kWaiting}},
    {{Res::kWaiting, E::kInterim}, {B::kForwardInterim, Res::kWaiting}},
    {{Res::kWaiting, E::kProceedDue}, {B::kProceed, Res::kWaiting}},
    {{Res::kWaiting, E::kResponseArrived}, {B::kProcessResponse, Res::kBackendResponse}},
    {{Res::kWaiting, E::kResponseRefused}, {B::kJudgeResponse, Res::kWaiting}},
    {{Res::kWaiting, E::kResponseHead}, {B::kProcessHead, Res::kResponseHeaders}},
    {{Res::kWaiting, E::kResponseReady}, {B::kStartResponse, Res::kStreaming}},
    {{Res::kWaiting, E::kUpstreamReset}, {B::kJudgeFailure, Res::kWaiting}},
    {{Res::kWaiting, E::kAttemptExpired}, {B::kJudgeFailure, Res::kWaiting}},
    {{Res::kBackendResponse, E::kRequestBroken}, {B::kReply, Res::kAnswering}},
    {{Res::kBackendResponse, E::kRejected}, {B::kReply, Res::kAnswering}},
    {{Res::kBackendResponse, E::kGiveUp}, {B::kReply, Res::kAnswering}},
    {{Res::kBackendResponse, E::kDeadline}, {B::kReply, Res::kAnswering}},
    {{Res::kBackendResponse, E::kInternalFailure}, {B::kReply, Res::kAnswering}},
    {{Res::kBackendResponse, E::kClientGone}, {B::kDropMirrors, Res::kDone}},
    {{Res::kBackendResponse, E::kResponseBody}, {B::kProcessOn, Res::kBackendResponse}},
    {{Res::kBackendResponse, E::kStepAnswer}, {B::kProcessOn, Res::kBackendResponse}},
    {{Res::kBackendResponse, E::kResponseStepsDone}, {B::kJudgeStatus, Res::kWaiting}},
    {{Res::kBackendResponse, E::kUpstreamReset}, {B::kJudgeFailure, Res::kBackendResponse}},
    {{Res::kBackendResponse, E::kAttemptExpired}, {B::kJudgeFailure, Res::kBackendResponse}},
    {{Res::kBackendResponse, E::kRepeat}, {B::kNone, Res::kWaiting}},
    {{Res::kBackendResponse, E::kRetry}, {B::kNone, Res::kWaiting}},
    {{Res::kResponseHeaders, E::kRequestBroken}, {B::kReply, Res::kAnswering}},
    {{Res::kResponseHeaders, E::kRejected}, {B::kReply, Res::kAnswering}},
    {{Res::kResponseHeaders, E::kGiveUp}, {B::kReply, Res::kAnswering}},
    {{Res::kResponseHeaders, E::kDeadline}, {B::kReply, Res::kAnswering}},
    {{Res::kResponseHeaders, E::kInternalFailure}, {B::kReply, Res::kAnswering}},
    {{Res::kResponseHeaders, E::kClientGone}, {B::kDropMirrors, Res::kDone}},
    {{Res::kResponseHeaders, E::kResponseBody}, {B::kProcessOn, Res::kResponseHeaders}},
    {{Res::kResponseHeaders, E::kStepAnswer}, {B::kProcessOn, Res::kResponseHeaders}},
    {{Res::kResponseHeaders, E::kResponseStepsDone}, {B::kStartResponse, Res::kStreaming}},
    {{Res::kResponseHeaders, E::kUpstreamReset}, {B::kGiveUp, Res::kResponseHeaders}},
    {{Res::kResponseHeaders, E::kAttemptExpired}, {B::kGiveUp, Res::kResponseHeaders}},
    {{Res::kStreaming, E::kStepAnswer}, {B::kForwardResponse, Res::kStreaming}},
    {{Res::kStreaming, E::kRejected}, {B::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kResponseBody}, {B::kForwardResponse, Res::kStreaming}},
    {{Res::kStreaming, E::kResponseTaken}, {B::kGrantUpstream, Res::kStreaming}},
    {{Res::kStreaming, E::kResponseSent}, {B::kNone, Res::kDone}},
    {{Res::kStreaming, E::kUpstreamReset}, {B::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kAttemptExpired}, {B::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kRequestBroken}, {B::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kTunnelRefused}, {B::kRefuseTunnel, Res::kStreaming}},
    {{Res::kStreaming, E::kDeadline}, {B::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kInternalFailure}, {B::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kClientGone}, {B::kDropMirrors, Res::kDone}},
    {{Res::kAnswering, E::kResponseBody}, {B::kForwardResponse, Res::kAnswering}},
    {{Res::kAnswering, E::kResponseSent}, {B::kNone, Res::kDone}},
    {{Res::kAnswering, E::kDeadline}, {B::kBreakResponse, Res::kDone}},
    {{Res::kAnswering, E::kInternalFailure}, {B::kBreakResponse, Res::kDone}},
    {{Res::kAnswering, E::kClientGone}, {B::kDropMirrors, Res::kDone}},
};

TEST(Transitions, EveryRequestCellIsAsWritten) { test::expectCells(kRequestTable, kRequestCells); }

TEST(Transitions, EveryResponseCellIsAsWritten) { test::expectCells(kResponseTable, kResponseCells); }

TEST(Transitions, EndStatesAreNeverLeft) {
  for (std::size_t e = 0; e < kEvents; ++e) {
    EXPECT_EQ(requestCell(Req::kStopped, static_cast<Event>(e)).next, Req::kStopped);
    EXPECT_EQ(requestCell(Req::kStopped, static_cast<Event>(e)).action, A::kNone);
    EXPECT_EQ(responseCell(Res::kDone, static_cast<Event>(e)).next, Res::kDone);
    EXPECT_EQ(responseCell(Res::kDone, static_cast<Event>(e)).action, B::kNone);
  }
}

// The loss of the client ends both machines in every state, so that no exchange outlives its client unnoticed.
TEST(Transitions, ALostClientEndsTheExchangeFromEveryReachablePair) {
  std::set<std::pair<Req, Res>> seen{{Req::kRouting, Res::kWaiting}};
  std::queue<std::pair<Req, Res>> todo;
  todo.push({Req::kRouting, Res::kWaiting});
  while (!todo.empty()) {
    const auto [request, response] = todo.front();
    todo.pop();
    const Req requestEnd = requestCell(request, E::kClientGone).next;
    const Res responseEnd = responseCell(response, E::kClientGone).next;
    EXPECT_EQ(responseEnd, Res::kDone);
    // A break raises kGiveUp, which ends the request's side after the response's has ended.
    if (response != Res::kDone) {
      EXPECT_EQ(requestEnd, Req::kStopped);
    }
    for (std::size_t e = 0; e < kEvents; ++e) {
      const auto event = static_cast<Event>(e);
      const std::pair<Req, Res> next{requestCell(request, event).next, responseCell(response, event).next};
      if (seen.insert(next).second) todo.push(next);
    }
  }
  EXPECT_TRUE(seen.contains({Req::kStopped, Res::kDone}));
}

TEST(Transitions, EveryStateAndEventHasAName) {
  for (std::size_t i = 0; i < kRequestStates; ++i) EXPECT_FALSE(requestStateName(static_cast<Req>(i)).empty());
  for (std::size_t i = 0; i < kResponseStates; ++i) EXPECT_FALSE(responseStateName(static_cast<Res>(i)).empty());
  for (std::size_t i = 0; i < kEvents; ++i) EXPECT_FALSE(eventName(static_cast<Event>(i)).empty());
}

}  // namespace
}  // namespace sluice::exchange
