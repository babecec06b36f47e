#include "proxy/control/compile/policies/traffic_policies.h"

#include <string>

namespace sluice::control {

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
  if (candidate->rejected != nullptr) {
    own.fault =
        summary(config::reason::kInvalid, std::string(config::TrafficPolicy::kKind) + " " +
                                              policy.meta.qualifiedName() + ": " + candidate->rejected->message);
  }
  if (policy.retry) own.retry = &*policy.retry;
  if (policy.failover) own.failover = &*policy.failover;
  if (policy.passiveHealth) own.passiveHealth = &*policy.passiveHealth;
  if (policy.activeHealth) own.activeHealth = &*policy.activeHealth;
  settings.inherit(own);
}

}  // namespace sluice::control
