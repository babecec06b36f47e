// An active health check: a request that the gateway sends to a Backend periodically
// (TrafficPolicy.spec.healthCheck.active), and the results.
//
// The process has one for each Backend or Service and each kind of check. The main thread checks and writes; the
// compiler reads. Reloads keep it, also if other checks of the same Backend come or go.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/terms/check_log.h"
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
  /// Names in lower case and values, of kHttp. A value may be a credential, which nothing shows.
  std::vector<std::pair<std::string, std::string>> headers = {};
  base::CheckLog log = base::CheckLog::kTransitions;

  friend bool operator==(const HealthCheckSettings&, const HealthCheckSettings&) = default;
};

/// Returns a text that is the same only for checks that ask the same question, and wait as long for the same answer.
/// The destination and its TLS are no part of it. It may have a credential, and is only a key.
std::string questionOf(const HealthCheckSettings& check);

enum class CheckedState : std::uint8_t {
  kUnknown,  // not checked yet; treated as healthy
  kHealthy,
  kUnhealthy
};

/// The states of the endpoints of a Service, each of which is checked by itself.
using EndpointStates = std::map<Endpoint, CheckedState>;

class ActiveCheck {
 public:
  explicit ActiveCheck(HealthCheckSettings settings) : settings_(std::move(settings)) {}

  const HealthCheckSettings& settings() const { return settings_; }
  /// Returns the state of a Backend; unknown for a Service.
  CheckedState state() const { return state_.load(std::memory_order_relaxed); }
  /// Returns the state of each endpoint of a Service; none for a Backend.
  EndpointStates endpoints() const;

  /// Returns why the check of a Backend fails, in one sentence; empty if it passes or that is not known.
  std::string why() const;

  /// Called by the health checker with the result for a Backend.
  void set(CheckedState state, std::string why = {}) const;
  /// Called by the health checker with the results for a Service.
  void set(EndpointStates endpoints) const;

 private:
  const HealthCheckSettings settings_;
  mutable std::atomic<CheckedState> state_{CheckedState::kUnknown};
  mutable std::mutex mutex_;
  mutable EndpointStates endpoints_;  // guarded by mutex_
  mutable std::string why_;           // guarded by mutex_
};

}  // namespace sluice::routing
