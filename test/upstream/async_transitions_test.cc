#include "proxy/upstream/async_transitions.h"

#include <gtest/gtest.h>

#include "test/support/expected_cells.h"

namespace sluice::upstream {
namespace {

using Req = AsyncRequestState;
using Res = AsyncResponseState;
using E = AsyncEvent;
using A = AsyncRequestAction;
using B = AsyncResponseAction;

// The tables are written out a second time, row by row, so a change of a table has to be made here too.
const sluice::test::ExpectedCells<Req, E, A> kRequestCells{
    {{Req::kPreparing, E::kStart}, {A::kAskSoon, Req::kSeeking}},
    {{Req::kPreparing, E::kPoolReady}, {A::kTellAddresses, Req::kPreparing}},
    {{Req::kPreparing, E::kEndWhole}, {A::kAbandon, Req::kOver}},
    {{Req::kPreparing, E::kEndSilent}, {A::kAbandon, Req::kOver}},
    {{Req::kPreparing, E::kEndEarly}, {A::kAbandon, Req::kOver}},
    {{Req::kSeeking, E::kPoolReady}, {A::kAskSoon, Req::kSeeking}},
    {{Req::kSeeking, E::kBeat}, {A::kAcquire, Req::kWaiting}},
    {{Req::kSeeking, E::kEndWhole}, {A::kAbandon, Req::kOver}},
    {{Req::kSeeking, E::kEndSilent}, {A::kAbandon, Req::kOver}},
    {{Req::kSeeking, E::kEndEarly}, {A::kAbandon, Req::kOver}},
    {{Req::kWaiting, E::kPoolReady}, {A::kAskSoon, Req::kSeeking}},
    {{Req::kWaiting, E::kLeased}, {A::kBegin, Req::kWaiting}},
    {{Req::kWaiting, E::kBegun}, {A::kFeed, Req::kSending}},
    {{Req::kWaiting, E::kEndWhole}, {A::kAbandon, Req::kOver}},
    {{Req::kWaiting, E::kEndSilent}, {A::kAbandon, Req::kOver}},
    {{Req::kWaiting, E::kEndEarly}, {A::kAbandon, Req::kOver}},
    {{Req::kSending, E::kBeat}, {A::kFeed, Req::kSending}},
    {{Req::kSending, E::kTaken}, {A::kNone, Req::kSendingBody}},
    {{Req::kSending, E::kSent}, {A::kNone, Req::kSent}},
    {{Req::kSending, E::kRepeat}, {A::kAskSoon, Req::kSeeking}},
    {{Req::kSending, E::kEndWhole}, {A::kCut, Req::kOver}},
    {{Req::kSending, E::kEndSilent}, {A::kCut, Req::kOver}},
    {{Req::kSending, E::kEndEarly}, {A::kCut, Req::kOver}},
    {{Req::kSendingBody, E::kBeat}, {A::kFeed, Req::kSendingBody}},
    {{Req::kSendingBody, E::kSent}, {A::kNone, Req::kSentBody}},
    {{Req::kSendingBody, E::kEndWhole}, {A::kCut, Req::kOver}},
    {{Req::kSendingBody, E::kEndSilent}, {A::kCut, Req::kOver}},
    {{Req::kSendingBody, E::kEndEarly}, {A::kCut, Req::kOver}},
    {{Req::kSent, E::kBeat}, {A::kGrant, Req::kSent}},
    {{Req::kSent, E::kTaken}, {A::kNone, Req::kSentBody}},
    {{Req::kSent, E::kRepeat}, {A::kAskSoon, Req::kSeeking}},
    {{Req::kSent, E::kEndWhole}, {A::kRelease, Req::kOver}},
    {{Req::kSent, E::kEndSilent}, {A::kExpire, Req::kOver}},
    {{Req::kSent, E::kEndEarly}, {A::kCut, Req::kOver}},
    {{Req::kSentBody, E::kBeat}, {A::kGrant, Req::kSentBody}},
    {{Req::kSentBody, E::kEndWhole}, {A::kRelease, Req::kOver}},
    {{Req::kSentBody, E::kEndSilent}, {A::kExpire, Req::kOver}},
    {{Req::kSentBody, E::kEndEarly}, {A::kCut, Req::kOver}},
};

const sluice::test::ExpectedCells<Res, E, B> kResponseCells{
    {{Res::kSilent, E::kHead}, {B::kNone, Res::kBegun}},
    {{Res::kSilent, E::kHeadAlone}, {B::kNone, Res::kWhole}},
    {{Res::kSilent, E::kFail}, {B::kNone, Res::kFailed}},
    {{Res::kSilent, E::kDrop}, {B::kNone, Res::kTold}},
    {{Res::kBegun, E::kEnd}, {B::kNone, Res::kWhole}},
    {{Res::kBegun, E::kFail}, {B::kNone, Res::kFailedBegun}},
    {{Res::kBegun, E::kDrop}, {B::kNone, Res::kTold}},
    {{Res::kWhole, E::kDrop}, {B::kNone, Res::kTold}},
    {{Res::kWhole, E::kEndWhole}, {B::kTellEnd, Res::kTold}},
    {{Res::kWhole, E::kEndSilent}, {B::kTellEnd, Res::kTold}},
    {{Res::kWhole, E::kEndEarly}, {B::kTellEnd, Res::kTold}},
    {{Res::kFailed, E::kHead}, {B::kNone, Res::kFailedBegun}},
    {{Res::kFailed, E::kHeadAlone}, {B::kNone, Res::kFailedButWhole}},
    {{Res::kFailed, E::kDrop}, {B::kNone, Res::kTold}},
    {{Res::kFailed, E::kEndWhole}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailed, E::kEndSilent}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailed, E::kEndEarly}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailedBegun, E::kEnd}, {B::kNone, Res::kFailedButWhole}},
    {{Res::kFailedBegun, E::kDrop}, {B::kNone, Res::kTold}},
    {{Res::kFailedBegun, E::kEndWhole}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailedBegun, E::kEndSilent}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailedBegun, E::kEndEarly}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailedButWhole, E::kDrop}, {B::kNone, Res::kTold}},
    {{Res::kFailedButWhole, E::kEndWhole}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailedButWhole, E::kEndSilent}, {B::kTellFailure, Res::kTold}},
    {{Res::kFailedButWhole, E::kEndEarly}, {B::kTellFailure, Res::kTold}},
};

TEST(AsyncTransitions, EveryRequestCellIsAsWritten) { sluice::test::expectCells(kAsyncRequestTable, kRequestCells); }

TEST(AsyncTransitions, EveryResponseCellIsAsWritten) { sluice::test::expectCells(kAsyncResponseTable, kResponseCells); }

TEST(AsyncTransitions, EndStatesAreNeverLeft) {
  for (std::size_t e = 0; e < kAsyncEvents; ++e) {
    EXPECT_TRUE(kAsyncRequestTable.ignores(Req::kOver, static_cast<E>(e))) << e;
    EXPECT_TRUE(kAsyncResponseTable.ignores(Res::kTold, static_cast<E>(e))) << e;
  }
}

// A failure, or a whole response, is reported once, and no later event makes the outcome undecided.
TEST(AsyncTransitions, WhatIsDecidedStaysDecided) {
  for (std::size_t s = 0; s < kAsyncResponseStates; ++s) {
    const auto state = static_cast<Res>(s);
    if (!isDecided(state)) continue;
    for (std::size_t e = 0; e < kAsyncEvents; ++e) {
      EXPECT_TRUE(isDecided(kAsyncResponseTable.at(state, static_cast<E>(e)).next)) << s << ", " << e;
    }
  }
}

}  // namespace
}  // namespace sluice::upstream
