// The uses of payload processors that a route's plan takes up: what was asked for, what was found, and what is told of
// those that cannot run.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/processors/asked_uses.h"
#include "proxy/compile/routes/route_plan.h"

namespace sluice::compile {

/// Finds the uses of a rule or a backendRef, and remembers in the plan what was asked and found.
CompiledUses usesFor(const ProcessorCompiler& processors, const UsesQuestion& question, RoutePlan& plan);

/// Takes the steps of uses. A use that fails closed makes its fault that of the rule or backendRef, unless that has
/// one; a use that fails open is noted and left out.
std::vector<processing::Step> takeSteps(CompiledUses uses, RoutePlan& plan, std::optional<Fault>& fault);

}  // namespace sluice::compile
