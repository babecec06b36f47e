// m.body, and the document that m.body:json() gives.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

void makeBodyObjects(lua_State* state);
/// Pushes m.body; nil in phases and messages without one.
void pushBody(lua_State* state);

}  // namespace sluice::filters::lua
