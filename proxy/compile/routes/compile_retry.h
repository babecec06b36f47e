// Compiles the retries of a rule. They are its own, or else those of the TrafficPolicies that take effect for it.
#pragma once

#include <string>

#include "config/model/model.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/retry_policy.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the policy without its budget; see addBudget().
routing::RetryPolicy retryPolicy(const config::HttpRouteRetry& retry);

/// Gives the rule the retries of the settings if it has none of its own. Unless the rule is `timed` (see RulePlan), it
/// gets their timeout of each attempt too. Settings with no attempts turn retries off, and their timeout then limits
/// the only attempt.
void addRetry(const TrafficSettings& settings, bool timed, routing::Rule& compiled);

/// Limits the parallel retries of the rule, if it retries and the settings have such a limit.
void boundParallelRetries(const TrafficSettings& settings, routing::Rule& compiled);

/// Limits the retries at a Backend that is not broken. The retries of all rules are charged to the budget of the
/// Backend, which survives reloads.
void addConstraint(const config::RetryConstraintFields& constraint, processing::SharedStates& states,
                   routing::WeightedBackend& compiled);

/// If the rule retries, its retries get the budget of that name. The budget survives reloads.
void addBudget(const std::string& place, processing::SharedStates& states, routing::Rule& compiled);

}  // namespace sluice::compile
