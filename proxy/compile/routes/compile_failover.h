// Compiles the fail-over of a rule from the TrafficPolicies that count for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/routes/rule_members.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/failover.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns true if the reference of a policy means that of a rule. `nameSpace` is that of both objects.
bool meansBackendRef(const config::BackendObjectReference& meant, const config::BackendObjectReference& ref,
                     std::string_view nameSpace);

/// Returns the fail-over of a rule with these weighted backends; nullptr if the rule has no choice, or if neither the
/// policies nor the endpoints of a Backend say anything of it. The rule has its health checks already. `place` names
/// the rule, under which the health of its Backends is kept.
///
/// The priorities of endpoints count within those that the policies give to their Backends.
std::shared_ptr<const routing::FailoverPolicy> compileFailover(const RuleTraffic& traffic,
                                                               const std::vector<RuleMember>& members,
                                                               std::string_view nameSpace,
                                                               const routing::Rule& compiled, const std::string& place,
                                                               processing::SharedStates& states);

/// Returns FailoverPolicy::usualWeight of these members. `broken` is Rule::broken().
std::uint64_t usualWeight(const std::vector<routing::FailoverMember>& members, std::uint64_t broken);

/// Returns the health check of each weighted backend of a rule, as Rule::healthChecks has them.
std::vector<std::shared_ptr<const routing::HealthCheck>> compileHealthChecks(const RuleTraffic& traffic,
                                                                             const routing::Rule& compiled,
                                                                             processing::SharedStates& states);

}  // namespace sluice::compile
