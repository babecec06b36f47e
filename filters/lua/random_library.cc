#include "filters/lua/random_library.h"

#include <optional>

#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"

namespace sluice::filters::lua {
namespace {

/// Returns the numbers of the call that runs, or those of the script while it loads. They get a seed when they are
/// first needed.
RandomNumbers& numbersOf(lua_State* state) {
  ScriptContext& context = contextOf(state);
  std::optional<RandomNumbers>& numbers = context.call != nullptr ? context.call->random : context.random;
  if (!numbers) {
    context.meter.charge(state, 100);
    numbers.emplace();
  }
  if (!numbers->hasSeed()) luaL_error(state, "the system has no random numbers");
  return *numbers;
}

/// Does what Lua's own does.
int randomNumber(lua_State* state) {
  RandomNumbers& numbers = numbersOf(state);
  const int given = lua_gettop(state);
  contextOf(state).meter.charge(state, 1);
  if (given == 0) {
    lua_pushnumber(state, static_cast<lua_Number>(numbers.next() >> 11U) * 0x1p-53);
    return 1;
  }
  if (given > 2) return luaL_error(state, "wrong number of arguments");
  const lua_Integer least = given == 2 ? luaL_checkinteger(state, 1) : 1;
  const lua_Integer most = luaL_checkinteger(state, given);
  if (given == 1 && most == 0) {
    lua_pushinteger(state, static_cast<lua_Integer>(numbers.next()));
    return 1;
  }
  luaL_argcheck(state, least <= most, given, "interval is empty");
  const auto first = static_cast<std::uint64_t>(least);
  lua_pushinteger(state, static_cast<lua_Integer>(first + numbers.upTo(static_cast<std::uint64_t>(most) - first)));
  return 1;
}

}  // namespace

void openRandom(lua_State* state) {
  lua_getglobal(state, "math");
  lua_pushcfunction(state, randomNumber);
  lua_setfield(state, -2, "random");
  lua_pop(state, 1);
}

}  // namespace sluice::filters::lua
