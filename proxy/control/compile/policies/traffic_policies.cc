#include "proxy/control/compile/policies/traffic_policies.h"

#include <string>

namespace sluice::control {

TrafficSettings TrafficPolicies::of(const config::ObjectMeta& route, std::string_view rule) const {
  TrafficSettings settings;
  if (!rule.empty()) add(policies_.findExactly(route, rule), settings);
  add(policies_.findExactly(route, {}), settings);
  return settings;
}

void TrafficPolicies::add(const Candidate* candidate, TrafficSettings& settings) {
  if (candidate == nullptr) return;
  const config::TrafficPolicy& policy = *candidate->policy;
  if (candidate->rejected != nullptr && !settings.fault) {
    settings.fault =
        summary(config::reason::kInvalid, std::string(config::TrafficPolicy::kKind) + " " +
                                              policy.meta.qualifiedName() + ": " + candidate->rejected->message);
  }
  if (settings.retry == nullptr && policy.retry) settings.retry = &*policy.retry;
  if (settings.failover == nullptr && policy.failover) settings.failover = &*policy.failover;
  if (settings.passiveHealth != nullptr || settings.activeHealth != nullptr) return;
  if (policy.passiveHealth) settings.passiveHealth = &*policy.passiveHealth;
  if (policy.activeHealth) settings.activeHealth = &*policy.activeHealth;
}

}  // namespace sluice::control
