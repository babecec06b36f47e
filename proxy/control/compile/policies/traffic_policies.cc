#include "proxy/control/compile/policies/traffic_policies.h"

#include <string>

namespace sluice::control {

namespace {

/// Returns the fault of a policy that its schema refused, or that asks for something that is not supported.
std::optional<Fault> faultOfPolicy(const AttachedPolicies<config::TrafficPolicy>::PolicyCandidate& candidate) {
  const config::TrafficPolicy& policy = *candidate.policy;
  const std::string title = std::string(policy.meta.kind) + " " + policy.meta.qualifiedName() + ": ";
  if (candidate.rejected != nullptr) {
    return summary(config::reason::kInvalid, title + candidate.rejected->message);
  }
  std::optional<Fault> unsupported = alteringFault(policy.unsupported);
  if (!unsupported) return std::nullopt;
  return summary(unsupported->reason, title + unsupported->message);
}

}  // namespace

void TrafficSettings::inherit(const TrafficSettings& others) {
  if (retry == nullptr) retry = others.retry;
  if (failover == nullptr) failover = others.failover;
  // Both belong to one field.
  if (passiveHealth == nullptr && activeHealth == nullptr) {
    passiveHealth = others.passiveHealth;
    activeHealth = others.activeHealth;
  }
  if (!fault) fault = others.fault;
}

TrafficSettings TrafficPolicies::of(const config::ObjectMeta& route, std::string_view rule) const {
  TrafficSettings settings;
  if (!rule.empty()) add(policies_.findExactly(route, rule), settings);
  add(policies_.findExactly(route, {}), settings);
  return settings;
}

ListenerTraffic TrafficPolicies::ofListener(const config::ObjectMeta& gateway, std::string_view listener) const {
  ListenerTraffic traffic{of(gateway, listener), std::string(gateway.kind) + " " + gateway.qualifiedName()};
  if (policies_.findExactly(gateway, listener) != nullptr) traffic.place += ", listener " + std::string(listener);
  return traffic;
}

void TrafficPolicies::add(const Candidate* candidate, TrafficSettings& settings) {
  if (candidate == nullptr) return;
  const config::TrafficPolicy& policy = *candidate->policy;
  TrafficSettings own;
  own.fault = faultOfPolicy(*candidate);
  if (policy.retry) own.retry = &*policy.retry;
  if (policy.failover) own.failover = &*policy.failover;
  if (policy.passiveHealth) own.passiveHealth = &*policy.passiveHealth;
  if (policy.activeHealth) own.activeHealth = &*policy.activeHealth;
  settings.inherit(own);
}

}  // namespace sluice::control
