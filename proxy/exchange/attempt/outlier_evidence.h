// The evidence that the outcome of an attempt gives about its Backend, and about the endpoint to which it went: for the
// ejections of the rule's fail-over, and of its outlier detection.
#pragma once

#include "proxy/base/error.h"
#include "proxy/exchange/attempt/attempt.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Returns true if another attempt may succeed: the error comes neither from the gateway nor from the address guard,
/// which would both fail again.
inline bool isPassing(const base::Error& error) {
  return error.origin == base::ErrorOrigin::kUpstream && error.type != base::ErrorType::kDestinationIpProhibited;
}

/// Called with the error of an attempt that has failed before its response. Errors of the gateway's own limits, or of a
/// client that sends its body slowly, are no evidence.
void noteError(Transaction& transaction, const Attempt& attempt, const base::Error& error);
/// Called with the final head of an attempt's response, as the Backend has sent it.
void noteAnswer(Transaction& transaction, const Attempt& attempt, const http::ResponseHead& head);

}  // namespace sluice::exchange
