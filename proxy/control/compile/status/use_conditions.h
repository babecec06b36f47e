// A condition for each use of a payload processor that can not run, beside what the object says of itself (E-80, E-81).
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "proxy/control/compile/processors/compile_processors.h"
#include "proxy/control/compile/status/object_status.h"

namespace sluice::control {

/// Before the name of the use, with what a condition's type can not have in it as "-".
inline constexpr std::string_view kUseConditionPrefix = "extension.sluice.dev/";
/// Says how many there are beside those that have one of their own.
inline constexpr std::string_view kMoreUsesCondition = "extensions.sluice.dev/Others";
inline constexpr std::size_t kMostUseConditions = 16;
/// Of all types together, of a GatewayClass or of one parent of a route (maxItems in the CRDs of Gateway API v1.6.1):
/// an API server refuses a whole status over one more.
inline constexpr std::size_t kMostConditions = 8;

/// False, each with its use's own reason and message; at most kMostUseConditions, and one more for the rest, and of all
/// types together at most `most`. Uses of one name, as different rules may have, share theirs.
void addUseConditions(const std::vector<RefusedUse>& refused, Conditions& conditions,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace sluice::control
