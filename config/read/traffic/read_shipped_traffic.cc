// Reads the form of BackendTrafficPolicy that Envoy Gateway ships.
//
// An API server with Envoy Gateway's definition fills in its defaults. So a field with its default does not show that
// the user wants it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "config/read/object_readers.h"
#include "config/read/traffic/traffic_readers.h"
#include "config/read/traffic/usual_values.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::uint32_t kShippedRetries = 2;
constexpr std::uint16_t kShippedCode = 503;
constexpr std::uint32_t kShippedGrpcCodes = 1U << 1 | 1U << 14;  // cancelled, unavailable
constexpr base::Duration kShippedInterval = std::chrono::seconds(3);
constexpr std::uint32_t kShippedEjectionPercent = 10;
constexpr NumberRange kWholeShare{0, 100};
constexpr std::size_t kMaxTriggers = 64;

constexpr std::string_view kShippedFields[] = {
    "retry",        "healthCheck",       "loadBalancer", "circuitBreaker", "rateLimit",      "faultInjection",
    "tcpKeepalive", "proxyProtocol",     "timeout",      "connection",     "http2",          "compression",
    "compressor",   "responseOverride",  "httpUpgrade",  "requestBuffer",  "bandwidthLimit", "admissionControl",
    "routingType",  "useClientProtocol", "telemetry",    "mergeType"};
constexpr std::string_view kRefusedShipped[] = {"rateLimit",   "faultInjection", "proxyProtocol",  "connection",
                                                "http2",       "compression",    "compressor",     "responseOverride",
                                                "httpUpgrade", "requestBuffer",  "bandwidthLimit", "admissionControl",
                                                "routingType"};

constexpr Choice<RetryTrigger> kShippedTriggers[] = {
    {"5xx", {TriggerEffect::kCodes, 500, 599}},           {"gateway-error", {TriggerEffect::kCodes, 502, 504}},
    {"retriable-4xx", {TriggerEffect::kCodes, 409, 409}}, {"reset", {TriggerEffect::kFailures}},
    {"connect-failure", {TriggerEffect::kFailures}},      {"refused-stream", {TriggerEffect::kFailures}},
    {"retriable-status-codes", {TriggerEffect::kListed}}, {"cancelled", {TriggerEffect::kGrpc, 1}},
    {"deadline-exceeded", {TriggerEffect::kGrpc, 4}},     {"internal", {TriggerEffect::kGrpc, 13}},
    {"resource-exhausted", {TriggerEffect::kGrpc, 8}},    {"unavailable", {TriggerEffect::kGrpc, 14}}};

constexpr Choice<bool> kMergeTypes[] = {{"StrategicMerge", true}, {"JSONMerge", true}};

/// Adds the statuses of the triggers, or Envoy Gateway's defaults if there are no triggers. Returns whether the
/// statuses in httpStatusCodes are used.
bool readTriggers(FieldReader& retryOn, TrafficRetry& retry) {
  const std::vector<Item> items = retryOn.list("triggers", kMaxTriggers);
  bool listed = items.empty();
  if (items.empty()) retry.grpcCodes = kShippedGrpcCodes;
  for (const Item& item : items) {
    const auto* const trigger =
        std::find_if(std::begin(kShippedTriggers), std::end(kShippedTriggers),
                     [&](const Choice<RetryTrigger>& each) { return each.word == item.value->text; });
    if (trigger == std::end(kShippedTriggers)) {
      retryOn.addUnsupported(
          {item.path, item.value->position, "trigger " + base::quote(item.value->text) + " is not supported", true});
    } else if (trigger->value.effect == TriggerEffect::kCodes) {
      addCodes(trigger->value.first, trigger->value.last, retry.codes);
    } else if (trigger->value.effect == TriggerEffect::kGrpc) {
      retry.grpcCodes |= 1U << trigger->value.first;
    } else if (trigger->value.effect == TriggerEffect::kListed) {
      listed = true;
    }
  }
  return listed;
}

void readRetryOn(FieldReader& retryOn, TrafficRetry& retry) {
  const bool listed = readTriggers(retryOn, retry);
  std::vector<std::uint16_t> codes;
  readTrafficCodes(retryOn, "httpStatusCodes", codes);
  if (!listed && !codes.empty()) {
    retryOn.unsupported("httpStatusCodes", "has no effect without the trigger retriable-status-codes", false);
  }
  if (codes.empty()) codes.push_back(kShippedCode);
  if (!listed) return;
  for (const std::uint16_t code : codes) addCodes(code, code, retry.codes);
}

/// The defaults of the parts of `retry` apply even if these parts are absent.
void readShippedRetry(FieldReader& reader, TrafficRetry& retry) {
  retry.attempts = kShippedRetries;
  readRetryCount(reader, "numRetries", {0, INT32_MAX}, retry);
  reader.map("retryOn").readInto(retry, readRetryOn);
  FieldReader perRetry = reader.map("perRetry");
  readAttemptTimeout(perRetry, retry);
  perRetry.map("backOff").readInto(retry, readBackOff);
  perRetry.finish();
  reader.read("numAttemptsPerPriority", retry.attemptsPerPriority, {0, INT32_MAX});
}

void readShippedPassive(FieldReader& reader, PassiveHealthSettings& passive) {
  constexpr NumberRange kAnyNumber{0, INT32_MAX};
  passive.interval = kShippedInterval;
  passive.maxEjectionPercent = kShippedEjectionPercent;
  reader.read("consecutive5XxErrors", passive.consecutive5XxErrors, kAnyNumber);
  reader.read("consecutiveGatewayErrors", passive.consecutiveGatewayErrors, kAnyNumber);
  reader.read("failurePercentageThreshold", passive.failurePercentage, kWholeShare);
  reader.read("maxEjectionPercent", passive.maxEjectionPercent, kWholeShare);
  reader.read("interval", passive.interval, kNotZero);
  reader.read("baseEjectionTime", passive.baseEjectionTime, kNotZero);
  passive.maxEjectionTime = std::max(passive.maxEjectionTime, passive.baseEjectionTime);
  reader.refuseTrue("splitExternalLocalOriginErrors");
  // The field has an effect only if errors are split.
  std::uint32_t unused = 0;
  reader.read("consecutiveLocalOriginFailures", unused, kAnyNumber);
  // The first Backend can always be ejected unless maxEjectionPercent is 0.
  if (reader.boolean("alwaysEjectOneEndpoint", false)) {
    passive.maxEjectionPercent = std::max(passive.maxEjectionPercent, 1U);
  }
}

void readShippedActive(FieldReader& reader, ActiveHealthSettings& active) {
  constexpr std::string_view kWithoutEffect[] = {"retriableStatuses"};
  reader.map("overrides").read("port", active.port, kPorts).finish();
  readActiveCheck(reader, {.withoutEffectOfHttp = kWithoutEffect}, active);
}

void readShippedHealth(FieldReader& checks, TrafficPolicy& policy) {
  checks.read("passive", policy.passiveHealth, readShippedPassive);
  if (checks.has("active")) checks.read("active", policy.activeHealth.emplace().emplace_back(), readShippedActive);
  std::uint32_t threshold = 0;
  checks.read("panicThreshold", threshold, kWholeShare);
  if (!checks.has("panicThreshold")) return;
  if (!policy.loadBalancing) policy.loadBalancing.emplace();
  policy.loadBalancing->panicThreshold = threshold;
}

void readShippedEndpointBound(FieldReader& each, base::CircuitBreakerBounds& bounds) {
  bounds.connections = base::CircuitBreakerBounds::kUsual;
  each.read("maxConnections", bounds.connections, kAtATime);
}

void readShippedBreaker(FieldReader& breaker, CircuitBreakerFields& fields) {
  readCircuitBreaker(breaker, fields);
  breaker.read("perEndpoint", fields.perEndpoint, readShippedEndpointBound);
}

/// Only a policy for routes has a parent with which it could be merged.
void readMergeType(FieldReader& spec, TrafficPolicy& policy) {
  spec.read("mergeType", policy.merges, kMergeTypes);
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
  spec.read("retry", policy.retry, readShippedRetry);
  spec.read("loadBalancer", policy.loadBalancing, readShippedBalancer);
  spec.read("healthCheck", policy, readShippedHealth);
  spec.read("timeout", policy.timeouts, readTrafficTimeouts);
  spec.read("tcpKeepalive", policy.keepalive, readTcpKeepalive);
  spec.read("dns", policy.dns, [](FieldReader& dns, TrafficDns& of) { readDnsTerms(dns, of.terms); });
  spec.read("circuitBreaker", policy.circuitBreaker, readShippedBreaker);
  for (const std::string_view key : kRefusedShipped) refuseUnusual(spec, "", key, usualShippedValues());
  readMergeType(spec, policy);
  spec.unsupported("telemetry", "telemetry is not supported", false);
  spec.refuseTrue("useClientProtocol");
}

}  // namespace sluice::config
