// The object `m` of a call, and those that it leads to.
//
// They have no state of their own: each works on the call that runs, so one of each serves a state for all its calls,
// and a script gains nothing by keeping one.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Makes the objects of a state, and pushes `m`.
void pushMessage(lua_State* state);

}  // namespace sluice::filters::lua
