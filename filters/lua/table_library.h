// The library `table`, whose work is counted before it is done.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Adds it to the globals.
void openTables(lua_State* state);

}  // namespace sluice::filters::lua
