// The two state machines of an exchange as data: one for the request's way to the backend, one for the response's way
// to the client.
//
// Every event is shown to both. A cell has an action and the next state; a cell without action and with the same state
// ignores the event. test/exchange/transitions_test.cc goes through every cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/state_table.h"

namespace sluice::exchange {

enum class RequestState : std::uint8_t {
  kRouting,         // a rule and a Backend are being found
  kBeforeRouting,   // steps of the Gateway that come before routing run
  kFirstRound,      // steps of the Gateway and the rule before authentication run
  kTentative,       // steps of the Backend that is chosen for now run
  kAuthenticating,  // the client's password is checked
  kSecondRound,     // steps of the Gateway and the rule behind authentication run
  kPreparing,       // an attempt is made: steps of its Backend run
  kAcquiring,       // the attempt waits for an address and a connection
  kConnecting,      // steps of connect run
  kPostponed,       // steps of backend-request are suspended; the attempt has given its connection back
  kSending,         // the upstream codec has the request; its body streams
  kSent,            // the whole request was handed over
  kBackingOff,      // the next attempt has to wait
  kStopped          // no further bytes of the request will be sent
};
inline constexpr std::size_t kRequestStates = 14;

enum class ResponseState : std::uint8_t {
  kWaiting,          // there is no final head yet
  kBackendResponse,  // steps of backend-response run
  kResponseHeaders,  // the response is kept; steps of response-headers and response-body run before its head leaves
  kStreaming,        // the backend's response goes to the client
  kAnswering,        // a local reply goes to the client
  kDone              // the client has everything that it will get
};
inline constexpr std::size_t kResponseStates = 6;

/// The events of an exchange, in the order in which simultaneous ones are taken.
enum class Event : std::uint8_t {
  kArrived,            // the exchange was made from a request head
  kRefusedHead,        // the exchange was made from a head that cannot be served
  kRequestBroken,      // the request's body broke the protocol; a reply is still possible
  kGatewaySteps,       // the listener has steps that come before routing
  kRouteSteps,         // a rule was found, and the Gateway or the rule has steps before authentication
  kAuthenticate,       // the listener demands that the client is authenticated now
  kRouted,             // a rule and a Backend were found
  kRejected,           // the gateway replies itself: error is set, or the rule has a local reply
  kClientGone,         // the client reset the stream or its connection is lost
  kRepeat,             // the attempt is made again at once, unseen by the client
  kRetry,              // another attempt follows
  kPassOver,           // policies deny the attempt's Backend, and another one may take its place
  kGiveUp,             // no attempt follows
  kRetryDue,           // the next attempt's time has come
  kMatchAgain,         // a step asks for the route to be matched again
  kRouteChanged,       // the route was matched again, and is another one
  kStepsDone,          // the steps of the request's state have decided, or there are none but for later states
  kAttemptSteps,       // the attempt's Backend has steps for the request
  kConnectSteps,       // the addresses of the Backend are known, and steps of connect want to see them
  kPoolReady,          // a connection may be had
  kLeased,             // a connection was taken
  kPostponed,          // steps of backend-request are suspended: the attempt gives its connection back
  kConnectionRefused,  // steps of connect refuse the connection that was taken, and another address is left
  kUnavailable,        // no connection will come: error is set
  kRequestBody,        // the request's body has more bytes, or its end
  kRequestTaken,       // the upstream codec took bytes of the request's body
  kRequestSent,        // the upstream codec has the whole request
  kPasswordChecked,    // the password of the client was checked
  kStepAnswer,         // a suspended step can go on, or has failed
  kInterim,            // a 1xx head came
  kResponseArrived,    // the final head came, and steps of backend-response want to see it
  kResponseStepsDone,  // the steps of the response's state have decided
  kResponseRefused,    // the final head has a status for which the rule retries
  kResponseHead,       // the final head is kept, and steps want to see it
  kResponseReady,      // the final head is ready for the client
  kProceedDue,         // the Backend has not said in time whether it wants the body
  kResponseBody,       // the response's body has more bytes, or its end
  kResponseTaken,      // the downstream codec took bytes of the response's body
  kUpstreamReset,      // the backend's stream ended early: error is set
  kAttemptExpired,     // the attempt has taken too long: error is set
  kResponseSent,       // the downstream codec has the whole response
  kTunnelRefused,      // policies deny a tunnel by the first bytes of the client: error is set
  kDeadline,           // a timeout of the exchange has passed: error is set
  kInternalFailure,    // an invariant was broken: error is set
};
inline constexpr std::size_t kEvents = 44;

/// The actions of the request's machine, which RequestPath performs.
enum class RequestAction : std::uint8_t {
  kNone,
  kRoute,       // finds rule and Backend: raises kGatewaySteps, kRouteSteps, kStepsDone, kAuthenticate, kRejected, or
                // as kEnter
  kMatch,       // finds them behind the steps that come before routing
  kProcess,     // moves the steps of the state: raises kStepsDone, kMatchAgain or kRejected, or waits
  kPassWishes,  // as kProcess, but ignores wishes, because a route is matched after these steps anyway
  kMatchAgain,  // matches the route once more: raises kRouteChanged or kRejected, or moves on as kProcess
  kProcessTentative,  // applies the filters of the rule, then moves the steps of the tentative Backend
  kAuthenticate,      // judges the client: raises kRejected, kGatewaySteps or kStepsDone, or waits
  kProcessSecond,     // moves the steps behind authentication; raises kAuthenticate if that is still owed
  kEnter,             // makes the first attempt: raises kRouted, kAttemptSteps, kUnavailable, kPassOver or kRejected
  kPrepare,           // makes the next attempt: raises the same
  kPassOver,          // chooses another Backend for the attempt, and goes on as kPrepare; or raises kRejected
  kAdmit,             // the attempt's steps have decided: raises kRouted, kUnavailable, kPassOver or kRejected
  kRepeat,            // makes the same attempt once more, with the whole body
  kBackOff,           // gives the attempt up for the one that is planned; raises kRetryDue, or waits for it
  kAcquire,           // asks the pool: raises kLeased, kConnectSteps, kUnavailable or kPassOver, or waits
  kAcquireAllowed,    // asks the pool for the addresses that steps of connect have left
  kAbandon,           // leaves the pool's queue
  kBegin,             // hands the attempt's head to the upstream codec; or raises kConnectionRefused
  kMoveBody,          // moves the body through the steps that have begun
  kForwardRequest,    // notifies the upstream codec of more body
  kGrantClient,       // lets the client send as much as was taken
  kDismissClient,     // in a tunnel, lets the client end if the backend takes no more bytes from it
  kCancelUpstream,    // cuts the upstream stream
};

/// The actions of the response's machine, which ResponsePath performs.
enum class ResponseAction : std::uint8_t {
  kNone,
  kForwardInterim,   // passes a 1xx on
  kProceed,          // sends 100 (Continue) in place of the Backend
  kProcessResponse,  // enters backend-response and moves its steps
  kProcessHead,      // enters response-headers and response-body and moves their steps
  kProcessOn,        // moves the steps of the state: raises kResponseStepsDone or kRejected, or waits
  kJudgeStatus,      // raises kResponseRefused, kResponseHead or kResponseReady
  kJudgeResponse,    // raises kRetry, kResponseHead or kResponseReady
  kJudgeFailure,     // raises kRepeat, kRetry or kGiveUp
  kGiveUp,           // raises kGiveUp: once steps have seen a response as the one that is kept, no other follows
  kStartResponse,    // hands the backend's head to the downstream codec
  kForwardResponse,  // notifies the downstream codec of more body
  kGrantUpstream,    // lets the backend send as much as was taken
  kReply,            // makes a local reply, from error or from the rule
  kBreakResponse,    // shows the client that the response is not whole
  kRefuseTunnel,     // ends a tunnel that was agreed to, with an alert of TLS if the client speaks that
  kDropMirrors,      // ends the mirrored requests too
};

using RequestCell = base::Cell<RequestState, RequestAction>;
using ResponseCell = base::Cell<ResponseState, ResponseAction>;

using RequestTable = base::StateTable<RequestState, kRequestStates, Event, kEvents, RequestAction>;
using ResponseTable = base::StateTable<ResponseState, kResponseStates, Event, kEvents, ResponseAction>;

extern const RequestTable kRequestTable;
extern const ResponseTable kResponseTable;

inline const RequestCell& requestCell(RequestState state, Event event) { return kRequestTable.at(state, event); }
inline const ResponseCell& responseCell(ResponseState state, Event event) { return kResponseTable.at(state, event); }

/// Returns true if no part of a final head has been sent to the client.
inline bool isBeforeHead(ResponseState state) { return state <= ResponseState::kResponseHeaders; }

std::string_view requestStateName(RequestState state);
std::string_view responseStateName(ResponseState state);
std::string_view eventName(Event event);

}  // namespace sluice::exchange
