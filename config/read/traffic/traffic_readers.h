// Declares the readers of BackendTrafficPolicy. Its two forms are the one that Envoy Gateway ships and the one that was
// first proposed for it. Both become a TrafficPolicy. They have the same kind and targets, but hardly a field in
// common.
//
// A field that this program does not support is noted by its name, and closes the targets of the policy. A field that
// only observes traffic is noted too, and closes nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/traffic_policy.h"

namespace sluice::config {

/// The fields of spec that only one form has, without the targets.
std::span<const std::string_view> shippedTrafficFields();
std::span<const std::string_view> proposedTrafficFields();

/// Reads the fields of the form that Envoy Gateway ships, with Envoy Gateway's defaults.
void readShippedTraffic(FieldReader& spec, TrafficPolicy& policy);
/// Reads the fields of the form of the proposal.
void readProposedTraffic(FieldReader& spec, TrafficPolicy& policy);

// The fields of the functions below have the same spelling in Envoy Gateway and in TrafficPolicy.
void readTrafficTimeouts(FieldReader& reader, TrafficTimeouts& timeouts);
void readTcpKeepalive(FieldReader& reader, base::TcpKeepalive& keepalive);
void readCircuitBreaker(FieldReader& reader, CircuitBreakerFields& breaker);
/// A number of connections, requests or retries at a time.
inline constexpr NumberRange kAtATime{0, std::numeric_limits<std::uint32_t>::max()};
/// Reads `circuitBreaker` of a TrafficPolicy and of a Backend.
void readOwnCircuitBreaker(FieldReader& reader, CircuitBreakerFields& breaker);
/// Reads the common fields of `dns`.
void readDnsTerms(FieldReader& reader, base::DnsTerms& terms);

/// Read `loadBalancing` of a TrafficPolicy and of the proposal, and `loadBalancer` of Envoy Gateway's form.
void readLoadBalancing(FieldReader& reader, base::LoadBalancing& terms);
void readProposedBalancing(FieldReader& reader, base::LoadBalancing& terms);
void readShippedBalancer(FieldReader& reader, base::LoadBalancing& terms);
/// Reads `dns` of a TrafficPolicy.
void readTrafficDns(FieldReader& reader, TrafficDns& dns);
/// Reads the three bounds that all spellings have.
void readCircuitBreakerBounds(FieldReader& reader, base::CircuitBreakerBounds& bounds);
/// Read `matching` and `integrations` of a TrafficPolicy and of the proposal.
void readMatching(FieldReader& reader, base::RequestMatching& matching);
void readIntegrations(FieldReader& reader, IntegrationFields& integrations);
/// Returns true if `matching` would change something and a target is neither a Gateway nor a listener.
bool matchesTooLate(const TrafficPolicy& policy);
/// The message about such a policy.
inline constexpr std::string_view kMatchesTooLate =
    "is for Gateways and listeners alone, because a request has no route before it is matched";
/// Reports the timeouts and retries of requests, which no Backend and no Service can have.
void refuseRequestSettings(FieldReader& spec, const BackendTraffic& traffic);

// The functions below read parts that both forms share.

enum class TriggerEffect : std::uint8_t {
  kCodes,     // the statuses of the trigger
  kFailures,  // failures without a response, which every `retry` covers
  kGrpc,      // the gRPC status `first`
  kListed     // the statuses in the list of another field
};

/// The cause of a retry that has a name in Envoy (x-envoy-retry-on).
struct RetryTrigger {
  TriggerEffect effect;
  std::uint16_t first = 0;  // the first status, for kCodes and kGrpc
  std::uint16_t last = 0;
};

/// Adds statuses that are not in the list yet.
void addCodes(std::uint16_t first, std::uint16_t last, std::vector<std::uint16_t>& codes);
/// Reads a list of statuses. Those below 400 are noted as unsupported.
void readTrafficCodes(FieldReader& reader, std::string_view key, std::vector<std::uint16_t>& codes);
/// Reads `baseInterval` and `maxInterval`. The default of `maxInterval` is ten times the `baseInterval`.
void readBackOff(FieldReader& reader, TrafficRetry& retry);
/// Reads `timeout`, the timeout of one attempt.
void readAttemptTimeout(FieldReader& perRetry, TrafficRetry& retry);
/// How many equal results of health checks in a row may be required to change a Backend's state.
inline constexpr NumberRange kResultsInARow{1, 1000};
/// The shortest time between two health checks. They often ask a third party, which has not agreed to more.
inline constexpr base::Duration kShortestCheckInterval = std::chrono::seconds(1);
/// Reads the time between two health checks. A shorter one than that is raised to it, and noted.
void readCheckInterval(FieldReader& reader, std::string_view key, base::Duration& interval);
/// Reads the path of a health check; an empty text if there is no valid one.
void readCheckedPath(FieldReader& http, std::string& path);
/// The most header fields that a health check may add to its request.
inline constexpr std::size_t kMostCheckHeaders = 16;
/// Reads one of these, with the name in lower case. No message has the value, which may be a credential.
void readCheckHeader(FieldReader& reader, HeaderValue& header);
// The parts of load balancing: the number of places in a table, a time in which endpoints get a growing share, and the
// names of a header field, a parameter or a cookie that is hashed.
void readHashTableSize(FieldReader& reader, base::LoadBalancing& terms);
void readSlowStart(FieldReader& reader, std::string_view key, base::LoadBalancing& terms);
void readHashedHeader(FieldReader& reader, base::LoadBalancing& terms);
void readHashedParameter(FieldReader& reader, base::LoadBalancing& terms);
void readHashCookie(FieldReader& reader, base::LoadBalancing& terms);
/// Reads an upper bound of a time. 0s, which means no time at all, is noted as unsupported.
void readSomeTime(FieldReader& reader, std::string_view key, std::optional<base::Duration>& time);
/// Reads the number of probes from the field `key`, and `idleTime` and `interval`.
void readProbes(FieldReader& reader, std::string_view key, base::TcpKeepalive& keepalive);

}  // namespace sluice::config
