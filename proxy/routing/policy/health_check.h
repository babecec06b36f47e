// An active health check: the request that the gateway sends to a Backend periodically
// (TrafficPolicy.spec.healthCheck.active), and the result.
//
// The process has one for each Backend or Service and each kind of check. The main thread checks and writes, the
// workers read. Reloads keep it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/routing/policy/endpoint.h"

namespace sluice::routing {

enum class HealthCheckKind : std::uint8_t {
  kHttp,  // a request, and the status of the answer
  kGrpc,  // grpc.health.v1.Health/Check
  kTcp    // a connection
};

struct HealthCheckSettings {
  HealthCheckKind kind = HealthCheckKind::kTcp;
  base::Duration interval = std::chrono::seconds(3);  // between the end of one check and the beginning of the next
  base::Duration unhealthyInterval{};                 // while it fails; zero: as interval
  base::Duration initialJitter{};                     // the first check begins within this time; zero: soon
  base::Duration timeout = std::chrono::seconds(1);   // for one whole check
  std::uint32_t unhealthyThreshold = 3;               // failures in a row; for the first check, one is enough
  std::uint32_t healthyThreshold = 1;                 // successes in a row; for the first check, one is enough
  std::uint16_t port = 0;                             // 0: the Backend's
  bool plain = false;                                 // without the TLS that the Backend has
  std::string serverName = {};                        // of TLS; empty: the Backend's
  bool insecureSkipVerify = false;                    // true also if the Backend's TLS has it
  std::string hostname = {};                          // Host or :authority; empty: the Backend's
  std::string path = {};                              // of kHttp, with the query
  std::string method = "GET";                         // of kHttp
  std::vector<std::uint16_t> expectedStatuses = {};   // of kHttp
  std::string service = {};                           // of kGrpc; empty: the server as a whole
  std::string send = {};                              // of kTcp: the first bytes on the connection
  /// Bytes that the answer must contain: its body, or with kTcp the bytes that come over the connection. Empty: none.
  std::string expected = {};

  friend bool operator==(const HealthCheckSettings&, const HealthCheckSettings&) = default;
};

enum class CheckedState : std::uint8_t {
  kUnknown,  // not checked yet; treated as healthy
  kHealthy,
  kUnhealthy
};

class HealthCheck {
 public:
  explicit HealthCheck(HealthCheckSettings settings) : settings_(std::move(settings)) {}

  const HealthCheckSettings& settings() const { return settings_; }
  CheckedState state() const { return state_.load(std::memory_order_relaxed); }
  bool fails() const { return state() == CheckedState::kUnhealthy; }
  /// Returns the endpoints of a Service that fail; null if none does. Each endpoint is checked by itself.
  std::shared_ptr<const Endpoints> failing() const;
  /// Returns the state of each endpoint of a Service.
  std::map<Endpoint, CheckedState> endpoints() const;

  /// Called by the health checker with the result for a Backend.
  void set(CheckedState state) const { state_.store(state, std::memory_order_relaxed); }
  /// Called by the health checker with the result for a Service, which is unhealthy if all its endpoints are.
  void set(std::map<Endpoint, CheckedState> endpoints) const;

 private:
  const HealthCheckSettings settings_;
  mutable std::atomic<CheckedState> state_{CheckedState::kUnknown};
  mutable std::atomic<bool> someFail_{false};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Endpoints> failing_;    // guarded by mutex_
  mutable std::map<Endpoint, CheckedState> endpoints_;  // guarded by mutex_
};

}  // namespace sluice::routing
