#include "proxy/compile/routes/compile_retry.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace sluice::compile {

routing::RetryPolicy retryPolicy(const config::HttpRouteRetry& retry) {
  routing::RetryPolicy policy;
  for (const std::uint16_t code : retry.codes) policy.cover(code);
  policy.attempts = retry.attempts;
  policy.backoff = retry.backoff;
  return policy;
}

void addRetry(const TrafficSettings& settings, bool timed, routing::Rule& compiled) {
  if (compiled.retry || settings.retry == nullptr) return;
  const config::TrafficRetry& retry = *settings.retry;
  if (retry.attemptTimeout && !timed) compiled.backendRequestTimeout = *retry.attemptTimeout;
  compiled.attemptIdleTimeout = retry.attemptIdleTimeout;
  if (retry.attempts == 0) return;
  compiled.retry = retryPolicy(retry);
  compiled.retry->grpcCodes = retry.grpcCodes;
  compiled.retry->longestBackoff = retry.longestBackoff;
  compiled.retry->attemptsPerPriority = retry.attemptsPerPriority;
  compiled.retry->replayBytes = retry.replayBytes;
  compiled.retry->bounds = {retry.budget.percent, retry.budget.minPerSecond, retry.budget.minConcurrent,
                            retry.budget.maxConcurrent};
}

void boundParallelRetries(const TrafficSettings& settings, routing::Rule& compiled) {
  if (!compiled.retry || settings.circuitBreaker == nullptr || !settings.circuitBreaker->maxParallelRetries) return;
  std::optional<std::uint32_t>& bound = compiled.retry->bounds.maxConcurrent;
  bound = std::min(bound.value_or(*settings.circuitBreaker->maxParallelRetries),
                   *settings.circuitBreaker->maxParallelRetries);
}

void addConstraint(const config::RetryConstraintFields& constraint, processing::SharedStates& states,
                   routing::WeightedBackend& compiled) {
  // Other intervals make another budget, which starts empty.
  const std::string place = "retries at " + compiled.backend->identity.text() + " " +
                            std::to_string(constraint.interval.count()) + " " +
                            std::to_string(constraint.minInterval.count());
  auto budget = states.get<routing::RetryBudget>(place, [&constraint] {
    return std::make_shared<const routing::RetryBudget>(constraint.interval, constraint.minInterval);
  });
  compiled.retryConstraint = routing::RetryConstraint{constraint.percent, constraint.minCount, std::move(budget)};
}

void addBudget(const std::string& place, processing::SharedStates& states, routing::Rule& compiled) {
  if (!compiled.retry) return;
  compiled.retry->budget =
      states.get<routing::RetryBudget>(place, [] { return std::make_shared<const routing::RetryBudget>(); });
}

}  // namespace sluice::compile
