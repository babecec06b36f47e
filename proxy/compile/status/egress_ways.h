// Finds the ways in which requests reach the targets of EgressPolicies, and what these ways tell about them.
#pragma once

#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/egress_policy.h"
#include "proxy/compile/policies/egress_visibility.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Returns the ways to the Gateway or the route, or to the listener or the rule of that name. Empty if requests reach
/// it in no way.
EgressWays waysTo(const config::ObjectMeta& object, std::string_view section, const StatusSources& sources);

/// Returns a note for each rule with callers if no listener that leads to the object, or to that section of it, learns
/// who its callers are.
std::vector<config::Finding> notesOnCallers(const config::EgressPolicy& policy, const config::ObjectMeta& object,
                                            std::string_view section, const StatusSources& sources);

}  // namespace sluice::compile
