// The libraries of Lua that a script has: everything that only computes, with its work counted.
//
// io, os, debug, coroutines and whatever loads code are left out. Functions raise errors of Lua.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Sets the globals of the state to those of a script, without the objects of a call.
void openLibraries(lua_State* state);

}  // namespace sluice::filters::lua
