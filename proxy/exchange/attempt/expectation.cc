#include "proxy/exchange/attempt/expectation.h"

namespace sluice::exchange {

base::MonotonicTime proceedDeadline(const Transaction& transaction, const Attempts& attempts) {
  const bool answered = transaction.responseState != ResponseState::kWaiting || transaction.response;
  if (answered || !transaction.awaitsContinue()) return base::MonotonicTime::max();
  return attempts.current().request.deadline(transaction.context.timeouts().expectContinue);
}

// The client owes its body from here on.
void sendContinue(Transaction& transaction, const http::ResponseHead* ofBackend) {
  http::ServerCodec* codec = transaction.codec();
  if (codec == nullptr) return;
  http::ResponseHead bare;
  bare.status = http::kContinue;
  codec->sendInterim(transaction.client.stream, ofBackend != nullptr ? *ofBackend : bare);
  transaction.continued = true;
  transaction.progress();
}

}  // namespace sluice::exchange
