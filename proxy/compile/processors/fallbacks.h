// The fallbacks of uses of payload processors: another use of the list, or an answer, that stands in for a use that
// fails or cannot run.
//
// These are pure functions.
#pragma once

#include <optional>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/processors/compiled_uses.h"
#include "proxy/processing/chain.h"

namespace sluice::compile {

/// Returns true if another use of the list has this one as its fallback. Such a use has no step of its own.
bool standsIn(const config::ProcessorUse& use, const std::vector<config::ProcessorUse>& list);
/// Returns the use of the list that stands in for `use`; nullptr if none does.
const config::ProcessorUse* standInOf(const config::ProcessorUse& use, const std::vector<config::ProcessorUse>& list);

/// Gives the steps of a use their fallback; `standIns` are the steps of the use that stands in. A step whose stand-in
/// cannot run fails closed. Returns the fault if no stand-in could ever run in the place of a step.
std::optional<Fault> setFallback(const config::ProcessorUse& use, std::vector<processing::Step>& steps,
                                 const std::vector<processing::Step>& standIns);
/// Adds a use that cannot run to `result`: what stands in for it takes its place, if that runs in all of its phases.
void addRefused(const config::ProcessorUse& use, const UsesOf& of, const RefusedPlace& place, RefusedUse why,
                CompiledUses standIn, CompiledUses& result);

}  // namespace sluice::compile
