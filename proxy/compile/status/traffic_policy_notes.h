// Notes about settings of TrafficPolicies that mean nothing, or probably not what was meant, for one of their targets.
// They close nothing.
#pragma once

#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/traffic_policy.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Returns the notes about the policy for a target, or for a section of it. `object` may be null.
std::vector<config::Finding> notesOnTarget(const config::TrafficPolicy& policy, const config::ObjectMeta* object,
                                           std::string_view section, const StatusSources& sources);

}  // namespace sluice::compile
