// Readers of BackendTrafficPolicy, whose two forms become a TrafficPolicy: the one that Envoy Gateway ships, and the
// one that was proposed for it first. They have the kind and the target in common, and hardly a field.
//
// A field that this program does not serve is noted as unsupported by its name, and closes what the policy is for. A
// field that only observes traffic is noted too, and closes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

/// Reads `timeout`, in the spelling that Envoy Gateway and TrafficPolicy share.
TrafficTimeouts readTrafficTimeouts(FieldReader reader, std::vector<UnsupportedField>& unsupported);
/// Reads `tcpKeepalive`, in the same spelling.
base::TcpKeepalive readTcpKeepalive(FieldReader reader);
/// Reads `dns` of a TrafficPolicy.
TrafficDns readTrafficDns(FieldReader reader, std::vector<UnsupportedField>& unsupported);
/// Reads `circuitBreaker`, in the spelling that Envoy Gateway and TrafficPolicy share.
CircuitBreakerFields readCircuitBreaker(FieldReader reader);
/// Reads the three bounds that all spellings have; `usual` counts for those that are absent.
base::CircuitBreakerBounds readCircuitBreakerBounds(FieldReader& reader, std::optional<std::uint32_t> usual);
/// Reports the timeouts and retries of requests, which no Backend and no Service has.
void refuseRequestSettings(FieldReader& spec, const BackendTraffic& traffic);

// The functions below read parts that both forms share.

enum class TriggerEffect : std::uint8_t {
  kCodes,       // the statuses of the trigger
  kFailures,    // failures without an answer, which every `retry` covers
  kGrpc,        // the status of gRPC that is `first`
  kListed,      // the statuses of a list in another field
  kUnsupported  // not known here
};

/// A word for the cause of a retry, as Envoy has them (x-envoy-retry-on).
struct RetryTrigger {
  std::string_view word;
  TriggerEffect effect;
  std::uint16_t first = 0;  // of the statuses, for kCodes and kGrpc
  std::uint16_t last = 0;
};

/// Adds statuses that are not in the list yet.
void addCodes(std::uint16_t first, std::uint16_t last, std::vector<std::uint16_t>& codes);
/// Reads a list of statuses. Those below 400 are noted as unsupported.
void readTrafficCodes(FieldReader& reader, std::string_view key, std::vector<std::uint16_t>& codes,
                      std::vector<UnsupportedField>& unsupported);
/// Reads how often a request is tried again. 0 turns retries off.
void readRetryCount(FieldReader& reader, std::string_view key, HttpRouteRetry& retry,
                    std::vector<UnsupportedField>& unsupported);
/// Reads `baseInterval` and `maxInterval`, by default ten times the other, and calls finish() on `reader`.
void readBackOff(FieldReader reader, TrafficRetry& retry);
/// Reads `timeout`, of one attempt.
void readAttemptTimeout(FieldReader& perRetry, TrafficRetry& retry);
/// Reads how long an attempt may stand still; 0s is any time.
void readAttemptIdleTimeout(FieldReader& reader, std::string_view key, TrafficRetry& retry);
/// Reads a number from `least` to `most`. It stays as it is if the field is absent.
void readNumber(FieldReader& reader, std::string_view key, std::int64_t least, std::int64_t most,
                std::uint32_t& number);
/// Reads the interval over which the share of failures is counted. Other failures make a Backend rest at once.
void readSweepInterval(FieldReader& reader, std::string_view key, PassiveHealthSettings& passive);
/// Reads how many results in a row a health check takes, from 1 to 1000.
void readThreshold(FieldReader& reader, std::string_view key, std::uint32_t& threshold);
/// Reads the path of a health check. Returns an empty text if there is no valid one.
std::string readCheckedPath(FieldReader& http);
/// Reads a time that something takes at most. None at all, which is 0s, is noted as unsupported.
std::optional<base::Duration> readSomeTime(FieldReader& reader, std::string_view key,
                                           std::vector<UnsupportedField>& unsupported);
/// Reads the number of probes from that field, and `idleTime` and `interval`, and calls finish() on `reader`.
void readProbes(FieldReader& reader, std::string_view key, base::TcpKeepalive& keepalive);
/// Reads the fields of `dns` that Envoy Gateway and TrafficPolicy share, and calls finish() on `reader`.
void readDnsTerms(FieldReader& reader, base::DnsTerms& terms, std::vector<UnsupportedField>& unsupported);
/// Notes those of the fields that are present as unsupported.
void refuseFields(FieldReader& reader, std::span<const std::string_view> keys,
                  std::vector<UnsupportedField>& unsupported);

}  // namespace sluice::config
