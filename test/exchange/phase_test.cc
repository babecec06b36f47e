#include "proxy/exchange/phase.h"

#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>

namespace sluice::exchange {
namespace {

using Req = RequestState;
using Res = ResponseState;
using E = Event;
using A = Action;

template <typename State>
using ExpectedCells = std::map<std::pair<State, Event>, Cell<State>>;

// Written out a second time, row by row: whoever changes a table has to say here what it shall be.
const ExpectedCells<Req> kRequestCells{
    {{Req::kRouting, E::kArrived}, {A::kRoute, Req::kRouting}},
    {{Req::kRouting, E::kRefusedHead}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kRequestBroken}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kRejected}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kRouted}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kRouting, E::kRetry}, {A::kBackOff, Req::kRouting}},
    {{Req::kRouting, E::kRetryDue}, {A::kEnter, Req::kRouting}},
    {{Req::kRouting, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kClientGone}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kDeadline}, {A::kNone, Req::kStopped}},
    {{Req::kRouting, E::kInternalFailure}, {A::kNone, Req::kStopped}},
    {{Req::kAcquiring, E::kPoolReady}, {A::kAcquire, Req::kAcquiring}},
    {{Req::kAcquiring, E::kLeased}, {A::kBegin, Req::kSending}},
    {{Req::kAcquiring, E::kRetry}, {A::kBackOff, Req::kRouting}},
    {{Req::kAcquiring, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kAcquiring, E::kRequestBroken}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kClientGone}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kDeadline}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kInternalFailure}, {A::kAbandon, Req::kStopped}},
    {{Req::kAcquiring, E::kRequestBody}, {A::kProcess, Req::kAcquiring}},
    {{Req::kAcquiring, E::kStepAnswer}, {A::kProcess, Req::kAcquiring}},
    {{Req::kAcquiring, E::kRejected}, {A::kAbandon, Req::kStopped}},
    {{Req::kSending, E::kRequestBody}, {A::kForwardRequest, Req::kSending}},
    {{Req::kRouting, E::kRequestBody}, {A::kProcess, Req::kRouting}},
    {{Req::kRouting, E::kStepAnswer}, {A::kProcess, Req::kRouting}},
    {{Req::kSending, E::kStepAnswer}, {A::kForwardRequest, Req::kSending}},
    {{Req::kSending, E::kPostponed}, {A::kNone, Req::kRouting}},
    {{Req::kSending, E::kRequestTaken}, {A::kGrantClient, Req::kSending}},
    {{Req::kSending, E::kRequestSent}, {A::kDismissClient, Req::kSent}},
    {{Req::kSending, E::kAttemptExpired}, {A::kCancelUpstream, Req::kSending}},
    {{Req::kSending, E::kRepeat}, {A::kRepeat, Req::kRouting}},
    {{Req::kSending, E::kRetry}, {A::kBackOff, Req::kRouting}},
    {{Req::kSending, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kSending, E::kRejected}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kRequestBroken}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kClientGone}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kDeadline}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kResponseSent}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSending, E::kInternalFailure}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kRequestTaken}, {A::kGrantClient, Req::kSent}},
    {{Req::kSent, E::kAttemptExpired}, {A::kCancelUpstream, Req::kSent}},
    {{Req::kSent, E::kRepeat}, {A::kRepeat, Req::kRouting}},
    {{Req::kSent, E::kRetry}, {A::kBackOff, Req::kRouting}},
    {{Req::kSent, E::kGiveUp}, {A::kNone, Req::kStopped}},
    {{Req::kSent, E::kRejected}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kRequestBroken}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kClientGone}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kDeadline}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kResponseSent}, {A::kCancelUpstream, Req::kStopped}},
    {{Req::kSent, E::kInternalFailure}, {A::kCancelUpstream, Req::kStopped}},
};

const ExpectedCells<Res> kResponseCells{
    {{Res::kWaiting, E::kRefusedHead}, {A::kAnswer, Res::kAnswering}},
    {{Res::kWaiting, E::kRequestBroken}, {A::kAnswer, Res::kAnswering}},
    {{Res::kWaiting, E::kRejected}, {A::kAnswer, Res::kAnswering}},
    {{Res::kWaiting, E::kUnavailable}, {A::kJudgeFailure, Res::kWaiting}},
    {{Res::kWaiting, E::kInterim}, {A::kForwardInterim, Res::kWaiting}},
    {{Res::kWaiting, E::kResponseArrived}, {A::kProcessResponse, Res::kWaiting}},
    {{Res::kWaiting, E::kResponseHead}, {A::kProcessHead, Res::kWaiting}},
    {{Res::kWaiting, E::kResponseReady}, {A::kStartResponse, Res::kStreaming}},
    {{Res::kWaiting, E::kResponseRefused}, {A::kJudgeResponse, Res::kWaiting}},
    {{Res::kWaiting, E::kUpstreamReset}, {A::kJudgeFailure, Res::kWaiting}},
    {{Res::kWaiting, E::kAttemptExpired}, {A::kJudgeFailure, Res::kWaiting}},
    {{Res::kWaiting, E::kGiveUp}, {A::kAnswer, Res::kAnswering}},
    {{Res::kWaiting, E::kDeadline}, {A::kAnswer, Res::kAnswering}},
    {{Res::kWaiting, E::kInternalFailure}, {A::kAnswer, Res::kAnswering}},
    {{Res::kWaiting, E::kClientGone}, {A::kDropMirrors, Res::kDone}},
    {{Res::kWaiting, E::kResponseBody}, {A::kProcessOn, Res::kWaiting}},
    {{Res::kWaiting, E::kStepAnswer}, {A::kProcessOn, Res::kWaiting}},
    {{Res::kStreaming, E::kStepAnswer}, {A::kForwardResponse, Res::kStreaming}},
    {{Res::kStreaming, E::kRejected}, {A::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kResponseBody}, {A::kForwardResponse, Res::kStreaming}},
    {{Res::kStreaming, E::kResponseTaken}, {A::kGrantUpstream, Res::kStreaming}},
    {{Res::kStreaming, E::kResponseSent}, {A::kNone, Res::kDone}},
    {{Res::kStreaming, E::kUpstreamReset}, {A::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kAttemptExpired}, {A::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kRequestBroken}, {A::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kDeadline}, {A::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kInternalFailure}, {A::kBreakResponse, Res::kDone}},
    {{Res::kStreaming, E::kClientGone}, {A::kDropMirrors, Res::kDone}},
    {{Res::kAnswering, E::kResponseBody}, {A::kForwardResponse, Res::kAnswering}},
    {{Res::kAnswering, E::kResponseSent}, {A::kNone, Res::kDone}},
    {{Res::kAnswering, E::kDeadline}, {A::kBreakResponse, Res::kDone}},
    {{Res::kAnswering, E::kInternalFailure}, {A::kBreakResponse, Res::kDone}},
    {{Res::kAnswering, E::kClientGone}, {A::kDropMirrors, Res::kDone}},
};

template <typename State, typename Look>
void expectTable(std::size_t states, const ExpectedCells<State>& expected, Look&& look) {
  for (std::size_t s = 0; s < states; ++s) {
    for (std::size_t e = 0; e < kEvents; ++e) {
      const auto state = static_cast<State>(s);
      const auto event = static_cast<Event>(e);
      const auto found = expected.find({state, event});
      const Cell<State> wanted = found != expected.end() ? found->second : Cell<State>{A::kNone, state};
      const Cell<State>& cell = look(state, event);
      EXPECT_EQ(cell.action, wanted.action) << "state " << s << ", event " << eventName(event);
      EXPECT_EQ(cell.next, wanted.next) << "state " << s << ", event " << eventName(event);
    }
  }
}

TEST(Phase, EveryRequestCellIsAsWritten) { expectTable<Req>(kRequestStates, kRequestCells, requestCell); }

TEST(Phase, EveryResponseCellIsAsWritten) { expectTable<Res>(kResponseStates, kResponseCells, responseCell); }

TEST(Phase, EndStatesAreNeverLeft) {
  for (std::size_t e = 0; e < kEvents; ++e) {
    EXPECT_EQ(requestCell(Req::kStopped, static_cast<Event>(e)).next, Req::kStopped);
    EXPECT_EQ(requestCell(Req::kStopped, static_cast<Event>(e)).action, A::kNone);
    EXPECT_EQ(responseCell(Res::kDone, static_cast<Event>(e)).next, Res::kDone);
    EXPECT_EQ(responseCell(Res::kDone, static_cast<Event>(e)).action, A::kNone);
  }
}

// Whatever has happened, the loss of the client ends both machines: no exchange outlives its client unnoticed.
TEST(Phase, ALostClientEndsTheExchangeFromEveryReachablePair) {
  std::set<std::pair<Req, Res>> seen{{Req::kRouting, Res::kWaiting}};
  std::queue<std::pair<Req, Res>> todo;
  todo.push({Req::kRouting, Res::kWaiting});
  while (!todo.empty()) {
    const auto [request, response] = todo.front();
    todo.pop();
    const Req requestEnd = requestCell(request, E::kClientGone).next;
    const Res responseEnd = responseCell(response, E::kClientGone).next;
    EXPECT_EQ(responseEnd, Res::kDone);
    // A break raises kGiveUp, which is what ends the request's side after the response's has ended.
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

TEST(Phase, EveryStateAndEventHasAName) {
  for (std::size_t i = 0; i < kRequestStates; ++i) EXPECT_FALSE(requestStateName(static_cast<Req>(i)).empty());
  for (std::size_t i = 0; i < kResponseStates; ++i) EXPECT_FALSE(responseStateName(static_cast<Res>(i)).empty());
  for (std::size_t i = 0; i < kEvents; ++i) EXPECT_FALSE(eventName(static_cast<Event>(i)).empty());
}

}  // namespace
}  // namespace sluice::exchange
