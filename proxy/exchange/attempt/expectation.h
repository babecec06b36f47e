// A client may wait for 100 (Continue) before it sends its body (Expect: 100-continue, RFC 9110 section 10.1.1). The
// Backend of the attempt decides whether it gets it, and the gateway does in its place if the Backend is silent for
// timeouts.expectContinue, or if a step needs the body before. The client gets one at most, whatever the number of
// attempts; an attempt that follows does not ask again, because the body is on its way.
#pragma once

#include "proxy/base/clock.h"
#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Returns true if this attempt, with that head, asks the Backend for 100 (Continue).
inline bool passesExpectation(const Transaction& transaction, const http::RequestHead& head) {
  return transaction.awaitsContinue() && (head.body == http::Body::kLength || head.body == http::Body::kUntilEnd);
}

/// Returns when a Backend that was asked has been silent for too long; max() if none was asked, or it has answered.
base::MonotonicTime proceedDeadline(const Transaction& transaction, const Attempts& attempts);

/// Sends 100 (Continue) to the client: that of the Backend, or one without fields.
void sendContinue(Transaction& transaction, const http::ResponseHead* ofBackend);
/// Does so if the client still waits. A client that may not see the fields of the Backend's still learns that its body
/// is wanted.
inline void proceed(Transaction& transaction, const http::ResponseHead* ofBackend = nullptr) {
  if (transaction.awaitsContinue()) sendContinue(transaction, ofBackend);
}

}  // namespace sluice::exchange
