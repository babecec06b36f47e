// Reads the form of BackendTrafficPolicy that Envoy Gateway ships.
//
// An API server that has Envoy Gateway's definition fills in its defaults, so a field that has its default says nothing
// about what the user wants.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "config/read/object_readers.h"
#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::uint32_t kShippedRetries = 2;
constexpr std::uint16_t kShippedCode = 503;
constexpr std::uint32_t kShippedGrpcCodes = 1U << 1 | 1U << 14;  // cancelled, unavailable
constexpr base::Duration kShippedInterval = std::chrono::seconds(3);
constexpr std::uint32_t kShippedEjectionPercent = 10;
constexpr std::int64_t kWholeShare = 100;
constexpr std::size_t kMaxTriggers = 64;

constexpr std::string_view kShippedFields[] = {
    "retry",        "healthCheck",       "loadBalancer", "circuitBreaker", "rateLimit",      "faultInjection",
    "tcpKeepalive", "proxyProtocol",     "timeout",      "connection",     "http2",          "compression",
    "compressor",   "responseOverride",  "httpUpgrade",  "requestBuffer",  "bandwidthLimit", "admissionControl",
    "routingType",  "useClientProtocol", "telemetry",    "mergeType"};
constexpr std::string_view kRefusedShipped[] = {"loadBalancer",     "rateLimit",   "faultInjection", "proxyProtocol",
                                                "connection",       "http2",       "compression",    "compressor",
                                                "responseOverride", "httpUpgrade", "requestBuffer",  "bandwidthLimit",
                                                "admissionControl", "routingType"};

constexpr RetryTrigger kShippedTriggers[] = {
    {"5xx", TriggerEffect::kCodes, 500, 599},           {"gateway-error", TriggerEffect::kCodes, 502, 504},
    {"retriable-4xx", TriggerEffect::kCodes, 409, 409}, {"reset", TriggerEffect::kFailures},
    {"connect-failure", TriggerEffect::kFailures},      {"refused-stream", TriggerEffect::kFailures},
    {"retriable-status-codes", TriggerEffect::kListed}, {"cancelled", TriggerEffect::kGrpc, 1},
    {"deadline-exceeded", TriggerEffect::kGrpc, 4},     {"internal", TriggerEffect::kGrpc, 13},
    {"resource-exhausted", TriggerEffect::kGrpc, 8},    {"unavailable", TriggerEffect::kGrpc, 14}};

constexpr Choice<bool> kMergeTypes[] = {{"StrategicMerge", true}, {"JSONMerge", true}};

/// Adds the statuses of the triggers; those that Envoy Gateway has by default if there are none. Returns whether those
/// of httpStatusCodes count.
bool readTriggers(FieldReader& retryOn, TrafficRetry& retry, std::vector<UnsupportedField>& unsupported) {
  const std::vector<Item> items = retryOn.list("triggers", kMaxTriggers);
  bool listed = items.empty();
  if (items.empty()) retry.grpcCodes = kShippedGrpcCodes;
  for (const Item& item : items) {
    const auto* const trigger = std::find_if(std::begin(kShippedTriggers), std::end(kShippedTriggers),
                                             [&](const RetryTrigger& each) { return each.word == item.value->text; });
    const bool known = trigger != std::end(kShippedTriggers);
    if (!known || trigger->effect == TriggerEffect::kUnsupported) {
      unsupported.push_back(
          {item.path, item.value->position, "trigger " + base::quote(item.value->text) + " is not supported", true});
    } else if (trigger->effect == TriggerEffect::kCodes) {
      addCodes(trigger->first, trigger->last, retry.codes);
    } else if (trigger->effect == TriggerEffect::kGrpc) {
      retry.grpcCodes |= 1U << trigger->first;
    } else if (trigger->effect == TriggerEffect::kListed) {
      listed = true;
    }
  }
  return listed;
}

void readRetryOn(FieldReader retryOn, TrafficRetry& retry, std::vector<UnsupportedField>& unsupported) {
  const bool listed = readTriggers(retryOn, retry, unsupported);
  std::vector<std::uint16_t> codes;
  readTrafficCodes(retryOn, "httpStatusCodes", codes, unsupported);
  if (!listed && !codes.empty()) {
    retryOn.unsupported("httpStatusCodes", "has no effect without the trigger retriable-status-codes", false,
                        unsupported);
  }
  if (codes.empty()) codes.push_back(kShippedCode);
  if (listed) {
    for (const std::uint16_t code : codes) addCodes(code, code, retry.codes);
  }
  retryOn.finish();
}

TrafficRetry readShippedRetry(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  TrafficRetry retry;
  retry.attempts = kShippedRetries;
  readRetryCount(reader, "numRetries", retry, unsupported);
  readRetryOn(reader.map("retryOn"), retry, unsupported);
  FieldReader perRetry = reader.map("perRetry");
  readAttemptTimeout(perRetry, retry);
  readBackOff(perRetry.map("backOff"), retry);
  perRetry.finish();
  constexpr std::string_view kRefusedRetry[] = {"numAttemptsPerPriority"};
  refuseFields(reader, kRefusedRetry, unsupported);
  reader.finish();
  return retry;
}

PassiveHealthSettings readShippedPassive(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  PassiveHealthSettings passive;
  passive.interval = kShippedInterval;
  passive.maxEjectionPercent = kShippedEjectionPercent;
  readNumber(reader, "consecutive5XxErrors", 0, INT32_MAX, passive.consecutive5XxErrors);
  readNumber(reader, "consecutiveGatewayErrors", 0, INT32_MAX, passive.consecutiveGatewayErrors);
  readNumber(reader, "failurePercentageThreshold", 0, kWholeShare, passive.failurePercentage);
  readNumber(reader, "maxEjectionPercent", 0, kWholeShare, passive.maxEjectionPercent);
  readSweepInterval(reader, "interval", passive);
  if (const auto time = reader.duration("baseEjectionTime")) {
    passive.baseEjectionTime = *time;
    if (*time == base::Duration::zero()) reader.error("baseEjectionTime", "must not be zero");
  }
  passive.maxEjectionTime = std::max(passive.maxEjectionTime, passive.baseEjectionTime);
  if (reader.boolean("splitExternalLocalOriginErrors", false)) {
    reader.unsupported("splitExternalLocalOriginErrors", "splitExternalLocalOriginErrors is not supported", true,
                       unsupported);
  }
  // It counts only if errors are split.
  reader.integer("consecutiveLocalOriginFailures", 0, INT32_MAX);
  // The first Backend may always rest unless maxEjectionPercent is 0.
  if (reader.boolean("alwaysEjectOneEndpoint", false)) {
    passive.maxEjectionPercent = std::max(passive.maxEjectionPercent, 1U);
  }
  reader.finish();
  return passive;
}

ActiveHealthSettings readShippedActive(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  constexpr std::string_view kWithoutEffect[] = {"retriableStatuses"};
  FieldReader overrides = reader.map("overrides");
  const std::uint16_t port = overrides.port("port");
  overrides.finish();
  ActiveHealthSettings active =
      readActiveCheck(std::move(reader), {.withoutEffectOfHttp = kWithoutEffect}, unsupported);
  active.port = port;
  return active;
}

void readShippedHealth(FieldReader checks, TrafficPolicy& policy) {
  if (checks.has("passive")) policy.passiveHealth = readShippedPassive(checks.map("passive"), policy.unsupported);
  if (checks.has("active")) policy.activeHealth = readShippedActive(checks.map("active"), policy.unsupported);
  constexpr std::string_view kRefusedChecks[] = {"panicThreshold"};
  refuseFields(checks, kRefusedChecks, policy.unsupported);
  checks.finish();
}

/// Only a policy for routes has a parent with which it could be merged.
void readMergeType(FieldReader& spec, TrafficPolicy& policy) {
  policy.merges = spec.choice("mergeType", kMergeTypes, false);
  const auto isRoute = [](const std::string& kind) { return kind.ends_with("Route"); };
  const bool ofRoutes = std::all_of(policy.targets.begin(), policy.targets.end(),
                                    [&](const PolicyTarget& each) { return isRoute(each.object.kind); }) &&
                        std::all_of(policy.selectors.begin(), policy.selectors.end(),
                                    [&](const PolicyTargetSelector& each) { return isRoute(each.kind); });
  if (policy.merges && !ofRoutes) spec.error("mergeType", "must be given only if all targets are routes");
}

}  // namespace

std::span<const std::string_view> shippedTrafficFields() { return kShippedFields; }

void readShippedTraffic(FieldReader& spec, TrafficPolicy& policy) {
  if (spec.has("retry")) policy.retry = readShippedRetry(spec.map("retry"), policy.unsupported);
  if (spec.has("healthCheck")) readShippedHealth(spec.map("healthCheck"), policy);
  if (spec.has("timeout")) policy.timeouts = readTrafficTimeouts(spec.map("timeout"), policy.unsupported);
  if (spec.has("tcpKeepalive")) policy.keepalive = readTcpKeepalive(spec.map("tcpKeepalive"));
  if (spec.has("dns")) {
    FieldReader dns = spec.map("dns");
    readDnsTerms(dns, policy.dns.emplace().terms, policy.unsupported);
  }
  if (spec.has("circuitBreaker")) {
    FieldReader breaker = spec.map("circuitBreaker");
    breaker.unsupported("perEndpoint", "perEndpoint is not supported", true, policy.unsupported);
    policy.circuitBreaker = readCircuitBreaker(std::move(breaker));
  }
  refuseFields(spec, kRefusedShipped, policy.unsupported);
  readMergeType(spec, policy);
  spec.unsupported("telemetry", "telemetry is not supported", false, policy.unsupported);
  if (spec.boolean("useClientProtocol", false)) {
    spec.unsupported("useClientProtocol", "useClientProtocol is not supported", true, policy.unsupported);
  }
}

}  // namespace sluice::config
