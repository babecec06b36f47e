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
constexpr NumberRange kOverprovisioning{100, 1000};  // percent
constexpr NumberRange kBudgetedRetries{0, 1'000'000};
constexpr std::uint64_t kMaxReplayBytes = std::uint64_t{1} << 40;  // as of limits.replayBuffer

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

/// Refuses settings for a Backend that apply before a request has a Backend.
void checkBackendFields(FieldReader& spec, const TrafficPolicy& policy) {
  if (std::none_of(policy.targets.begin(), policy.targets.end(), isBackendTarget)) return;
  for (const std::string_view field : {"retry", "failover"}) {
    if (spec.has(field)) spec.error(field, "is for Gateways and routes alone, not for a Backend or a Service");
  }
  refuseRequestSettings(spec, policy);
}

template <typename Object>
bool hasTargetOf(const TrafficPolicy& policy) {
  return std::any_of(policy.targets.begin(), policy.targets.end(),
                     [](const PolicyTarget& each) { return isKindOf<Object>(each.object.group, each.object.kind); });
}

/// Refuses priorities for a Gateway. They name backendRefs, and a Gateway has none; its routes have them.
void checkPriorities(FieldReader& spec, const TrafficPolicy& policy) {
  if (!policy.failover || policy.failover->priorities.empty() || !hasTargetOf<Gateway>(policy)) return;
  spec.context().error(spec.positionOf("failover"), spec.pathOf("failover") + ".priorities",
                       "must not be given for a Gateway, which has no backendRefs");
}

/// Refuses a priority for anything but routes, which give it to their requests.
void checkRequestPriority(FieldReader& spec, const TrafficPolicy& policy) {
  const bool isOfOthers =
      hasTargetOf<Gateway>(policy) || std::any_of(policy.targets.begin(), policy.targets.end(), isBackendTarget);
  if (!spec.has("priority") || !isOfOthers) return;
  spec.error("priority", "is for routes and their rules alone, not for a Gateway, a Backend or a Service");
}

/// Refuses `via` for anything but a Backend or a Service, because only its owner knows what it does with the field.
void checkVia(FieldReader& spec, const TrafficPolicy& policy) {
  if (!policy.sendsVia || std::all_of(policy.targets.begin(), policy.targets.end(), isBackendTarget)) return;
  spec.error("via", "is for a Backend or a Service alone, not for Gateways and routes");
}

void readPriority(FieldReader& reader, FailoverPriority& priority) {
  priority.path = reader.path();
  reader.read(required("backendRef"), priority.backendRef, readBackendObjectReference);
  reader.read(required("priority"), priority.priority, {0, kHighestPriority});
}

bool isSame(const BackendObjectReference& a, const BackendObjectReference& b) {
  return a.object.group == b.object.group && a.object.kind == b.object.kind && a.object.name == b.object.name &&
         a.object.nameSpace == b.object.nameSpace && a.port == b.port;
}

void readFailover(FieldReader& reader, FailoverSettings& failover) {
  for (const Item& item : reader.list("priorities", kMaxPriorities)) {
    FailoverPriority each;
    reader.map(item).readInto(each, readPriority);
    const bool repeats =
        std::any_of(failover.priorities.begin(), failover.priorities.end(),
                    [&](const FailoverPriority& other) { return isSame(other.backendRef, each.backendRef); });
    if (repeats) reader.context().error(item.value->position, each.path + ".backendRef", "repeats one of the list");
    failover.priorities.push_back(std::move(each));
  }
  reader.read("overprovisioningFactor", failover.overprovisioningFactor, kOverprovisioning);
  reader.read("maxRetryAfter", failover.maxRetryAfter);
}

void readBudget(FieldReader& reader, RetryBudgetFields& budget) {
  reader.read("percent", budget.percent, {0, 100});
  reader.read("minPerSecond", budget.minPerSecond, kBudgetedRetries);
  reader.read("minConcurrent", budget.minConcurrent, kBudgetedRetries);
  reader.read("maxConcurrent", budget.maxConcurrent, kBudgetedRetries);
  if (budget.minPerSecond && budget.minConcurrent) {
    reader.error("minConcurrent", "must not be given together with minPerSecond");
  }
}

void readTrafficRetry(FieldReader& reader, TrafficRetry& retry) {
  readRetryFields(reader, 0, retry);
  for (const Item& item : reader.list("grpcCodes", base::kGrpcStatusNames.size())) {
    const auto code = base::grpcStatusNamed(item.value->text);
    if (!code || *code == 0) {
      reader.error(item, "must be a status of gRPC that is no success, such as UNAVAILABLE");
    } else {
      retry.grpcCodes |= 1U << *code;
    }
  }
  reader.read("maxBackoff", retry.longestBackoff,
              {retry.backoff, base::Duration::max(), "must not be less than backoff"});
  reader.read("attemptTimeout", retry.attemptTimeout, kNotZero);
  reader.read("attemptIdleTimeout", retry.attemptIdleTimeout);
  reader.read("attemptsPerPriority", retry.attemptsPerPriority, {0, INT32_MAX});
  retry.replayBytes = reader.quantity("replayBytes", 0, kMaxReplayBytes);
  reader.read("budget", retry.budget, readBudget);
}

}  // namespace

void readTrafficPolicy(FieldReader& spec, TrafficPolicy& policy) {
  if (spec.given()) readTargetRefs(spec, policy);
  for (std::size_t i = 0; i < policy.targets.size(); ++i) {
    checkTarget(spec, policy.targets[i], spec.pathOf("targetRefs") + "[" + std::to_string(i) + "]",
                spec.positionOf("targetRefs"));
  }
  spec.read("retry", policy.retry, readTrafficRetry);
  spec.read("failover", policy.failover, readFailover);
  readBackendTraffic(spec, policy);
  spec.read("matching", policy.matching, readMatching);
  spec.read("integrations", policy.integrations, readIntegrations);
  static constexpr Choice<RequestPriority> kPriorities[] = {{"Default", RequestPriority::kDefault},
                                                            {"High", RequestPriority::kHigh}};
  spec.read("priority", policy.priority, kPriorities);
  constexpr std::string_view kAll[] = {"retry",        "failover",     "healthCheck",    "timeout",
                                       "tcpKeepalive", "dns",          "circuitBreaker", "loadBalancing",
                                       "matching",     "integrations", "priority",       "via"};
  if (spec.given() && std::none_of(std::begin(kAll), std::end(kAll), [&](auto key) { return spec.has(key); })) {
    spec.error(
        "must have retry, failover, healthCheck, timeout, tcpKeepalive, dns, circuitBreaker, loadBalancing, matching, "
        "integrations, priority or via");
  }
  if (matchesTooLate(policy)) spec.error("matching", std::string(kMatchesTooLate));
  checkPriorities(spec, policy);
  checkRequestPriority(spec, policy);
  checkVia(spec, policy);
  checkBackendFields(spec, policy);
  if (policy.dns && hasTargetOf<Service>(policy)) {
    spec.error("dns", "is not for a Service, whose endpoints have addresses");
  }
}

}  // namespace sluice::config
