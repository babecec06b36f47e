// Compiles the fail-over of a rule from the TrafficPolicies that take effect for it.
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

/// Returns true if the reference of a policy refers to the same target as that of a rule. `nameSpace` is the namespace
/// of both objects.
bool meansBackendRef(const config::BackendObjectReference& meant, const config::BackendObjectReference& ref,
                     std::string_view nameSpace);

/// Returns the fail-over of a rule with these weighted backends. Returns nullptr if the rule has no choice between
/// Backends, or if neither the policies nor the endpoints of a Backend configure a fail-over. The health checks of the
/// rule must be set already. The health of its Backends is kept under `place`, which names the rule.
///
/// Policies give priorities to Backends. The priorities of endpoints order the endpoints within the priority of their
/// Backend.
std::shared_ptr<const routing::FailoverPolicy> compileFailover(const RuleTraffic& traffic,
                                                               const std::vector<RuleMember>& members,
                                                               std::string_view nameSpace,
                                                               const routing::Rule& compiled, const std::string& place,
                                                               processing::SharedStates& states);

/// Returns FailoverPolicy::usualWeight for these members. `broken` is Rule::broken().
std::uint64_t usualWeight(const std::vector<routing::FailoverMember>& members, std::uint64_t broken);

}  // namespace sluice::compile
