// Reads the form in which BackendTrafficPolicy was proposed to Envoy Gateway (envoyproxy/gateway#1821).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "config/read/object_readers.h"
#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::string_view kProposedFields[] = {"retryStrategy",   "healthChecking", "protocols",     "circuitBreakers",
                                                "keepAliveProbes", "timeouts",       "loadBalancing", "observability",
                                                "matching",        "integrations"};

constexpr base::Duration kProposedHealthyInterval = std::chrono::seconds(5);
constexpr base::Duration kProposedUnhealthyInterval = std::chrono::seconds(10);

constexpr std::string_view kStrategyTypes[] = {"http", "grpc"};
constexpr std::string_view kRetryLimits[] = {"budget", "static"};

constexpr Choice<RetryTrigger> kProposedTriggers[] = {
    {"5xx", {TriggerEffect::kCodes, 500, 599}},           {"gateway-error", {TriggerEffect::kCodes, 502, 504}},
    {"retriable-4xx", {TriggerEffect::kCodes, 409, 409}}, {"disconnect-reset", {TriggerEffect::kFailures}},
    {"connect-fail", {TriggerEffect::kFailures}},         {"refused-stream", {TriggerEffect::kFailures}},
    {"retriable-status-codes", {TriggerEffect::kListed}}};

constexpr Choice<std::uint32_t> kGrpcTriggers[] = {
    {"cancelled", 1}, {"deadline-exceeded", 4}, {"internal", 13}, {"resource-exhausted", 8}, {"unavailable", 14}};

void readHttpRetry(FieldReader& http, TrafficRetry& retry) {
  const RetryTrigger trigger =
      http.choice(required("retryOn"), kProposedTriggers, RetryTrigger{TriggerEffect::kFailures});
  if (trigger.effect == TriggerEffect::kCodes) addCodes(trigger.first, trigger.last, retry.codes);
  std::vector<std::uint16_t> codes;
  readTrafficCodes(http, "retriableStatusCodes", codes);
  if (trigger.effect == TriggerEffect::kListed) {
    http.require("retriableStatusCodes");
    retry.codes = codes;
  } else {
    http.unsupported("retriableStatusCodes", "has no effect without retryOn: retriable-status-codes", false);
  }
}

void readGrpcRetry(FieldReader& grpc, TrafficRetry& retry) {
  if (const std::uint32_t code = grpc.choice(required("retryOn"), kGrpcTriggers, 0U)) retry.grpcCodes = 1U << code;
}

constexpr std::uint32_t kUsualParallelRetries = 3;
constexpr NumberRange kParallelRetries{0, INT32_MAX};

/// Reads a percentage of the active requests. This program applies it to the requests of the last 10s, which has about
/// the same effect.
void readActiveBudget(FieldReader& budget, RetryBudgetFields& fields) {
  fields.minConcurrent = kUsualParallelRetries;
  budget.read(required("activeRequestPercent"), fields.percent, {1, 100});
  budget.read("minConcurrent", fields.minConcurrent, kParallelRetries);
}

/// Reads the limit of parallel retries, which does not depend on the number of requests.
void readStaticLimit(FieldReader& limit, RetryBudgetFields& fields) {
  fields.maxConcurrent = kUsualParallelRetries;
  limit.read("maxParallel", fields.maxConcurrent, kParallelRetries);
  fields.minConcurrent = fields.maxConcurrent;
}

/// Reads a field that has an effect only with that type.
template <typename T, ReadsFields<T> Fields>
void readOfType(FieldReader& reader, std::string_view key, bool isOfType, std::string_view type, T& model,
                Fields&& fields) {
  if (isOfType) {
    reader.read(required(key), model, fields);
  } else {
    reader.unsupported(key, "has no effect without type: " + std::string(type), false);
  }
}

void readRetryLimits(FieldReader& limits, RetryBudgetFields& fields) {
  const std::string_view type = limits.word(required("type"), kRetryLimits, {});
  readOfType(limits, "static", type == "static", "static", fields, readStaticLimit);
  readOfType(limits, "retryBudget", type == "budget", "budget", fields, readActiveBudget);
}

void readPerRetry(FieldReader& perRetry, TrafficRetry& retry) {
  readAttemptTimeout(perRetry, retry);
  perRetry.read("idleTimeout", retry.attemptIdleTimeout);
  perRetry.read("backoff", retry, [](FieldReader& backoff, TrafficRetry& of) {
    backoff.require("baseInterval");
    readBackOff(backoff, of);
  });
}

void readStrategy(FieldReader& reader, TrafficRetry& retry) {
  readRetryCount(reader, "numRetries", {0, INT32_MAX}, retry);
  const std::string_view type = reader.word(required("type"), kStrategyTypes, {});
  if (!type.empty()) readOfType(reader, "http", type == "http", "http", retry, readHttpRetry);
  readOfType(reader, "grpc", type == "grpc", "grpc", retry, readGrpcRetry);
  reader.read("retryLimits", retry.budget, readRetryLimits);
  reader.read("perRetry", retry, readPerRetry);
}

void readStatusRanges(FieldReader& http, std::vector<std::uint16_t>& statuses) {
  constexpr std::int64_t kLowest = 100;
  constexpr std::int64_t kHighest = 599;
  const std::vector<Item> items = http.list("expectedStatuses", kHighest - kLowest + 1);
  if (items.empty()) return;
  statuses.clear();
  for (const Item& item : items) {
    FieldReader range = http.map(item);
    const auto first = range.integer("min", kLowest, kHighest).value_or(kLowest);
    const auto last = range.integer("max", kLowest, kHighest).value_or(kHighest);
    if (first > last) range.error("max", "must not be less than min");
    addCodes(static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last), statuses);
    range.finish();
  }
}

bool hasHeader(const std::vector<HeaderValue>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const HeaderValue& each) { return each.name == name; });
}

/// Reads the header fields that are set and added. If a name is set more than once, the first entry is used, as in a
/// filter of a route.
void readAddedHeaders(FieldReader& reader, std::vector<HeaderValue>& headers) {
  for (const Item& item : reader.list("set", kMostCheckHeaders)) {
    HeaderValue header;
    reader.map(item).readInto(header, readCheckHeader);
    if (!hasHeader(headers, header.name)) headers.push_back(std::move(header));
  }
  reader.read("add", headers, kMostCheckHeaders, readCheckHeader);
  if (headers.size() <= kMostCheckHeaders) return;
  reader.error("has " + std::to_string(headers.size()) + " header fields; at most " +
               std::to_string(kMostCheckHeaders) + " are allowed");
}

/// As in Envoy, removal comes first, so it concerns only what a check has by itself: Host and User-Agent.
void readRemovedHeaders(FieldReader& http, const std::vector<HeaderValue>& added) {
  for (const Item& item : http.list("removeRequestHeaders", kMostCheckHeaders)) {
    const auto name = readText(*item.value, item.path, rule::kHeaderName, http.context());
    if (!name) continue;
    if (base::equalsIgnoringCase(*name, "host")) http.error(item, "must not be Host, which every request has");
    if (!base::equalsIgnoringCase(*name, "user-agent") || hasHeader(added, "user-agent")) continue;
    http.addUnsupported({item.path, item.value->position, "every check has a User-Agent", true});
  }
}

void readProposedHttpCheck(FieldReader& http, ActiveHealthSettings& active) {
  readCheckedPath(http, active.path);
  http.read("hostname", active.hostname, rule::kPreciseHostname);
  readStatusRanges(http, active.expectedStatuses);
  http.read("addRequestHeaders", active.headers, readAddedHeaders);
  readRemovedHeaders(http, active.headers);
}

void readProposedGrpcCheck(FieldReader grpc, ActiveHealthSettings& active) {
  grpc.read(required("upstreamName"), active.service, rule::kAnyText);
  grpc.read("authority", active.hostname, rule::kPreciseHostname);
  grpc.finish();
}

/// By the defaults of the proposal, checks are not logged.
void readCheckLogging(FieldReader& logging, base::CheckLog& log) {
  const bool isEnabled = logging.boolean("enabled", false);
  const bool hasFailures = logging.boolean("alwaysLogFailures", false);
  log = !isEnabled ? base::CheckLog::kOff : hasFailures ? base::CheckLog::kAll : base::CheckLog::kTransitions;
  if (!hasFailures || isEnabled) return;
  logging.unsupported("alwaysLogFailures", "has no effect without enabled: true", false);
}

void readProposedCheck(FieldReader& reader, ActiveHealthSettings& active) {
  using Type = ActiveHealthSettings::Type;
  static constexpr Choice<Type> kTypes[] = {{"http", Type::kHttp}, {"grpc", Type::kGrpc}};
  active.type = Type::kHttp;
  active.interval = kProposedHealthyInterval;
  active.unhealthyInterval = kProposedUnhealthyInterval;
  reader.read("connectionTimeout", active.timeout, kNotZero);
  readCheckInterval(reader, "healthyCheckInterval", active.interval);
  readCheckInterval(reader, "unhealthyCheckInterval", active.unhealthyInterval);
  reader.read("unhealthyThreshold", active.unhealthyThreshold, kResultsInARow);
  reader.read("healthyThreshold", active.healthyThreshold, kResultsInARow);
  reader.map("logging").readInto(active.log, readCheckLogging);
  reader.read(required("type"), active.type, kTypes);
  if (active.type == Type::kGrpc) {
    reader.require("grpc");
    readProposedGrpcCheck(reader.map("grpc"), active);
    reader.unsupported("http", "has no effect without type: http", false);
  } else {
    active.path = "/";
    reader.read("http", active, readProposedHttpCheck);
    reader.unsupported("grpc", "has no effect without type: grpc", false);
  }
}

void readOutlierDetection(FieldReader& reader, PassiveHealthSettings& passive) {
  constexpr std::int64_t kMostPercent = 100;
  constexpr std::uint32_t kProposedPercentage = 85;
  reader.read("checkInterval", passive.interval, kNotZero);
  reader.map("consecutive5XX").read("threshold", passive.consecutive5XxErrors, {0, INT32_MAX}).finish();
  if (!reader.has("failurePercentage")) return;
  FieldReader percentage = reader.map("failurePercentage");
  passive.failurePercentage = kProposedPercentage;
  percentage.read("threshold", passive.failurePercentage, {0, kMostPercent});
  percentage.read("minimumRequests", passive.minimumRequests, {0, INT32_MAX});
  percentage.finish();
}

void readHealthChecking(FieldReader& checking, TrafficPolicy& policy) {
  constexpr std::size_t kMostItems = 16;
  checking.read("outlierDetection", policy.passiveHealth, readOutlierDetection);
  const std::vector<Item> items = checking.list("activeChecks", kMostItems);
  if (!items.empty()) policy.activeHealth.emplace();
  for (const Item& item : items) {
    if (policy.activeHealth->size() == kMostActiveChecks) {
      checking.addUnsupported({item.path, item.value->position, "at most four active checks are supported", true});
    } else {
      checking.map(item).readInto(policy.activeHealth->emplace_back(), readProposedCheck);
    }
  }
}

/// Reads the limits for each priority of requests. A TrafficPolicy gives rules their priority.
void readProposedBreakers(FieldReader& spec, TrafficPolicy& policy) {
  static constexpr std::string_view kPriorities[] = {"default", "high"};
  constexpr std::uint32_t kUsual = base::CircuitBreakerBounds::kUsual;
  for (const Item& item : spec.list("circuitBreakers", std::size(kPriorities))) {
    FieldReader breaker = spec.map(item);
    base::CircuitBreakerBounds bounds{kUsual, kUsual, kUsual};
    readCircuitBreakerBounds(breaker, bounds);
    if (!policy.circuitBreaker) policy.circuitBreaker.emplace();
    CircuitBreakerFields& fields = *policy.circuitBreaker;
    const bool isHigh = breaker.word("priority", kPriorities, "default") == "high";
    base::CircuitBreakerBounds& ofPriority = isHigh ? fields.high : fields.bounds;
    if (ofPriority.any()) {
      breaker.error("priority", "repeats that of another circuit breaker");
    } else {
      ofPriority = bounds;
    }
    breaker.finish();
  }
}

void readProposedTimeouts(FieldReader& reader, TrafficTimeouts& timeouts) {
  readSomeTime(reader, "connectTimeout", timeouts.connect);
  readSomeTime(reader, "idleTimeout", timeouts.streamIdle);
  readSomeTime(reader, "clusterIdleTimeout", timeouts.connectionIdle);
  reader.read("maxConnectionLifetime", timeouts.connectionLifetime);
}

void readProposedKeepalive(FieldReader& reader, base::TcpKeepalive& keepalive) {
  readProbes(reader, "maxProbes", keepalive);
}

/// Reads `dns` and `protocols`, which together decide which addresses a connection may use.
void readProposedDns(FieldReader& spec, TrafficDns& result) {
  static constexpr Choice<bool> kDnsTypes[] = {{"strict", false}, {"logical", true}};
  FieldReader dns = spec.map("dns");
  dns.read("type", result.logical, kDnsTypes).read("respectDnsTtl", result.terms.respectTtl).finish();
  if (!spec.has("protocols")) return;
  using Family = base::LookupFamily;
  FieldReader protocols = spec.map("protocols");
  const bool ipv4 = protocols.boolean("enableIPv4", true);
  const bool ipv6 = protocols.boolean("enableIPv6", false);
  if (!ipv4 && !ipv6) spec.error("protocols", "must enable IPv4 or IPv6");
  result.terms.family = ipv4 && ipv6 ? Family::kBoth : ipv6 ? Family::kIpv6 : Family::kIpv4;
  protocols.finish();
}

}  // namespace

std::span<const std::string_view> proposedTrafficFields() { return kProposedFields; }

void readProposedTraffic(FieldReader& spec, TrafficPolicy& policy) {
  spec.read("retryStrategy", policy.retry, readStrategy);
  spec.read("healthChecking", policy, readHealthChecking);
  spec.read("timeouts", policy.timeouts, readProposedTimeouts);
  spec.read("keepAliveProbes", policy.keepalive, readProposedKeepalive);
  if (spec.has("dns") || spec.has("protocols")) readProposedDns(spec, policy.dns.emplace());
  readProposedBreakers(spec, policy);
  spec.read("loadBalancing", policy.loadBalancing, readProposedBalancing);
  spec.read("matching", policy.matching, readMatching);
  if (matchesTooLate(policy)) spec.unsupported("matching", std::string(kMatchesTooLate));
  spec.read("integrations", policy.integrations, readIntegrations);
  spec.unsupported("observability", "observability is not supported", false);
}

}  // namespace sluice::config
