// Tables that no script can change, and the functions of the base library that must know about them.
//
// After a script has loaded, every table that its functions can reach is emptied, and its content moves to another one
// that no function ever returns. The table keeps its identity; reads find the content by its metatable, and writes
// fail. So nothing that one call does is seen by another. All functions here may raise errors of Lua.
#pragma once

#include <lua.hpp>
#include <map>
#include <string>

#include "filters/lua/ground/chunk_facts.h"

namespace sluice::filters::lua {

/// Facts about the script's functions, by their address (lua_topointer()).
using FunctionFacts = std::map<const void*, ChunkFacts>;

/// Remembers the functions that are there before the script: only they may keep something.
void knowLibrary(lua_State* state);
/// Freezes everything that the globals and the methods of strings lead to. Raises an error that names the place if a
/// function assigns a variable that would outlive the call, or if an iterator or object of a library was kept.
void freezeGlobals(lua_State* state, FunctionFacts& facts);
/// Freezes the table on top of the stack, which contains only plain values and such tables.
void freezeValue(lua_State* state);

/// Pushes the content of a frozen table. Returns false, and pushes nothing, if the value is none.
bool pushContent(lua_State* state, int index);

/// getmetatable, next, pairs, rawget, rawlen, rawset and setmetatable.
void addTableAccess(lua_State* state);

}  // namespace sluice::filters::lua
