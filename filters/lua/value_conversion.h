// Values of JSON and of configurations as those of Lua, and back.
#pragma once

#include <functional>
#include <lua.hpp>
#include <string_view>

#include "proxy/content/value.h"

namespace sluice::filters::lua {

/// Pushes the value: lists and maps are tables, null is nil. Raises an error of Lua if there is no memory for it.
void pushValue(lua_State* state, const content::Value& value);
/// Pushes the value of a text that is JSON, likewise.
void pushJson(lua_State* state, std::string_view text);
/// Returns a value of Lua as one of JSON: a table whose keys are 1 to n is a list, every other one a map. Raises an
/// error if it contains something else, or is too deep.
content::Value takeValue(lua_State* state, int index);

/// Pushes m.config of the running call, which is frozen and made once for each use.
void pushConfig(lua_State* state);

/// Calls `visit` with the places on the stack of each key and its value, which are texts or numbers, of the table at
/// `index`.
void eachText(lua_State* state, int index, const std::function<void(int key, int value)>& visit);

}  // namespace sluice::filters::lua
