// Computes the deadlines of an exchange: when the next one passes, and which one has passed. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "proxy/base/clock.h"
#include "proxy/base/settings.h"
#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// Everything that deadlines are computed from. A time is max() where nothing bounds the exchange in that way.
struct Timeline {
  const base::TimeoutSettings& timeouts;
  base::MonotonicTime lastProgress;
  bool answering;       // a local reply goes to the client
  http::Tunnel tunnel;  // the bodies are this tunnel's
  bool clientStalls;    // the client owes bytes of its body, and nothing else is owed
  std::optional<base::Duration> ruleStreamIdle =
      std::nullopt;  // the time without progress, in place of timeouts.streamIdle
  base::MonotonicTime request = base::MonotonicTime::max();
  base::MonotonicTime attempt = base::MonotonicTime::max();
  base::MonotonicTime attemptIdle = base::MonotonicTime::max();  // the attempt has moved no byte for too long
  base::MonotonicTime tunnelEnd = base::MonotonicTime::max();    // the tunnel has lasted long enough
  base::MonotonicTime sniff = base::MonotonicTime::max();        // the first bytes of a tunnel have taken too long
  base::MonotonicTime retry = base::MonotonicTime::max();        // the next attempt is due
  base::MonotonicTime step = base::MonotonicTime::max();         // a suspended step has waited too long
  base::MonotonicTime proceed = base::MonotonicTime::max();      // the client has waited long enough for 100 (Continue)
  base::MonotonicTime withheld = base::MonotonicTime::max();     // a body had no credit for too long
  base::MonotonicTime unclaimed = base::MonotonicTime::max();    // the client took too little for too long

  base::Duration streamIdle() const {
    return ruleStreamIdle.value_or(tunnel == http::Tunnel::kStream ? timeouts.tunnelIdle : timeouts.streamIdle);
  }
};

enum class Expiry : std::uint8_t {
  kNone,
  kReply,        // the client did not take a local reply in time (timeouts.clientIdle)
  kWithheld,     // a bound of the client's memory was reached for too long (timeouts.responseIdle)
  kUnclaimed,    // the client took less than limits.responseRate in timeouts.responseIdle
  kBody,         // the client did not bring its body in time (timeouts.bodyIdle)
  kIdle,         // no byte moved for timeouts.streamIdle, timeouts.tunnelIdle, or the time of a policy
  kTunnel,       // a tunnel has lasted for timeouts.tunnel
  kSniff,        // no failure: the first bytes of a tunnel are judged as they are (timeouts.tunnelSniff)
  kRequest,      // HTTPRouteTimeouts.request, or timeouts.request
  kAttempt,      // HTTPRouteTimeouts.backendRequest
  kAttemptIdle,  // nothing of the attempt moved (TrafficPolicy.spec.retry.attemptIdleTimeout)
  kStep,         // a step's timeout, or timeouts.processor
  kRetry,        // no failure: the next attempt is due
  kProceed       // no failure: the Backend did not say whether it wants the body in time (timeouts.expectContinue)
};

/// Returns the first time at which one of them passes.
inline base::MonotonicTime firstDeadline(const Timeline& line) {
  // A local reply is small, so it has a time to be taken in, whether or not some of it moves.
  if (line.answering) return line.lastProgress + line.timeouts.clientIdle;
  const base::Duration idle = line.clientStalls ? line.timeouts.bodyIdle : line.streamIdle();
  const base::MonotonicTime bounded = std::min(line.lastProgress + idle, std::min(line.withheld, line.unclaimed));
  if (line.tunnel != http::Tunnel::kNone) return std::min(bounded, std::min(line.tunnelEnd, line.sniff));
  const base::MonotonicTime route = std::min(line.request, std::min(line.attempt, line.attemptIdle));
  return std::min(std::min(bounded, route), std::min(std::min(line.retry, line.step), line.proceed));
}

/// Returns which of them has passed; of several, one that ends the exchange. It goes on after kSniff, kStep, kRetry and
/// kProceed, after kAttempt and kAttemptIdle if its rule retries, and after kUnclaimed if the client's socket moves.
Expiry expiredAt(const Timeline& line, base::MonotonicTime now);

/// Returns when the whole exchange has taken too long, by its rule if it has such a timeout; max() if nothing bounds
/// it. `rule` may be null.
inline base::MonotonicTime requestDeadline(base::MonotonicTime started, const routing::Rule* rule,
                                           const base::TimeoutSettings& timeouts) {
  const bool own = rule != nullptr && rule->requestTimeout;
  const base::Duration bound = own ? *rule->requestTimeout : timeouts.request;
  return bound == base::Duration::zero() ? base::MonotonicTime::max() : started + bound;
}

}  // namespace sluice::exchange
