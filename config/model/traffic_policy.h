// TrafficPolicy: how requests of routes are spread over their Backends, and what happens when one of these fails. Plain
// values; see model.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"
#include "config/model/policy_model.h"
#include "config/model/route_model.h"
#include "proxy/base/circuit_breaker_bounds.h"
#include "proxy/base/clock.h"
#include "proxy/base/dns_terms.h"
#include "proxy/base/tcp_keepalive.h"
#include "proxy/content/value.h"

namespace sluice::config {

struct FailoverPriority {
  BackendObjectReference backendRef;  // of rules of the target; without a port it means that Backend at any port
  std::uint32_t priority = 0;
  std::string path;  // "spec.failover.priorities[0]"
};

/// spec.failover
struct FailoverSettings {
  std::vector<FailoverPriority> priorities;    // none if a target is a Gateway
  std::uint32_t overprovisioningFactor = 140;  // percent, at least 100
  base::Duration maxRetryAfter = std::chrono::minutes(1);
};

/// spec.retry.budget. What it does not say is as in the settings.
struct RetryBudgetFields {
  std::optional<std::uint32_t> percent;
  std::optional<std::uint32_t> minPerSecond;
  std::optional<std::uint32_t> minConcurrent;  // retries, in place of minPerSecond
  std::optional<std::uint32_t> maxConcurrent;  // retries
};

/// spec.retry. 0 attempts mean that requests are not tried again.
struct TrafficRetry : HttpRouteRetry {
  std::uint32_t grpcCodes = 0;                                  // status codes of gRPC, a bit each
  base::Duration longestBackoff = std::chrono::seconds(10);     // a pause that doubles stops growing here
  std::optional<base::Duration> attemptTimeout = std::nullopt;  // of rules without timeouts.backendRequest
  base::Duration attemptIdleTimeout{};                          // zero: none
  RetryBudgetFields budget = {};
};

/// spec.healthCheck.passive
struct PassiveHealthSettings {
  std::uint32_t consecutive5XxErrors = 5;              // 0: none are too many
  std::uint32_t consecutiveGatewayErrors = 0;          // likewise; statuses 502 to 504, and no answer at all
  std::uint32_t failurePercentage = 0;                 // in an interval, at most 100; 0: no share is too great
  std::uint32_t minimumRequests = 50;                  // in an interval, before the percentage counts
  base::Duration interval = std::chrono::seconds(10);  // of the percentage
  std::uint32_t maxEjectionPercent = 100;              // of the Backends of a rule
  base::Duration baseEjectionTime = std::chrono::seconds(30);
  base::Duration maxEjectionTime = std::chrono::minutes(5);  // at least baseEjectionTime
};

/// spec.healthCheck.active
struct ActiveHealthSettings {
  enum class Type : std::uint8_t { kHttp, kGrpc, kTcp };
  Type type = Type::kTcp;
  base::Duration timeout = std::chrono::seconds(1);
  base::Duration interval = std::chrono::seconds(3);
  base::Duration unhealthyInterval{};  // while it is unhealthy; zero: as interval
  base::Duration initialJitter{};      // the first check comes within this time; zero: soon
  std::uint32_t unhealthyThreshold = 3;
  std::uint32_t healthyThreshold = 1;
  std::uint16_t port = 0;           // 0: the Backend's
  bool plain = false;               // without the TLS that the Backend has
  std::string serverName = {};      // in place of the name that the Backend's TLS asks for; empty: none
  bool insecureSkipVerify = false;  // whatever the Backend's TLS says
  std::string hostname = {};        // of kHttp and kGrpc; empty: the Backend's
  std::string path = {};            // of kHttp
  std::string method = "GET";       // of kHttp: GET, HEAD or OPTIONS
  std::string send = {};            // of kTcp: the first bytes
  std::string expected = {};        // bytes of the body of the answer, or of the connection of kTcp; empty: any
  std::vector<std::uint16_t> expectedStatuses = {200};
  std::string service = {};  // of kGrpc
};

/// spec.timeout. What is absent is as the settings of the process say.
struct TrafficTimeouts {
  std::optional<base::Duration> connect;             // with the TLS handshake
  std::optional<base::Duration> connectionIdle;      // of a connection without requests
  std::optional<base::Duration> connectionLifetime;  // 0: none
  // A Backend or a Service has none of these, because they begin before a request has a Backend.
  std::optional<base::Duration> request;         // of rules without timeouts.request; 0: none
  std::optional<base::Duration> streamIdle;      // without a byte in either direction
  std::optional<base::Duration> streamLifetime;  // 0: none

  bool ofRequests() const { return request || streamIdle || streamLifetime; }
};

/// spec.dns
struct TrafficDns {
  base::DnsTerms terms;
  bool logical = false;  // connections go to the first address of a name alone
};

/// spec.circuitBreaker: bounds of a Backend. What is absent is as the limits of the settings say.
struct CircuitBreakerFields {
  base::CircuitBreakerBounds bounds;
  std::uint32_t requestsPerConnection = 0;          // 0: any number
  std::optional<std::uint32_t> maxParallelRetries;  // of a rule; a Backend or a Service has none
};

/// The settings that count for each Backend by itself. A Backend may have them among its own fields too.
struct BackendTraffic {
  std::optional<PassiveHealthSettings> passiveHealth;
  std::optional<ActiveHealthSettings> activeHealth;
  std::optional<TrafficTimeouts> timeouts;
  std::optional<base::TcpKeepalive> keepalive;
  std::optional<TrafficDns> dns;
  std::optional<CircuitBreakerFields> circuitBreaker;

  bool any() const { return passiveHealth || activeHealth || timeouts || keepalive || dns || circuitBreaker; }
};

/// spec.retryConstraint of an XBackendTrafficPolicy: how many of the requests of a Backend may be retries.
struct RetryConstraintFields {
  std::uint32_t percent = 20;  // of the requests of `interval`
  base::Duration interval = std::chrono::seconds(10);
  std::uint32_t minCount = 10;  // retries are allowed in each `minInterval`, whatever `percent` says
  base::Duration minInterval = std::chrono::seconds(1);
};

/// Its targets are HTTPRoutes, GRPCRoutes and named rules of these; Backends, Services and their ports; and Gateways
/// and their listeners, whose rules inherit what nobody else says.
///
/// A BackendTrafficPolicy, in either form, is one too, and an XBackendTrafficPolicy, whose targets are Backends and
/// Services alone. They may say nothing.
struct TrafficPolicy : PolicyTargets, BackendTraffic {
  static constexpr std::string_view kKind = "TrafficPolicy";
  static constexpr std::string_view kEnvoyKind = "BackendTrafficPolicy";          // of kEnvoyGroup
  static constexpr std::string_view kExperimentalKind = "XBackendTrafficPolicy";  // of kExperimentalGroup
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  // A TrafficPolicy has at least one of these, or of BackendTraffic. One for a Backend or a Service has none of these.
  std::optional<TrafficRetry> retry;
  std::optional<FailoverSettings> failover;
  /// The spec of a BackendTrafficPolicy in Envoy Gateway's form as it was written; null for all others.
  std::shared_ptr<const content::Value> shipped;
  /// mergeType: it is merged with the one of that form for the listener or the Gateway, field by field at any depth.
  /// Its targets are routes, and rules of these.
  bool merges = false;
  // An XBackendTrafficPolicy has these alone.
  std::optional<RetryConstraintFields> retryConstraint;
  std::optional<SessionPersistence> sessionPersistence;
  std::vector<UnsupportedField> unsupported;
};

}  // namespace sluice::config
