// Adds uses of payload processors to a route's plan, with the question that was asked, the result, and the faults of
// uses that cannot run.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/processors/asked_uses.h"
#include "proxy/compile/routes/route_plan.h"

namespace sluice::compile {

/// Finds the uses of a rule or a backendRef, and stores question and result in the plan.
CompiledUses usesFor(const ProcessorCompiler& processors, const UsesQuestion& question, RoutePlan& plan);

/// Takes the steps from uses. The fault of a use that fails closed becomes the fault of the rule or backendRef, unless
/// that has one already. A use that fails open is noted and left out.
std::vector<processing::Step> takeSteps(CompiledUses uses, RoutePlan& plan, std::optional<Fault>& fault);

}  // namespace sluice::compile
