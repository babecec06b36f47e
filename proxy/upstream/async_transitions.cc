#include "proxy/upstream/async_transitions.h"

namespace sluice::upstream {
namespace {

using Req = AsyncRequestState;
using Res = AsyncResponseState;
using E = AsyncEvent;
using A = AsyncRequestAction;
using B = AsyncResponseAction;

constexpr base::Transition<Req, E, A> kRequestTransitions[] = {
    {Req::kPreparing, E::kStart, A::kAskSoon, Req::kSeeking},
    {Req::kPreparing, E::kPoolReady, A::kTellAddresses, Req::kPreparing},

    {Req::kSeeking, E::kPoolReady, A::kAskSoon, Req::kSeeking},
    {Req::kSeeking, E::kBeat, A::kAcquire, Req::kWaiting},

    {Req::kWaiting, E::kPoolReady, A::kAskSoon, Req::kSeeking},
    {Req::kWaiting, E::kLeased, A::kBegin, Req::kWaiting},
    {Req::kWaiting, E::kBegun, A::kFeed, Req::kSending},

    {Req::kSending, E::kBeat, A::kFeed, Req::kSending},
    {Req::kSending, E::kTaken, A::kNone, Req::kSendingBody},
    {Req::kSending, E::kSent, A::kNone, Req::kSent},
    {Req::kSending, E::kRepeat, A::kAskSoon, Req::kSeeking},

    {Req::kSendingBody, E::kBeat, A::kFeed, Req::kSendingBody},
    {Req::kSendingBody, E::kSent, A::kNone, Req::kSentBody},

    {Req::kSent, E::kBeat, A::kGrant, Req::kSent},
    {Req::kSent, E::kTaken, A::kNone, Req::kSentBody},
    {Req::kSent, E::kRepeat, A::kAskSoon, Req::kSeeking},

    {Req::kSentBody, E::kBeat, A::kGrant, Req::kSentBody},
};

constexpr AsyncRequestTable makeRequestTable() {
  AsyncRequestTable table;
  table.set(kRequestTransitions);
  for (const E end : {E::kEndWhole, E::kEndSilent, E::kEndEarly}) {
    for (const Req state : {Req::kPreparing, Req::kSeeking, Req::kWaiting}) {
      table.set(state, end, A::kAbandon, Req::kOver);
    }
    for (const Req state : {Req::kSending, Req::kSendingBody}) table.set(state, end, A::kCut, Req::kOver);
  }
  for (const Req state : {Req::kSent, Req::kSentBody}) {
    table.set(state, E::kEndWhole, A::kRelease, Req::kOver);
    // A Backend that has the whole request and sends nothing may be dead, so its connection is checked.
    table.set(state, E::kEndSilent, A::kExpire, Req::kOver);
    table.set(state, E::kEndEarly, A::kCut, Req::kOver);
  }
  return table;
}

constexpr base::Transition<Res, E, B> kResponseTransitions[] = {
    {Res::kSilent, E::kHead, B::kNone, Res::kBegun},
    {Res::kSilent, E::kHeadAlone, B::kNone, Res::kWhole},
    {Res::kSilent, E::kFail, B::kNone, Res::kFailed},

    {Res::kBegun, E::kEnd, B::kNone, Res::kWhole},
    {Res::kBegun, E::kFail, B::kNone, Res::kFailedBegun},

    // Codecs go on until the stream is cut in the next beat.
    {Res::kFailed, E::kHead, B::kNone, Res::kFailedBegun},
    {Res::kFailed, E::kHeadAlone, B::kNone, Res::kFailedButWhole},
    {Res::kFailedBegun, E::kEnd, B::kNone, Res::kFailedButWhole},
};

constexpr AsyncResponseTable makeResponseTable() {
  AsyncResponseTable table;
  table.set(kResponseTransitions);
  for (const E end : {E::kEndWhole, E::kEndSilent, E::kEndEarly}) {
    table.set(Res::kWhole, end, B::kTellEnd, Res::kTold);
    for (const Res state : {Res::kFailed, Res::kFailedBegun, Res::kFailedButWhole}) {
      table.set(state, end, B::kTellFailure, Res::kTold);
    }
  }
  for (std::size_t state = 0; state < kAsyncResponseStates; ++state) {
    table.set(static_cast<Res>(state), E::kDrop, B::kNone, Res::kTold);
  }
  return table;
}

/// Returns true if the request gives back its connection and its place, whenever and however it ends.
constexpr bool alwaysLeaves(const AsyncRequestTable& table) {
  for (std::size_t state = 0; state < static_cast<std::size_t>(Req::kOver); ++state) {
    for (const E end : {E::kEndWhole, E::kEndSilent, E::kEndEarly}) {
      const auto& cell = table.at(static_cast<Req>(state), end);
      if (cell.action == A::kNone || cell.next != Req::kOver) return false;
    }
  }
  return true;
}

static_assert(static_cast<std::size_t>(Req::kOver) + 1 == kAsyncRequestStates);
static_assert(static_cast<std::size_t>(Res::kTold) + 1 == kAsyncResponseStates);
static_assert(static_cast<std::size_t>(E::kEndEarly) + 1 == kAsyncEvents);
static_assert(alwaysLeaves(makeRequestTable()));

}  // namespace

constinit const AsyncRequestTable kAsyncRequestTable = makeRequestTable();
constinit const AsyncResponseTable kAsyncResponseTable = makeResponseTable();

}  // namespace sluice::upstream
