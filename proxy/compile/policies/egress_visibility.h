// Finds the rules of EgressPolicies that some of the ways to a target cannot see. A tunnel, for example, shows neither
// methods nor paths, so no Allow rule with `http` takes effect there, and every Deny rule with `http` refuses.
#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "config/model/egress_policy.h"
#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/policy/egress/egress_facts.h"

namespace sluice::compile {

/// The ways in which requests reach a target.
using EgressWays = std::set<routing::EgressWay>;

/// Returns the ways that the matches of a route leave of those to its listeners. `rule` is the name of one of its
/// rules, or empty for all of them.
EgressWays waysOfRoute(const config::Model& model, const config::ObjectMeta& route, std::string_view rule,
                       const EgressWays& toListeners);

/// Returns the fault of a policy with a rule that none of these ways can see; nullopt without ways. Its reason is
/// UnsupportedRule.
std::optional<Fault> unseenRule(const config::EgressPolicy& policy, const EgressWays& ways);
/// Returns the text of the condition PartiallyVisible, which names the rules that some of these ways cannot see, and
/// the ways.
std::optional<Fault> partlySeenRules(const config::EgressPolicy& policy, const EgressWays& ways);

}  // namespace sluice::compile
