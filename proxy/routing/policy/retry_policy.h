// HTTPRouteRule.retry and TrafficPolicy.spec.retry in the form that workers use: which attempts may be made again, how
// often and how soon.
#pragma once

#include <algorithm>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/base/clock.h"
#include "proxy/base/settings.h"
#include "proxy/routing/policy/retry_budget.h"

namespace sluice::routing {

/// The bounds of a rule's budget, which replace those of the settings, and bounds that the settings do not have.
struct RetryBudgetBounds {
  std::optional<std::uint32_t> percent = std::nullopt;
  std::optional<std::uint32_t> minPerSecond = std::nullopt;
  std::optional<std::uint32_t> minConcurrent = std::nullopt;
  std::optional<std::uint32_t> maxConcurrent = std::nullopt;

  RetryBounds over(const base::RetryBudgetSettings& settings) const {
    return {percent.value_or(settings.percent), minPerSecond.value_or(settings.minPerSecond), minConcurrent,
            maxConcurrent};
  }
};

/// The retry constraint of an XBackendTrafficPolicy for one Backend; the retries of all rules are charged to it.
struct RetryConstraint {
  std::uint32_t percent = 0;
  std::uint32_t minCount = 0;
  std::shared_ptr<const RetryBudget> budget;  // never null

  std::optional<ActiveRetry> tryTake(base::MonotonicTime now) const {
    return budget->tryTake(now, {percent, minCount});
  }
};

struct RetryPolicy {
  /// Statuses 400 to 599, a bit each.
  std::bitset<200> codes;
  std::uint32_t attempts = 0;  // beyond the first
  /// Status codes of gRPC from 0 to 31, a bit each.
  std::uint32_t grpcCodes = 0;
  base::Duration backoff{};  // the shortest time between two attempts
  /// A pause that doubles stops growing here.
  base::Duration longestBackoff = std::chrono::seconds(10);
  /// How many attempts a request makes at the Backends of one priority before it goes to those of another, if the rule
  /// has a fail-over; 0: each retry goes to a Backend that has not failed, of any priority.
  std::uint32_t attemptsPerPriority = 0;
  /// How much of a body is kept for retries, at most limits.processorBuffer, in place of limits.replayBuffer.
  std::optional<std::uint64_t> replayBytes = std::nullopt;
  RetryBudgetBounds bounds = {};
  /// The retry budget of the rule; never null.
  std::shared_ptr<const RetryBudget> budget = std::make_shared<const RetryBudget>();

  /// Returns how many bytes of a body are kept for retries.
  std::uint64_t keptOf(const base::LimitSettings& limits) const {
    return replayBytes ? std::min(*replayBytes, limits.processorBuffer) : limits.replayBuffer;
  }
  bool covers(std::uint16_t status) const { return status >= 400 && status < 600 && codes.test(status - 400U); }
  void cover(std::uint16_t status) { codes.set(status - 400U); }
  bool coversGrpc(std::uint32_t code) const { return code < 32 && (grpcCodes >> code & 1) != 0; }
};

}  // namespace sluice::routing
