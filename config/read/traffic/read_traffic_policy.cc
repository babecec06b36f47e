#include <algorithm>

#include "config/read/object_kinds.h"
#include "config/read/object_readers.h"
#include "config/read/stray_target.h"
#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/grpc_status.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxPriorities = 64;
constexpr std::int64_t kHighestPriority = 15;
constexpr std::int64_t kLeastOverprovisioning = 100;  // percent
constexpr std::int64_t kMostOverprovisioning = 1000;
constexpr std::int64_t kMostBudgetedRetries = 1'000'000;

bool isRouteTarget(const ObjectRef& object) {
  return object.group == kGatewayGroup && (object.kind == HttpRoute::kKind || object.kind == GrpcRoute::kKind);
}

void checkTarget(FieldReader& spec, const PolicyTarget& target, const std::string& path, const Position& position) {
  if (!target.legible() || isRouteTarget(target.object) || isBackendTarget(target)) return;
  if (isKindOf<Gateway>(target.object.group, target.object.kind)) return;
  spec.context().error(position, path,
                       "must be a Gateway, an HTTPRoute or a GRPCRoute of gateway.networking.k8s.io, an EgressGateway "
                       "of ainetworking.prototype.x-k8s.io, a Backend or a Service" +
                           nearestTargetKind(target.targetKind()));
}

/// Refuses for a Backend what is decided about a request before it has one.
void checkBackendFields(FieldReader& spec, const TrafficPolicy& policy) {
  if (std::none_of(policy.targets.begin(), policy.targets.end(), isBackendTarget)) return;
  for (const std::string_view field : {"retry", "failover"}) {
    if (spec.has(field)) spec.error(field, "is for Gateways and routes alone, not for a Backend or a Service");
  }
  refuseRequestSettings(spec, policy);
}

/// Refuses for a Service what is about names: its endpoints have addresses.
void checkServiceFields(FieldReader& spec, const TrafficPolicy& policy) {
  const bool ofService = std::any_of(policy.targets.begin(), policy.targets.end(), [](const PolicyTarget& each) {
    return isKindOf<Service>(each.object.group, each.object.kind);
  });
  if (ofService && policy.dns) spec.error("dns", "is not for a Service, whose endpoints have addresses");
}

/// Refuses priorities for a Gateway: what they name are backendRefs, which its routes have and it has not.
void checkPriorities(FieldReader& spec, const TrafficPolicy& policy) {
  if (!policy.failover || policy.failover->priorities.empty()) return;
  const bool ofGateway = std::any_of(policy.targets.begin(), policy.targets.end(), [](const PolicyTarget& each) {
    return isKindOf<Gateway>(each.object.group, each.object.kind);
  });
  if (!ofGateway) return;
  spec.context().error(spec.positionOf("failover"), spec.pathOf("failover") + ".priorities",
                       "must not be given for a Gateway, which has no backendRefs");
}

FailoverPriority readPriority(FieldReader reader) {
  FailoverPriority result;
  result.path = reader.path();
  reader.require("backendRef");
  if (reader.has("backendRef")) {
    FieldReader ref = reader.map("backendRef");
    result.backendRef.object = readObjectRef(ref, {"", "Service"}, true);
    result.backendRef.port = ref.port("port");
    ref.finish();
  }
  reader.require("priority");
  result.priority = static_cast<std::uint32_t>(reader.integer("priority", 0, kHighestPriority).value_or(0));
  reader.finish();
  return result;
}

bool isSame(const BackendObjectReference& a, const BackendObjectReference& b) {
  return a.object.group == b.object.group && a.object.kind == b.object.kind && a.object.name == b.object.name &&
         a.object.nameSpace == b.object.nameSpace && a.port == b.port;
}

FailoverSettings readFailover(FieldReader reader) {
  FailoverSettings failover;
  for (const Item& item : reader.list("priorities", kMaxPriorities)) {
    FailoverPriority each = readPriority(reader.map(item));
    const bool repeats =
        std::any_of(failover.priorities.begin(), failover.priorities.end(),
                    [&](const FailoverPriority& other) { return isSame(other.backendRef, each.backendRef); });
    if (repeats) reader.context().error(item.value->position, each.path + ".backendRef", "repeats one of the list");
    failover.priorities.push_back(std::move(each));
  }
  const auto factor = reader.integer("overprovisioningFactor", kLeastOverprovisioning, kMostOverprovisioning);
  if (factor) failover.overprovisioningFactor = static_cast<std::uint32_t>(*factor);
  if (const auto most = reader.duration("maxRetryAfter")) failover.maxRetryAfter = *most;
  reader.finish();
  return failover;
}

RetryBudgetFields readBudget(FieldReader reader) {
  RetryBudgetFields budget;
  if (const auto percent = reader.integer("percent", 0, 100)) budget.percent = static_cast<std::uint32_t>(*percent);
  const auto number = [&reader](std::string_view key, std::optional<std::uint32_t>& of) {
    if (const auto given = reader.integer(key, 0, kMostBudgetedRetries)) of = static_cast<std::uint32_t>(*given);
  };
  number("minPerSecond", budget.minPerSecond);
  number("minConcurrent", budget.minConcurrent);
  number("maxConcurrent", budget.maxConcurrent);
  if (budget.minPerSecond && budget.minConcurrent) {
    reader.error("minConcurrent", "must not be given together with minPerSecond");
  }
  reader.finish();
  return budget;
}

TrafficRetry readTrafficRetry(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  TrafficRetry retry;
  readRetryFields(reader, 0, retry, unsupported);
  for (const Item& item : reader.list("grpcCodes", base::kGrpcStatusNames.size())) {
    const auto code = base::grpcStatusNamed(item.value->text);
    if (!code || *code == 0) {
      reader.context().error(item.value->position, item.path,
                             "must be a status of gRPC that is no success, such as UNAVAILABLE");
    } else {
      retry.grpcCodes |= 1U << *code;
    }
  }
  if (const auto most = reader.duration("maxBackoff")) {
    retry.longestBackoff = *most;
    if (*most < retry.backoff) reader.error("maxBackoff", "must not be less than backoff");
  }
  if (const auto timeout = reader.duration("attemptTimeout")) {
    retry.attemptTimeout = *timeout;
    if (*timeout == base::Duration::zero()) reader.error("attemptTimeout", "must not be zero");
  }
  readAttemptIdleTimeout(reader, "attemptIdleTimeout", retry);
  retry.budget = readBudget(reader.map("budget"));
  reader.finish();
  return retry;
}

}  // namespace

std::optional<TrafficPolicy> readTrafficPolicy(FieldReader& root, ObjectMeta meta) {
  TrafficPolicy policy;
  policy.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readTargetRefs(spec);
  std::size_t index = 0;
  for (const PolicyTarget& each : policy.targets) {
    checkTarget(spec, each, spec.pathOf("targetRefs") + "[" + std::to_string(index++) + "]",
                spec.positionOf("targetRefs"));
  }
  if (spec.has("retry")) policy.retry = readTrafficRetry(spec.map("retry"), policy.unsupported);
  if (spec.has("failover")) policy.failover = readFailover(spec.map("failover"));
  readBackendTraffic(spec, policy, policy.unsupported);
  constexpr std::string_view kAll[] = {"retry",        "failover", "healthCheck",   "timeout",
                                       "tcpKeepalive", "dns",      "circuitBreaker"};
  if (root.has("spec") && std::none_of(std::begin(kAll), std::end(kAll), [&](auto key) { return spec.has(key); })) {
    root.error("spec", "must have retry, failover, healthCheck, timeout, tcpKeepalive, dns or circuitBreaker");
  }
  checkPriorities(spec, policy);
  checkBackendFields(spec, policy);
  checkServiceFields(spec, policy);
  spec.finish();
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
