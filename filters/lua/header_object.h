// m.headers and m.trailers.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace sluice::filters::lua {

/// Makes the object m.headers, and pushes it.
void pushHeaderObject(lua_State* state);
/// Makes the object that pushTrailers() pushes, or nil unless there are trailers behind the body that has come.
void makeTrailerObject(lua_State* state);
void pushTrailers(lua_State* state);

/// Returns the argument as the name of a field that the script may change, in lower case and in the arena of the
/// exchange.
std::string_view nameArgument(lua_State* state, int index);
/// Returns the argument as the value of a field.
std::string_view fieldValue(lua_State* state, int index);

}  // namespace sluice::filters::lua
