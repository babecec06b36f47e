#include "proxy/exchange/transaction/deadlines.h"

namespace sluice::exchange {

Expiry expiredAt(const Timeline& line, base::MonotonicTime now) {
  if (firstDeadline(line) > now) return Expiry::kNone;
  if (line.answering) return Expiry::kReply;
  if (line.withheld <= now) return Expiry::kWithheld;
  if (line.unclaimed <= now) return Expiry::kUnclaimed;
  if (line.clientStalls && line.lastProgress + line.timeouts.bodyIdle <= now) return Expiry::kBody;
  if (line.lastProgress + line.streamIdle() <= now) return Expiry::kIdle;
  if (line.tunnelEnd <= now) return Expiry::kTunnel;
  if (line.sniff <= now) return Expiry::kSniff;
  if (line.request <= now) return line.attempt <= now ? Expiry::kAttempt : Expiry::kRequest;
  if (line.step <= now) return Expiry::kStep;
  if (line.retry <= now) return Expiry::kRetry;
  if (line.attempt <= now) return Expiry::kAttempt;
  return line.attemptIdle <= now ? Expiry::kAttemptIdle : Expiry::kProceed;
}

}  // namespace sluice::exchange
