#include "proxy/compile/policies/destination_traffic.h"

#include <utility>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

/// Returns the bounds for rules of high priority, which are never those of the settings.
base::CircuitBreakerBounds highBounds(const config::CircuitBreakerFields* fields) {
  base::CircuitBreakerBounds bounds = fields != nullptr ? fields->high : base::CircuitBreakerBounds();
  for (auto* each : {&bounds.connections, &bounds.pendingRequests, &bounds.requests}) {
    *each = each->value_or(base::CircuitBreakerBounds::kUsual);
  }
  return bounds;
}

}  // namespace

routing::ConnectionSettings connectionSettings(const TrafficSettings& settings) {
  routing::ConnectionSettings result;
  if (const config::TrafficTimeouts* timeouts = settings.timeouts) {
    result.connectTimeout = timeouts->connect;
    result.idleTimeout = timeouts->connectionIdle;
    result.lifetime = timeouts->connectionLifetime.value_or(base::Duration::zero());
  }
  if (settings.keepalive != nullptr) result.keepalive = *settings.keepalive;
  if (settings.dns != nullptr) {
    result.dns = settings.dns->terms;
    result.logicalDns = settings.dns->logical;
  }
  if (settings.circuitBreaker != nullptr) {
    result.bounds = settings.circuitBreaker->bounds;
    result.perEndpoint = settings.circuitBreaker->perEndpoint;
    result.requestsPerConnection = settings.circuitBreaker->requestsPerConnection;
  }
  if (settings.priority != nullptr && *settings.priority == config::RequestPriority::kHigh) {
    result.highPriority = true;
    result.bounds = highBounds(settings.circuitBreaker);
  }
  if (settings.loadBalancing != nullptr) result.balancing = *settings.loadBalancing;
  result.sendsVia = settings.sendsVia == nullptr || *settings.sendsVia;
  return result;
}

Fault toldToHolder(std::string_view nameSpace, const config::BackendObjectReference& ref, const Fault& fault) {
  if (targetNamespace(ref.object, nameSpace) == nameSpace) return fault;
  return summary(fault.reason, ref.object.path,
                 describe(ref.object, nameSpace) + ": " + toldTo(nameSpace, {}, fault).text());
}

BackendResult governedDestination(BackendResult found, const BackendUse& use, const Holder& holder,
                                  const TrafficPolicies& policies) {
  if (!found) return found;
  const TrafficSettings settings = policies.of(use, holder);
  if (settings.fault) return toldToHolder(holder.nameSpace, use.target, *settings.fault);
  return governedPlan(*found.value, connectionSettings(settings));
}

}  // namespace sluice::compile
