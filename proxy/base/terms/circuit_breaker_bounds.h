// The thresholds of a circuit breaker (BackendTrafficPolicy.spec.circuitBreaker). They bound how much of a Backend may
// be used at a time, and replace the limits of the settings. A value.
#pragma once

#include <cstdint>
#include <optional>

namespace sluice::base {

struct CircuitBreakerBounds {
  std::optional<std::uint32_t> connections = std::nullopt;      // in place of limits.backendConnections
  std::optional<std::uint32_t> pendingRequests = std::nullopt;  // of all workers, in place of limits.backendPending
  std::optional<std::uint32_t> requests = std::nullopt;         // in place of limits.backendRequests

  /// The usual value of each bound, as Envoy has it.
  static constexpr std::uint32_t kUsual = 1024;

  bool any() const { return connections || pendingRequests || requests; }

  friend bool operator==(const CircuitBreakerBounds&, const CircuitBreakerBounds&) = default;
};

}  // namespace sluice::base
