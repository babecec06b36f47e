// Compiles the retries of a rule: its own, or else those of the TrafficPolicies that count for it.
#pragma once

#include <string>

#include "config/model/model.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/retry_policy.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the policy without the budget that `place` has; see addBudget().
routing::RetryPolicy retryPolicy(const config::HttpRouteRetry& retry);

/// Gives the rule the retries of the settings, if it has none of its own, and unless it is `timed` (see RulePlan) their
/// bound of each attempt. Settings with no attempts turn retries off; their bound is then that of the only attempt.
void addRetry(const TrafficSettings& settings, bool timed, routing::Rule& compiled);

/// Bounds the retries that the rule has on their way at a time, if it retries and the settings have such a bound.
void boundParallelRetries(const TrafficSettings& settings, routing::Rule& compiled);

/// Constrains the retries at a Backend that is not broken. All rules count against the budget of the Backend, which
/// survives reloads.
void addConstraint(const config::RetryConstraintFields& constraint, processing::SharedStates& states,
                   routing::WeightedBackend& compiled);

/// Gives the rule's retries, if it has any, the budget of that name. It survives reloads.
void addBudget(const std::string& place, processing::SharedStates& states, routing::Rule& compiled);

}  // namespace sluice::compile
