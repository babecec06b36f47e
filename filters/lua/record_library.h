// log.debug(text), log.info(text), log.warn(text) and metric.add(name, n).
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Adds them to the globals.
void openRecords(lua_State* state);

}  // namespace sluice::filters::lua
