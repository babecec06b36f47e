// Tables of functions, and objects that have no state of their own: a userdata whose metatable no script can get.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Adds the table `name` with these functions to the globals.
void addLibrary(lua_State* state, const char* name, const luaL_Reg* functions);

/// Pushes a new object whose members are these functions and that has no others.
void pushObject(lua_State* state, const char* name, const luaL_Reg* methods);
/// Pushes one whose fields `write` changes and the value on top of the stack (__index) reads, in the place of that
/// value.
void pushObject(lua_State* state, const char* name, lua_CFunction write);

/// Raises the error that the field cannot be changed, as __newindex.
int refuseField(lua_State* state);

}  // namespace sluice::filters::lua
