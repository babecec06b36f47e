#include "proxy/control/compile/routes/compile_retry.h"

#include <memory>

namespace sluice::control {

routing::RetryPolicy retryPolicy(const config::HttpRouteRetry& retry) {
  routing::RetryPolicy policy;
  for (const std::uint16_t code : retry.codes) policy.cover(code);
  policy.attempts = retry.attempts;
  policy.backoff = retry.backoff;
  return policy;
}

void addRetry(const TrafficSettings& settings, routing::Rule& compiled) {
  if (compiled.retry || settings.retry == nullptr || settings.retry->attempts == 0) return;
  const config::TrafficRetry& retry = *settings.retry;
  compiled.retry = retryPolicy(retry);
  compiled.retry->grpcCodes = retry.grpcCodes;
  compiled.retry->longestBackoff = retry.longestBackoff;
  const bool isBounded = compiled.backendRequestTimeout != base::Duration::zero();
  if (retry.attemptTimeout && !isBounded) compiled.backendRequestTimeout = *retry.attemptTimeout;
}

void addBudget(const std::string& place, processing::SharedStates& states, routing::Rule& compiled) {
  if (!compiled.retry) return;
  compiled.retry->budget =
      states.get<routing::RetryBudget>(place, [] { return std::make_shared<const routing::RetryBudget>(); });
}

}  // namespace sluice::control
