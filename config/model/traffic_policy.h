// A TrafficPolicy configures how requests of routes are distributed over their Backends, and what happens when one of
// these fails. It is a plain value; see model.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"
#include "config/model/policy_model.h"
#include "config/model/route_model.h"
#include "proxy/base/clock.h"
#include "proxy/base/terms/check_log.h"
#include "proxy/base/terms/circuit_breaker_bounds.h"
#include "proxy/base/terms/dns_terms.h"
#include "proxy/base/terms/load_balancing.h"
#include "proxy/base/terms/request_matching.h"
#include "proxy/base/terms/tcp_keepalive.h"
#include "proxy/content/value.h"

namespace sluice::config {

struct FailoverPriority {
  BackendObjectReference backendRef;  // of a rule of the target; without a port, it matches any port of that Backend
  std::uint32_t priority = 0;
  std::string path;  // "spec.failover.priorities[0]"
};

/// The model of spec.failover.
struct FailoverSettings {
  std::vector<FailoverPriority> priorities;    // empty if a target is a Gateway
  std::uint32_t overprovisioningFactor = 140;  // percent, at least 100
  base::Duration maxRetryAfter = std::chrono::minutes(1);
};

/// The model of spec.retry.budget. Absent fields have the value of the settings.
struct RetryBudgetFields {
  std::optional<std::uint32_t> percent;
  std::optional<std::uint32_t> minPerSecond;
  std::optional<std::uint32_t> minConcurrent;  // a number of retries, in place of minPerSecond
  std::optional<std::uint32_t> maxConcurrent;  // a number of retries
};

/// The model of spec.retry. With 0 attempts, requests are not retried.
struct TrafficRetry : HttpRouteRetry {
  std::uint32_t grpcCodes = 0;                                  // status codes of gRPC, one bit for each
  base::Duration longestBackoff = std::chrono::seconds(10);     // the limit of a backoff that doubles
  std::optional<base::Duration> attemptTimeout = std::nullopt;  // for rules without timeouts.backendRequest
  base::Duration attemptIdleTimeout{};                          // zero for no limit
  std::uint32_t attemptsPerPriority = 0;                        // of a fail-over; 0 for no such order
  std::optional<std::uint64_t> replayBytes = std::nullopt;      // of a body, in place of limits.replayBuffer
  RetryBudgetFields budget = {};
};

/// The model of spec.healthCheck.passive.
struct PassiveHealthSettings {
  std::uint32_t consecutive5XxErrors = 5;  // 0 turns this off
  std::uint32_t consecutiveGatewayErrors =
      0;                                // 0 turns this off; these are statuses 502 to 504, and no response at all
  std::uint32_t failurePercentage = 0;  // in an interval, at most 100; 0 turns this off
  std::uint32_t minimumRequests = 50;   // in an interval; with fewer requests, the percentage is ignored
  base::Duration interval = std::chrono::seconds(10);  // the interval of the percentage
  std::uint32_t maxEjectionPercent = 100;              // percent of the Backends of a rule
  base::Duration baseEjectionTime = std::chrono::seconds(30);
  base::Duration maxEjectionTime = std::chrono::minutes(5);  // at least baseEjectionTime
};

/// The model of spec.healthCheck.active, or of one of its items.
struct ActiveHealthSettings {
  enum class Type : std::uint8_t { kHttp, kGrpc, kTcp };
  Type type = Type::kTcp;
  base::Duration timeout = std::chrono::seconds(1);
  base::Duration interval = std::chrono::seconds(3);
  base::Duration unhealthyInterval{};  // while the Backend is unhealthy; zero for `interval`
  base::Duration initialJitter{};      // the first check comes within this time; zero for as soon as possible
  std::uint32_t unhealthyThreshold = 3;
  std::uint32_t healthyThreshold = 1;
  std::uint16_t port = 0;                 // 0 for the port of the Backend
  bool plain = false;                     // without the TLS of the Backend
  std::string serverName = {};            // replaces the name in the Backend's TLS; empty for that name
  bool insecureSkipVerify = false;        // overrides the Backend's TLS
  std::string hostname = {};              // for kHttp and kGrpc; empty for that of the Backend
  std::string path = {};                  // for kHttp
  std::string method = "GET";             // for kHttp: GET, HEAD or OPTIONS
  std::vector<HeaderValue> headers = {};  // for kHttp, with names in lower case; a value may be a credential
  std::string send = {};                  // for kTcp: the first bytes
  std::string expected = {};  // bytes in the body of the response, or of the connection for kTcp; empty for any
  std::vector<std::uint16_t> expectedStatuses = {200};
  std::string service = {};  // for kGrpc
  base::CheckLog log = base::CheckLog::kTransitions;
};

/// One to four checks. An endpoint is healthy only if all of them find that it is.
using ActiveChecks = std::vector<ActiveHealthSettings>;
inline constexpr std::size_t kMostActiveChecks = 4;

/// The model of spec.timeout. Absent fields have the value of the settings of the process.
struct TrafficTimeouts {
  std::optional<base::Duration> connect;             // includes the TLS handshake
  std::optional<base::Duration> connectionIdle;      // for a connection without requests
  std::optional<base::Duration> connectionLifetime;  // 0 for no limit
  // A Backend or a Service cannot have the members below, because these times begin before a request has a Backend.
  std::optional<base::Duration> request;         // for rules without timeouts.request; 0 for no limit
  std::optional<base::Duration> streamIdle;      // without a byte in either direction
  std::optional<base::Duration> streamLifetime;  // 0 for no limit

  bool ofRequests() const { return request || streamIdle || streamLifetime; }
};

/// The model of spec.dns.
struct TrafficDns {
  base::DnsTerms terms;
  bool logical = false;  // connections use only the first address of a name
};

/// The model of spec.circuitBreaker, the limits of a Backend. Absent fields have the value of the limits in the
/// settings.
struct CircuitBreakerFields {
  base::CircuitBreakerBounds bounds;
  base::CircuitBreakerBounds perEndpoint = {};
  base::CircuitBreakerBounds high = {};  // for rules of high priority; absent fields are CircuitBreakerBounds::kUsual
  std::uint32_t requestsPerConnection = 0;          // 0 for any number
  std::optional<std::uint32_t> maxParallelRetries;  // for a rule; a Backend or a Service has none
};

/// The model of spec.integrations.
struct IntegrationFields {
  bool addLinkerdHeaders = false;  // l5d-dst-override, to Services
};

/// The model of spec.priority: the circuit breakers that count the requests of a rule.
enum class RequestPriority : std::uint8_t { kDefault, kHigh };

/// The settings that apply to each Backend separately. A Backend may have them among its own fields too.
struct BackendTraffic {
  std::optional<PassiveHealthSettings> passiveHealth;
  std::optional<ActiveChecks> activeHealth;
  std::optional<TrafficTimeouts> timeouts;
  std::optional<base::TcpKeepalive> keepalive;
  std::optional<TrafficDns> dns;
  std::optional<CircuitBreakerFields> circuitBreaker;
  std::optional<base::LoadBalancing> loadBalancing;
  std::optional<bool> sendsVia;  // spec.via; only of a Backend, or of a policy for Backends and Services
  bool any() const {
    return passiveHealth || activeHealth || timeouts || keepalive || dns || circuitBreaker || loadBalancing || sendsVia;
  }
};

/// The model of spec.retryConstraint of an XBackendTrafficPolicy, which limits how many of the requests of a Backend
/// may be retries.
struct RetryConstraintFields {
  std::uint32_t percent = 20;  // percent of the requests in `interval`
  base::Duration interval = std::chrono::seconds(10);
  std::uint32_t minCount = 10;  // retries that are allowed in each `minInterval`, whatever `percent` is
  base::Duration minInterval = std::chrono::seconds(1);
};

/// A TrafficPolicy targets HTTPRoutes, GRPCRoutes and named rules of these, Backends, Services and their ports, and
/// Gateways and their listeners. Rules inherit the settings for their Gateways and listeners if no other policy has
/// them.
///
/// Two other kinds are read into this type: BackendTrafficPolicy, in either form, and XBackendTrafficPolicy, which
/// targets only Backends and Services. These may be without any settings.
struct TrafficPolicy : PolicyTargets, BackendTraffic {
  static constexpr std::string_view kKind = "TrafficPolicy";
  static constexpr std::string_view kEnvoyKind = "BackendTrafficPolicy";          // in kEnvoyGroup
  static constexpr std::string_view kExperimentalKind = "XBackendTrafficPolicy";  // in kExperimentalGroup
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  // A TrafficPolicy has at least one of these members or of BackendTraffic. A policy for a Backend or a Service has
  // neither of the first two.
  std::optional<TrafficRetry> retry;
  std::optional<FailoverSettings> failover;
  /// Only a policy whose targets are all Gateways or listeners has values here that are not the default.
  std::optional<base::RequestMatching> matching;
  std::optional<IntegrationFields> integrations;  // also of a policy for a Backend or a Service
  std::optional<RequestPriority> priority;        // only of a policy for routes
  /// The spec of a BackendTrafficPolicy in Envoy Gateway's form, as written; null for all others.
  std::shared_ptr<const content::Value> shipped;
  /// True with a mergeType: the policy is merged with the policy of the same form for the listener or the Gateway,
  /// field by field at any depth. Its targets are routes and rules of routes.
  bool merges = false;
  // An XBackendTrafficPolicy has only this member.
  std::optional<RetryConstraintFields> retryConstraint;
  std::optional<SessionPersistence> sessionPersistence;
  std::vector<UnsupportedField> unsupported;
};

}  // namespace sluice::config
