// Writes a condition for each use of a payload processor that cannot run, and for each one that calls a server, in
// addition to the object's own conditions.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/processors/asked_servers.h"
#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

/// Prefix of the condition's type. The name of the use follows, with "-" for characters that a type cannot contain.
inline constexpr std::string_view kUseConditionPrefix = "extension.sluice.dev/";
/// The condition that sums up the uses without a condition of their own.
inline constexpr std::string_view kMoreUsesCondition = "extensions.sluice.dev/Others";
inline constexpr std::size_t kMostUseConditions = 16;
/// The bound of the number of conditions in a GatewayClass or in one parent of a route (maxItems in the CRDs of Gateway
/// API v1.6.1). An API server refuses a whole status that exceeds it.
inline constexpr std::size_t kMostConditions = 8;

/// Returns the type of the condition for the use of that name.
std::string useConditionType(std::string_view use);
/// Adds conditions that are False, with the reason and message of their uses. There are at most kMostUseConditions, and
/// one more for the remaining uses. Together with all other types there are at most `most`. Uses with the same name, as
/// in different rules, share a condition.
void addUseConditions(const std::vector<RefusedUse>& refused, Conditions& conditions,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// Returns the uses whose server is unreachable, as RefusedUses so that the same code reports them.
std::vector<RefusedUse> awayUses(const std::vector<AskedServer>& servers);
/// Returns one fault for all unreachable servers, with the effect on requests; nullopt if there is none.
std::optional<Fault> awayFault(const std::vector<AskedServer>& servers);
/// Adds a condition whose status is True for each use whose server is Pending or Active, and not unreachable, up to
/// `most` conditions of all types. addUseConditions() adds the conditions of the other uses.
void addServerConditions(const std::vector<AskedServer>& servers, Conditions& conditions, std::size_t most);

}  // namespace sluice::compile
