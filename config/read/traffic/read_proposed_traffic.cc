// Reads the form in which BackendTrafficPolicy was proposed to Envoy Gateway (envoyproxy/gateway#1821).
#include <chrono>
#include <cstdint>
#include <string>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr std::string_view kProposedFields[] = {"retryStrategy",   "healthChecking", "protocols",     "circuitBreakers",
                                                "keepAliveProbes", "timeouts",       "loadBalancing", "observability",
                                                "matching",        "integrations"};
constexpr std::string_view kRefusedProposed[] = {"loadBalancing", "matching", "integrations"};

constexpr base::Duration kProposedHealthyInterval = std::chrono::seconds(5);
constexpr base::Duration kProposedUnhealthyInterval = std::chrono::seconds(10);

enum class StrategyType : std::uint8_t { kNone, kHttp, kGrpc };
constexpr Choice<StrategyType> kStrategyTypes[] = {{"http", StrategyType::kHttp}, {"grpc", StrategyType::kGrpc}};

enum class RetryLimit : std::uint8_t { kNone, kBudget, kStatic };
constexpr Choice<RetryLimit> kRetryLimits[] = {{"budget", RetryLimit::kBudget}, {"static", RetryLimit::kStatic}};

constexpr RetryTrigger kProposedNone{"", TriggerEffect::kUnsupported};
constexpr Choice<RetryTrigger> kProposedTriggers[] = {
    {"5xx", {"5xx", TriggerEffect::kCodes, 500, 599}},
    {"gateway-error", {"gateway-error", TriggerEffect::kCodes, 502, 504}},
    {"retriable-4xx", {"retriable-4xx", TriggerEffect::kCodes, 409, 409}},
    {"disconnect-reset", {"disconnect-reset", TriggerEffect::kFailures}},
    {"connect-fail", {"connect-fail", TriggerEffect::kFailures}},
    {"refused-stream", {"refused-stream", TriggerEffect::kFailures}},
    {"retriable-status-codes", {"retriable-status-codes", TriggerEffect::kListed}}};

constexpr Choice<std::uint32_t> kGrpcTriggers[] = {
    {"cancelled", 1}, {"deadline-exceeded", 4}, {"internal", 13}, {"resource-exhausted", 8}, {"unavailable", 14}};

void readHttpRetry(FieldReader http, HttpRouteRetry& retry, std::vector<UnsupportedField>& unsupported) {
  http.require("retryOn");
  const RetryTrigger trigger = http.choice("retryOn", kProposedTriggers, kProposedNone);
  if (trigger.effect == TriggerEffect::kCodes) addCodes(trigger.first, trigger.last, retry.codes);
  const bool listed = trigger.effect == TriggerEffect::kListed;
  std::vector<std::uint16_t> codes;
  readTrafficCodes(http, "retriableStatusCodes", codes, unsupported);
  if (listed) {
    http.require("retriableStatusCodes");
    retry.codes = codes;
  } else if (http.has("retriableStatusCodes")) {
    http.unsupported("retriableStatusCodes", "has no effect without retryOn: retriable-status-codes", false,
                     unsupported);
  }
  http.finish();
}

void readGrpcRetry(FieldReader grpc, TrafficRetry& retry) {
  grpc.require("retryOn");
  if (const std::uint32_t code = grpc.choice("retryOn", kGrpcTriggers, 0U)) retry.grpcCodes = 1U << code;
  grpc.finish();
}

constexpr std::int64_t kUsualParallelRetries = 3;

std::uint32_t readParallelRetries(FieldReader& reader, std::string_view key) {
  return static_cast<std::uint32_t>(reader.integer(key, 0, INT32_MAX).value_or(kUsualParallelRetries));
}

/// Reads a share of the requests at a time. Here the share is of the requests of the last 10s, which comes to about the
/// same.
RetryBudgetFields readActiveBudget(FieldReader budget) {
  RetryBudgetFields fields;
  budget.require("activeRequestPercent");
  const auto percent = budget.integer("activeRequestPercent", 1, 100);
  if (percent) fields.percent = static_cast<std::uint32_t>(*percent);
  fields.minConcurrent = readParallelRetries(budget, "minConcurrent");
  budget.finish();
  return fields;
}

/// Reads how many retries there are at a time, of whatever number of requests.
RetryBudgetFields readStaticLimit(FieldReader limit) {
  RetryBudgetFields fields;
  fields.maxConcurrent = readParallelRetries(limit, "maxParallel");
  fields.minConcurrent = fields.maxConcurrent;
  limit.finish();
  return fields;
}

RetryBudgetFields readRetryLimits(FieldReader limits, std::vector<UnsupportedField>& unsupported) {
  RetryBudgetFields fields;
  limits.require("type");
  const RetryLimit type = limits.choice("type", kRetryLimits, RetryLimit::kNone);
  if (type == RetryLimit::kStatic) {
    limits.require("static");
    if (limits.has("static")) fields = readStaticLimit(limits.map("static"));
  } else {
    limits.unsupported("static", "has no effect without type: static", false, unsupported);
  }
  if (type == RetryLimit::kBudget) {
    limits.require("retryBudget");
    if (limits.has("retryBudget")) fields = readActiveBudget(limits.map("retryBudget"));
  } else {
    limits.unsupported("retryBudget", "has no effect without type: budget", false, unsupported);
  }
  limits.finish();
  return fields;
}

TrafficRetry readStrategy(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  TrafficRetry retry;
  readRetryCount(reader, "numRetries", retry, unsupported);
  reader.require("type");
  const StrategyType type = reader.choice("type", kStrategyTypes, StrategyType::kNone);
  if (type == StrategyType::kHttp) {
    reader.require("http");
    if (reader.has("http")) readHttpRetry(reader.map("http"), retry, unsupported);
  }
  if (type == StrategyType::kGrpc) {
    reader.require("grpc");
    if (reader.has("grpc")) readGrpcRetry(reader.map("grpc"), retry);
  } else {
    reader.unsupported("grpc", "has no effect without type: grpc", false, unsupported);
  }
  if (type == StrategyType::kGrpc) reader.unsupported("http", "has no effect without type: http", false, unsupported);
  if (reader.has("retryLimits")) retry.budget = readRetryLimits(reader.map("retryLimits"), unsupported);
  FieldReader perRetry = reader.map("perRetry");
  readAttemptTimeout(perRetry, retry);
  readAttemptIdleTimeout(perRetry, "idleTimeout", retry);
  if (perRetry.has("backoff")) {
    FieldReader backoff = perRetry.map("backoff");
    backoff.require("baseInterval");
    readBackOff(std::move(backoff), retry);
  }
  perRetry.finish();
  reader.finish();
  return retry;
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

void readProposedHttpCheck(FieldReader http, ActiveHealthSettings& active, std::vector<UnsupportedField>& unsupported) {
  constexpr std::string_view kRefusedHeaders[] = {"addRequestHeaders", "removeRequestHeaders"};
  active.path = http.has("path") ? readCheckedPath(http) : "/";
  active.hostname = http.text("hostname", rule::kPreciseHostname);
  readStatusRanges(http, active.expectedStatuses);
  refuseFields(http, kRefusedHeaders, unsupported);
  http.finish();
}

/// Whether checks are logged is not up to policies: the log has each change of a Backend's health.
void readCheckLogging(FieldReader logging, std::vector<UnsupportedField>& unsupported) {
  for (const std::string_view key : {"enabled", "alwaysLogFailures"}) {
    if (logging.boolean(key, false)) {
      logging.unsupported(key, "the log has each change of health, and no single checks", false, unsupported);
    }
  }
  logging.finish();
}

ActiveHealthSettings readProposedCheck(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  using Type = ActiveHealthSettings::Type;
  static constexpr Choice<Type> kTypes[] = {{"http", Type::kHttp}, {"grpc", Type::kGrpc}};
  ActiveHealthSettings active;
  active.interval = kProposedHealthyInterval;
  active.unhealthyInterval = kProposedUnhealthyInterval;
  const auto time = [&reader](std::string_view key, base::Duration& of) {
    of = reader.duration(key).value_or(of);
    if (of == base::Duration::zero()) reader.error(key, "must not be zero");
  };
  time("connectionTimeout", active.timeout);
  time("healthyCheckInterval", active.interval);
  time("unhealthyCheckInterval", active.unhealthyInterval);
  readThreshold(reader, "unhealthyThreshold", active.unhealthyThreshold);
  readThreshold(reader, "healthyThreshold", active.healthyThreshold);
  if (reader.has("logging")) readCheckLogging(reader.map("logging"), unsupported);
  reader.require("type");
  active.type = reader.choice("type", kTypes, Type::kHttp);
  if (active.type == Type::kGrpc) {
    reader.require("grpc");
    FieldReader grpc = reader.map("grpc");
    active.service = grpc.requiredText("upstreamName", rule::kAnyText);
    active.hostname = grpc.text("authority", rule::kPreciseHostname);
    grpc.finish();
    reader.unsupported("http", "has no effect without type: http", false, unsupported);
  } else {
    readProposedHttpCheck(reader.map("http"), active, unsupported);
    reader.unsupported("grpc", "has no effect without type: grpc", false, unsupported);
  }
  reader.finish();
  return active;
}

void readProposedChecks(FieldReader& checking, TrafficPolicy& policy) {
  constexpr std::size_t kMostChecks = 16;
  for (const Item& item : checking.list("activeChecks", kMostChecks)) {
    if (policy.activeHealth) {
      policy.unsupported.push_back({item.path, item.value->position, "only one active check is supported", true});
      continue;
    }
    policy.activeHealth = readProposedCheck(checking.map(item), policy.unsupported);
  }
}

PassiveHealthSettings readOutlierDetection(FieldReader reader) {
  constexpr std::int64_t kMostPercent = 100;
  constexpr std::uint32_t kProposedPercentage = 85;
  PassiveHealthSettings passive;
  readSweepInterval(reader, "checkInterval", passive);
  FieldReader errors = reader.map("consecutive5XX");
  readNumber(errors, "threshold", 0, INT32_MAX, passive.consecutive5XxErrors);
  errors.finish();
  if (reader.has("failurePercentage")) {
    FieldReader percentage = reader.map("failurePercentage");
    passive.failurePercentage = kProposedPercentage;
    readNumber(percentage, "threshold", 0, kMostPercent, passive.failurePercentage);
    readNumber(percentage, "minimumRequests", 0, INT32_MAX, passive.minimumRequests);
    percentage.finish();
  }
  reader.finish();
  return passive;
}

/// Reads the bounds for each priority of requests. All requests have the same one here.
void readProposedBreakers(FieldReader& spec, TrafficPolicy& policy) {
  enum class Priority : std::uint8_t { kDefault, kHigh };
  static constexpr Choice<Priority> kPriorities[] = {{"default", Priority::kDefault}, {"high", Priority::kHigh}};
  constexpr std::uint32_t kUsualBound = 1024;
  const std::vector<Item> items = spec.list("circuitBreakers", std::size(kPriorities));
  for (const Item& item : items) {
    FieldReader breaker = spec.map(item);
    const base::CircuitBreakerBounds bounds = readCircuitBreakerBounds(breaker, kUsualBound);
    if (breaker.choice("priority", kPriorities, Priority::kDefault) == Priority::kHigh) {
      breaker.unsupported("priority", "all requests have the default priority", true, policy.unsupported);
    } else if (policy.circuitBreaker) {
      breaker.error("priority", "repeats that of another circuit breaker");
    } else {
      policy.circuitBreaker.emplace().bounds = bounds;
    }
    breaker.finish();
  }
}

TrafficTimeouts readProposedTimeouts(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  TrafficTimeouts timeouts;
  timeouts.connect = readSomeTime(reader, "connectTimeout", unsupported);
  timeouts.streamIdle = readSomeTime(reader, "idleTimeout", unsupported);
  timeouts.connectionIdle = readSomeTime(reader, "clusterIdleTimeout", unsupported);
  timeouts.connectionLifetime = reader.duration("maxConnectionLifetime");
  reader.finish();
  return timeouts;
}

base::TcpKeepalive readProposedKeepalive(FieldReader reader) {
  base::TcpKeepalive keepalive;
  readProbes(reader, "maxProbes", keepalive);
  return keepalive;
}

/// Reads `dns` and `protocols`, which say together which addresses a connection may go to.
TrafficDns readProposedDns(FieldReader& spec) {
  static constexpr Choice<bool> kDnsTypes[] = {{"strict", false}, {"logical", true}};
  TrafficDns result;
  FieldReader dns = spec.map("dns");
  result.logical = dns.choice("type", kDnsTypes, false);
  result.terms.respectTtl = dns.boolean("respectDnsTtl", true);
  dns.finish();
  if (!spec.has("protocols")) return result;
  using Family = base::LookupFamily;
  FieldReader protocols = spec.map("protocols");
  const bool ipv4 = protocols.boolean("enableIPv4", true);
  const bool ipv6 = protocols.boolean("enableIPv6", false);
  if (!ipv4 && !ipv6) spec.error("protocols", "must enable IPv4 or IPv6");
  result.terms.family = ipv4 && ipv6 ? Family::kBoth : ipv6 ? Family::kIpv6 : Family::kIpv4;
  protocols.finish();
  return result;
}

}  // namespace

std::span<const std::string_view> proposedTrafficFields() { return kProposedFields; }

void readProposedTraffic(FieldReader& spec, TrafficPolicy& policy) {
  if (spec.has("retryStrategy")) policy.retry = readStrategy(spec.map("retryStrategy"), policy.unsupported);
  if (spec.has("healthChecking")) {
    FieldReader checking = spec.map("healthChecking");
    if (checking.has("outlierDetection")) {
      policy.passiveHealth = readOutlierDetection(checking.map("outlierDetection"));
    }
    readProposedChecks(checking, policy);
    checking.finish();
  }
  if (spec.has("timeouts")) policy.timeouts = readProposedTimeouts(spec.map("timeouts"), policy.unsupported);
  if (spec.has("keepAliveProbes")) policy.keepalive = readProposedKeepalive(spec.map("keepAliveProbes"));
  if (spec.has("dns") || spec.has("protocols")) policy.dns = readProposedDns(spec);
  readProposedBreakers(spec, policy);
  refuseFields(spec, kRefusedProposed, policy.unsupported);
  spec.unsupported("observability", "observability is not supported", false, policy.unsupported);
}

}  // namespace sluice::config
