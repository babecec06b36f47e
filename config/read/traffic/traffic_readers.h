// Readers of BackendTrafficPolicy, whose two forms become a TrafficPolicy: the one that Envoy Gateway ships, and the
// one that was proposed for it first. They have the kind and the target in common, and hardly a field.
//
// A field that this program does not serve is noted as unsupported by its name, and closes what the policy is for. A
// field that only observes traffic is noted too, and closes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/traffic_policy.h"

namespace sluice::config {

/// The fields of spec that one form alone has, without the targets.
std::span<const std::string_view> shippedTrafficFields();
std::span<const std::string_view> proposedTrafficFields();

/// Reads the fields of the form that Envoy Gateway ships. Its defaults are Envoy Gateway's.
void readShippedTraffic(FieldReader& spec, TrafficPolicy& policy);
/// Reads the fields of the form of the proposal.
void readProposedTraffic(FieldReader& spec, TrafficPolicy& policy);

// These are in the spelling that Envoy Gateway and TrafficPolicy share.
void readTrafficTimeouts(FieldReader& reader, TrafficTimeouts& timeouts);
void readTcpKeepalive(FieldReader& reader, base::TcpKeepalive& keepalive);
void readCircuitBreaker(FieldReader& reader, CircuitBreakerFields& breaker);
/// Reads the fields of `dns` that they share.
void readDnsTerms(FieldReader& reader, base::DnsTerms& terms);

/// Reads `dns` of a TrafficPolicy.
void readTrafficDns(FieldReader& reader, TrafficDns& dns);
/// Reads the three bounds that all spellings have.
void readCircuitBreakerBounds(FieldReader& reader, base::CircuitBreakerBounds& bounds);
/// Reports the timeouts and retries of requests, which no Backend and no Service has.
void refuseRequestSettings(FieldReader& spec, const BackendTraffic& traffic);

// The functions below read parts that both forms share.

enum class TriggerEffect : std::uint8_t {
  kCodes,     // the statuses of the trigger
  kFailures,  // failures without an answer, which every `retry` covers
  kGrpc,      // the status of gRPC that is `first`
  kListed     // the statuses of a list in another field
};

/// The cause of a retry, for which Envoy has a word (x-envoy-retry-on).
struct RetryTrigger {
  TriggerEffect effect;
  std::uint16_t first = 0;  // of the statuses, for kCodes and kGrpc
  std::uint16_t last = 0;
};

/// Adds statuses that are not in the list yet.
void addCodes(std::uint16_t first, std::uint16_t last, std::vector<std::uint16_t>& codes);
/// Reads a list of statuses. Those below 400 are noted as unsupported.
void readTrafficCodes(FieldReader& reader, std::string_view key, std::vector<std::uint16_t>& codes);
/// Reads `baseInterval` and `maxInterval`, by default ten times the other.
void readBackOff(FieldReader& reader, TrafficRetry& retry);
/// Reads `timeout`, of one attempt.
void readAttemptTimeout(FieldReader& perRetry, TrafficRetry& retry);
/// The results of a health check that it takes for a Backend to change.
inline constexpr NumberRange kResultsInARow{1, 1000};
/// Reads the path of a health check; an empty text if there is no valid one.
void readCheckedPath(FieldReader& http, std::string& path);
/// Reads a time that something takes at most. None at all, which is 0s, is noted as unsupported.
void readSomeTime(FieldReader& reader, std::string_view key, std::optional<base::Duration>& time);
/// Reads the number of probes from that field, and `idleTime` and `interval`.
void readProbes(FieldReader& reader, std::string_view key, base::TcpKeepalive& keepalive);

}  // namespace sluice::config
