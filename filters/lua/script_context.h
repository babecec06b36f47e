// The context that the functions of the libraries find at the state that calls them.
//
// One for each state; it outlives it.
#pragma once

#include <lua.hpp>
#include <optional>
#include <string_view>

#include "filters/lua/ground/pattern_cache.h"
#include "filters/lua/ground/random_numbers.h"
#include "filters/lua/ground/script_meter.h"

namespace sluice::filters::lua {

class ScriptCall;

struct ScriptContext {
  explicit ScriptContext(const ScriptBounds& bounds) : meter(bounds) {}

  ScriptMeter meter;
  PatternCache patterns;
  std::optional<RandomNumbers> random;  // for the script while it loads
  ScriptCall* call = nullptr;           // the one that runs; null while the script is loaded
};

/// Returns the place in front of a state that Lua leaves to its user; each thread begins with a copy of the state's.
inline ScriptContext*& contextPlace(lua_State* state) {
  return *reinterpret_cast<ScriptContext**>(reinterpret_cast<char*>(state) - LUA_EXTRASPACE);
}
/// Returns the context of a state, or of one of its threads.
inline ScriptContext& contextOf(lua_State* state) { return *contextPlace(state); }

/// Returns the argument of a library's function, which must be a string or a number.
inline std::string_view textArgument(lua_State* state, int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(state, index, &size);
  if (text == nullptr) luaL_checkstring(state, index);  // raises the error
  return {text, size};
}
inline void pushText(lua_State* state, std::string_view text) { lua_pushlstring(state, text.data(), text.size()); }

}  // namespace sluice::filters::lua
