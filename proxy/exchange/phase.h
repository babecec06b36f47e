// The two state machines of an exchange as data: one for the request's way to the backend, one for the response's way
// to the client.
//
// Every event is shown to both. A cell says what to do and where that leads; a cell without action and with the same
// state ignores the event. test/exchange/phase_test.cc goes through every cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::exchange {

enum class RequestState : std::uint8_t {
  kRouting,    // nothing is decided yet
  kAcquiring,  // a Backend is chosen; waits for steps of connect, and for a connection
  kSending,    // the upstream codec has the request; its body streams
  kSent,       // the whole request was handed over
  kStopped     // no more of it will be sent
};
inline constexpr std::size_t kRequestStates = 5;

enum class ResponseState : std::uint8_t {
  kWaiting,    // no final head yet
  kStreaming,  // the backend's response goes to the client
  kAnswering,  // an answer of our own goes to the client
  kDone        // the client has everything it will get
};
inline constexpr std::size_t kResponseStates = 4;

/// What can happen, in the order in which simultaneous events are taken.
enum class Event : std::uint8_t {
  kArrived,          // the exchange was made from a request head
  kRefusedHead,      // the exchange was made from a head that can not be served
  kRequestBroken,    // the request's body broke the protocol; an answer is still possible
  kRouted,           // a rule and a Backend were found
  kRejected,         // the gateway answers itself: error is set, or the rule has an answer of its own
  kClientGone,       // the client reset the stream or its connection is lost
  kRepeat,           // the attempt is made again at once, unseen
  kRetry,            // another attempt follows
  kGiveUp,           // none does
  kRetryDue,         // the next attempt's time has come
  kPoolReady,        // a connection may be had
  kLeased,           // a connection was taken
  kPostponed,        // steps of the attempt wait: it goes back
  kUnavailable,      // none will come: error is set
  kRequestBody,      // the request pipe has more bytes, or its end
  kRequestTaken,     // the upstream codec took bytes out of the request pipe
  kRequestSent,      // the upstream codec has the whole request
  kStepAnswer,       // a step of a processor that waited can go on, or has failed
  kInterim,          // a 1xx head came
  kResponseArrived,  // the final head came, and steps want to see it
  kResponseRefused,  // the final head has a status for which the rule retries
  kResponseHead,     // the final head is kept, and steps want to see it
  kResponseReady,    // the final head is what the client gets
  kResponseBody,     // the response pipe has more bytes, or its end
  kResponseTaken,    // the downstream codec took bytes out of the response pipe
  kUpstreamReset,    // the backend's stream ended early: error is set
  kAttemptExpired,   // the attempt has taken too long: error is set
  kResponseSent,     // the downstream codec has the whole response
  kDeadline,         // a timeout of the exchange has passed: error is set
  kInternalFailure,  // an invariant was broken: error is set
};
inline constexpr std::size_t kEvents = 30;

enum class Action : std::uint8_t {
  kNone,
  kRoute,            // find rule and Backend: raises kRouted or kRejected
  kProcess,          // the steps of the request go on: as kRoute, kEnter, kAcquire or kBegin, whichever waits
  kEnter,            // be counted among the Backend's requests: raises kRouted or kUnavailable
  kRepeat,           // kAcquire once more, with the whole body
  kBackOff,          // give the attempt up and wait for the next: kRetryDue
  kAcquire,          // ask the pool, behind the steps of connect: raises kLeased, kUnavailable or kRejected, or waits
  kAbandon,          // leave the pool's queue
  kBegin,            // hand the attempt's head to the upstream codec
  kForwardRequest,   // tell the upstream codec of more body
  kGrantClient,      // let the client send as much as was taken
  kDismissClient,    // in a tunnel, let the client go if the backend takes no more of what it says
  kCancelUpstream,   // cut the upstream stream
  kForwardInterim,   // pass a 1xx on
  kStartResponse,    // hand the backend's head to the downstream codec
  kForwardResponse,  // tell the downstream codec of more body
  kGrantUpstream,    // let the backend send as much as was taken
  kProcessOn,        // the steps of the response go on
  kJudgeFailure,     // raises kRepeat, kRetry or kGiveUp
  kProcessResponse,  // backend-response: raises kResponseRefused, kResponseHead, kResponseReady or kRejected
  kJudgeResponse,    // raises kRetry, kResponseHead or kResponseReady
  kProcessHead,      // response-headers: raises kResponseReady or kRejected
  kAnswer,           // an answer of our own, from error
  kBreakResponse,    // the client must see that the response is not whole
  kDropMirrors,      // end the copies of the request too
};

template <typename State>
struct Cell {
  Action action;
  State next;
};

template <typename State, std::size_t kStates>
using CellTable = std::array<std::array<Cell<State>, kEvents>, kStates>;

extern const CellTable<RequestState, kRequestStates> kRequestTable;
extern const CellTable<ResponseState, kResponseStates> kResponseTable;

inline const Cell<RequestState>& requestCell(RequestState state, Event event) {
  return kRequestTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}
inline const Cell<ResponseState>& responseCell(ResponseState state, Event event) {
  return kResponseTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

std::string_view requestStateName(RequestState state);
std::string_view responseStateName(ResponseState state);
std::string_view eventName(Event event);

}  // namespace sluice::exchange
