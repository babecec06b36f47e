#include "proxy/routing/policy/answer_health.h"

#include <algorithm>

namespace sluice::routing {
namespace {

void raise(std::atomic<base::MonotonicTime::rep>& time, base::MonotonicTime to) {
  const base::MonotonicTime::rep wanted = to.time_since_epoch().count();
  base::MonotonicTime::rep before = time.load(std::memory_order_relaxed);
  while (before < wanted && !time.compare_exchange_weak(before, wanted, std::memory_order_relaxed)) {
  }
}

}  // namespace

bool AnswerHealth::matters(base::MonotonicTime now, const PassiveHealthBounds& bounds) const {
  if (!serves() || errors_.load(std::memory_order_relaxed) != 0) return true;
  const base::Duration healthy = now.time_since_epoch() - base::Duration(recovered_.load(std::memory_order_relaxed));
  return ejections_.load(std::memory_order_relaxed) != 0 && healthy <= bounds.longestEjection;
}

// The time after an ejection is divided into windows, and each window has one probe.
bool AnswerHealth::tryProbe(base::MonotonicTime now) const {
  const base::MonotonicTime::rep until = until_.load(std::memory_order_relaxed);
  const base::MonotonicTime::rep passed = now.time_since_epoch().count() - until;
  if (until == 0 || passed < 0) return false;
  const base::MonotonicTime::rep window = until + passed - passed % kProbe.count();
  base::MonotonicTime::rep before = probe_.load(std::memory_order_relaxed);
  return before != window && probe_.compare_exchange_strong(before, window, std::memory_order_relaxed);
}

// Threads that begin an interval at once lose a request or two, which does not matter. The first interval begins with
// the first request: the clock may have begun less than an interval ago.
std::optional<EjectionCause> AnswerHealth::countRequest(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                                        bool failed) const {
  const base::MonotonicTime::rep time = now.time_since_epoch().count();
  base::MonotonicTime::rep begun = interval_.load(std::memory_order_relaxed);
  if ((begun == 0 || time - begun >= bounds.interval.count()) &&
      interval_.compare_exchange_strong(begun, time, std::memory_order_relaxed)) {
    requests_.store(0, std::memory_order_relaxed);
    failures_.store(0, std::memory_order_relaxed);
  }
  constexpr std::uint64_t kWhole = 100;
  const std::uint64_t requests = requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t failures = failed ? failures_.fetch_add(1, std::memory_order_relaxed) + 1 : 0;
  const bool isTooLarge =
      failed && requests >= bounds.minimumRequests && failures * kWhole >= requests * bounds.failurePercent;
  if (!isTooLarge) return std::nullopt;
  return EjectionCause{EjectionCause::Kind::kShare, failures, requests};
}

// Failures of requests that were in flight when the Backend was ejected are ignored, because they are no new evidence.
std::optional<EjectionCause> AnswerHealth::onError(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                                   bool isGatewayError) const {
  const base::MonotonicTime::rep until = until_.load(std::memory_order_relaxed);
  if (now.time_since_epoch().count() < until) return std::nullopt;
  const std::uint32_t errors = errors_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::uint32_t gatewayErrors = 0;
  if (isGatewayError) {
    gatewayErrors = gatewayErrors_.fetch_add(1, std::memory_order_relaxed) + 1;
  } else {
    gatewayErrors_.store(0, std::memory_order_relaxed);
  }
  std::optional<EjectionCause> share;
  if (bounds.failurePercent != 0) share = countRequest(now, bounds, /*failed=*/true);
  using Kind = EjectionCause::Kind;
  if (until != 0) return EjectionCause{Kind::kAgain, errors};
  if (bounds.errors != 0 && errors >= bounds.errors) return EjectionCause{Kind::kErrors, errors};
  if (bounds.gatewayErrors != 0 && gatewayErrors >= bounds.gatewayErrors) {
    return EjectionCause{Kind::kGatewayErrors, gatewayErrors};
  }
  return share;
}

std::optional<base::Duration> AnswerHealth::eject(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                                  base::WallTime at) const {
  base::MonotonicTime::rep before = until_.load(std::memory_order_relaxed);
  if (now.time_since_epoch().count() < before) return std::nullopt;
  const base::Duration healthy = now.time_since_epoch() - base::Duration(recovered_.load(std::memory_order_relaxed));
  const std::uint32_t ejections = healthy > bounds.longestEjection ? 1 : ejections_.load(std::memory_order_relaxed) + 1;
  const base::Duration most = bounds.longestEjection;
  const base::Duration ejection = bounds.baseEjection > most / ejections ? most : bounds.baseEjection * ejections;
  const bool first =
      until_.compare_exchange_strong(before, (now + ejection).time_since_epoch().count(), std::memory_order_relaxed);
  if (!first) return std::nullopt;  // another thread has ejected it
  since_.store(at.time_since_epoch().count(), std::memory_order_relaxed);
  ejections_.store(ejections, std::memory_order_relaxed);
  // Times are measured from the moment when the Backend last served, however long it is ejected.
  recovered_.store((now + ejection).time_since_epoch().count(), std::memory_order_relaxed);
  forgetErrors();
  requests_.store(0, std::memory_order_relaxed);
  failures_.store(0, std::memory_order_relaxed);
  return ejection;
}

void AnswerHealth::ejectUntil(base::MonotonicTime until) const {
  raise(asked_, until);
  raise(until_, until);
}

void AnswerHealth::endEjection(base::MonotonicTime now) const {
  forgetErrors();
  const base::MonotonicTime::rep asked = asked_.load(std::memory_order_relaxed);
  const base::MonotonicTime::rep after = now.time_since_epoch().count() < asked ? asked : 0;
  base::MonotonicTime::rep before = until_.load(std::memory_order_relaxed);
  if (before == 0 || !until_.compare_exchange_strong(before, after, std::memory_order_relaxed)) return;
  if (after == 0) recovered_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

void AnswerHealth::recover(base::MonotonicTime now) const {
  base::MonotonicTime::rep before = until_.load(std::memory_order_relaxed);
  if (before == 0 || now.time_since_epoch().count() < before) return;
  if (until_.compare_exchange_strong(before, 0, std::memory_order_relaxed)) {
    recovered_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
}

}  // namespace sluice::routing
