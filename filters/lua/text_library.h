// The functions that look for something in a text: string.find, which is plain, string.match, gmatch and gsub, which
// take regular expressions of RE2, and the library `re`. Also string.rep, which must be bounded.
//
// Patterns of Lua are left out: nothing could interrupt a search for one that takes for ever.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Adds them to the global `string`, and `re` to the globals.
void openTexts(lua_State* state);

}  // namespace sluice::filters::lua
