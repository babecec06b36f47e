// An active health check: what the gateway asks a Backend again and again (TrafficPolicy.spec.healthCheck.active), and
// what it has found out.
//
// There is one for each Backend or Service and each way of asking, for the whole process. The main thread asks and
// writes, the workers read. Reloads keep it.
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
  base::Duration interval = std::chrono::seconds(3);  // between the end of one and the begin of the next
  base::Duration unhealthyInterval{};                 // while it fails; zero: as interval
  base::Duration initialJitter{};                     // the first comes within this time; zero: soon
  base::Duration timeout = std::chrono::seconds(1);   // for the whole of one
  std::uint32_t unhealthyThreshold = 3;               // failures in a row; the first check of all needs none
  std::uint32_t healthyThreshold = 1;                 // successes in a row, likewise
  std::uint16_t port = 0;                             // 0: the Backend's
  bool plain = false;                                 // without the TLS that the Backend has
  std::string serverName = {};                        // of TLS; empty: the Backend's
  bool insecureSkipVerify = false;                    // or if the Backend's TLS says so
  std::string hostname = {};                          // Host or :authority; empty: the Backend's
  std::string path = {};                              // of kHttp, with the query
  std::string method = "GET";                         // of kHttp
  std::vector<std::uint16_t> expectedStatuses = {};   // of kHttp
  std::string service = {};                           // of kGrpc; empty: the server as a whole
  std::string send = {};                              // of kTcp: the first bytes on the connection
  /// Bytes that the body of the answer must have somewhere, or what comes over the connection of kTcp; empty: none.
  std::string expected = {};

  friend bool operator==(const HealthCheckSettings&, const HealthCheckSettings&) = default;
};

enum class CheckedState : std::uint8_t {
  kUnknown,  // nobody has asked yet; it counts as healthy
  kHealthy,
  kUnhealthy
};

class HealthCheck {
 public:
  explicit HealthCheck(HealthCheckSettings settings) : settings_(std::move(settings)) {}

  const HealthCheckSettings& settings() const { return settings_; }
  CheckedState state() const { return state_.load(std::memory_order_relaxed); }
  bool fails() const { return state() == CheckedState::kUnhealthy; }
  /// Returns the endpoints that fail, of a Service, each of which is asked by itself; null if none does.
  std::shared_ptr<const Endpoints> failing() const;
  /// Returns what is known of each endpoint of a Service.
  std::map<Endpoint, CheckedState> endpoints() const;

  /// Called by whoever asks.
  void set(CheckedState state) const { state_.store(state, std::memory_order_relaxed); }
  /// Likewise, for a Service. It is unhealthy if all its endpoints are.
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
