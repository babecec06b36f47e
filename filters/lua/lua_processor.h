// The processor that runs a script.
#pragma once

#include <memory>
#include <vector>

#include "filters/lua/lua_script.h"
#include "proxy/processing/processor.h"

namespace sluice::filters::lua {

/// `phases` are those in which a use may run that names no phase.
std::shared_ptr<const processing::Processor> makeLuaProcessor(std::shared_ptr<const LuaScript> script, ScriptUse use,
                                                              std::vector<processing::Phase> phases);

}  // namespace sluice::filters::lua
