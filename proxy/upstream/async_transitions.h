// The two state machines of an AsyncRequest as data: one for the request's way to the Backend, one for the part of the
// response that has come.
//
// Every event is shown to both. A cell has an action and the next state; a cell without action and with the same state
// ignores the event. test/upstream/async_transitions_test.cc goes through every cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/state_table.h"

namespace sluice::upstream {

enum class AsyncRequestState : std::uint8_t {
  kPreparing,    // until start()
  kSeeking,      // asks for a connection in the next beat
  kWaiting,      // a connection was asked for; the pool notifies it when to ask again
  kSending,      // the codec has it, and all of its body is still here
  kSendingBody,  // the codec has it, and has taken some of its body
  kSent,         // the whole request was handed over, and no byte of a body was taken
  kSentBody,     // the whole request was handed over, and a body
  kOver
};
inline constexpr std::size_t kAsyncRequestStates = 8;

enum class AsyncResponseState : std::uint8_t {
  kSilent,          // nothing has come
  kBegun,           // the final head has come
  kWhole,           // all of it has come
  kFailed,          // the request fails: error is set, and nothing has come
  kFailedBegun,     // the same; the final head has come
  kFailedButWhole,  // the same, although all of the response has come
  kTold             // the owner was notified of the end, or wants no notice any more
};
inline constexpr std::size_t kAsyncResponseStates = 7;

enum class AsyncEvent : std::uint8_t {
  kStart,      // start() was called
  kPoolReady,  // it may ask its cluster again
  kBeat,       // the drive beat, unless it has failed or has its response
  kLeased,     // a connection was leased
  kBegun,      // the codec has it
  kTaken,      // the codec took some of the body
  kSent,       // the codec has all of it
  kHead,       // the final head came
  kHeadAlone,  // the same, and the response has no body
  kEnd,        // the response is whole
  kRepeat,     // the stream was lost, and the request is sent once more
  kFail,       // error is set
  kDrop,       // the owner destroys it
  // The drive beat, or the request is destroyed:
  kEndWhole,   // all of the response came
  kEndSilent,  // nothing came in time
  kEndEarly    // anything else
};
inline constexpr std::size_t kAsyncEvents = 16;

enum class AsyncRequestAction : std::uint8_t {
  kNone,
  kTellAddresses,  // notifies the owner that it may resolve() again
  kAskSoon,        // asks for a beat
  kAcquire,        // asks for a connection: raises kLeased or kFail, or waits
  kBegin,          // hands the head to the codec: raises kBegun or kFail
  kFeed,           // grants the bytes that the owner took, and notifies the codec of more body
  kGrant,          // grants what the owner took
  kAbandon,        // stops waiting for a connection, and leaves
  kCut,            // cuts the stream, and leaves
  kExpire,         // the same, and has the connection checked
  kRelease         // leaves its place and connection, because both ways are done
};

enum class AsyncResponseAction : std::uint8_t { kNone, kTellEnd, kTellFailure };

using AsyncRequestTable =
    base::StateTable<AsyncRequestState, kAsyncRequestStates, AsyncEvent, kAsyncEvents, AsyncRequestAction>;
using AsyncResponseTable =
    base::StateTable<AsyncResponseState, kAsyncResponseStates, AsyncEvent, kAsyncEvents, AsyncResponseAction>;

extern const AsyncRequestTable kAsyncRequestTable;
extern const AsyncResponseTable kAsyncResponseTable;

/// Returns true if it has failed or has its response.
inline bool isDecided(AsyncResponseState state) { return state > AsyncResponseState::kBegun; }

}  // namespace sluice::upstream
