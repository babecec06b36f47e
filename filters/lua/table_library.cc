#include "filters/lua/table_library.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "filters/lua/script_context.h"

namespace sluice::filters::lua {
namespace {

std::uint64_t span(lua_Integer first, lua_Integer last) {
  return first > last ? 0 : static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
}

/// Calls the function of Lua's own library in the upvalue.
int callOwn(lua_State* state) { return lua_tocfunction(state, lua_upvalueindex(1))(state); }

/// Returns the length of a table whose length the script does not compute: Lua would ask for it once more, and might
/// get another answer.
lua_Integer plainLength(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  if (luaL_getmetafield(state, 1, "__len") != LUA_TNIL) {
    return luaL_error(state, "the table is read-only, or computes its length");
  }
  return static_cast<lua_Integer>(lua_rawlen(state, 1));
}

/// Charges for the elements behind the position, which move.
int shiftCounted(lua_State* state) {
  const lua_Integer length = plainLength(state);
  const bool hasPosition = lua_gettop(state) > 1 && lua_isinteger(state, 2) != 0;
  if (hasPosition)
    contextOf(state).meter.charge(state, span(std::max<lua_Integer>(lua_tointeger(state, 2), 1), length));
  return callOwn(state);
}

/// Compares two elements for a sort, by the script's function in the upvalue if there is one. Texts may be long, and no
/// instruction of Lua's machine runs while they are compared.
int compareCounted(lua_State* state) {
  ScriptMeter& meter = contextOf(state).meter;
  std::uint64_t bytes = 0;
  for (const int each : {1, 2}) {
    if (lua_type(state, each) == LUA_TSTRING) bytes += lua_rawlen(state, each);
  }
  meter.charge(state, 1);
  meter.chargeBytes(state, bytes);
  meter.checkTime(state);
  if (lua_isnil(state, lua_upvalueindex(1))) {
    lua_pushboolean(state, lua_compare(state, 1, 2, LUA_OPLT));
  } else {
    lua_pushvalue(state, lua_upvalueindex(1));
    lua_insert(state, 1);
    lua_call(state, 2, 1);
  }
  return 1;
}

int sortCounted(lua_State* state) {
  const auto length = static_cast<std::uint64_t>(plainLength(state));
  contextOf(state).meter.charge(state, length * (std::bit_width(length) + 1));
  lua_settop(state, 2);
  if (!lua_isnil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_pushcclosure(state, compareCounted, 1);
  return callOwn(state);
}

/// Charges for the elements from `first` to `last`, two of the arguments. They are set if they are absent, so that the
/// length is asked for once.
template <int kFirst, int kLast>
int rangeCounted(lua_State* state) {
  luaL_checkany(state, 1);
  if (lua_gettop(state) < kLast) lua_settop(state, kLast);
  if (lua_isnil(state, kFirst)) {
    lua_pushinteger(state, 1);
    lua_replace(state, kFirst);
  }
  if (lua_isnil(state, kLast)) {
    lua_pushinteger(state, luaL_len(state, 1));
    lua_replace(state, kLast);
  }
  contextOf(state).meter.charge(state, span(luaL_checkinteger(state, kFirst), luaL_checkinteger(state, kLast)));
  return callOwn(state);
}

int concatCounted(lua_State* state) {
  // Lua asks for the length even if it is given the last index.
  luaL_checktype(state, 1, LUA_TTABLE);
  return rangeCounted<3, 4>(state);
}

int packCounted(lua_State* state) {
  contextOf(state).meter.charge(state, static_cast<std::uint64_t>(lua_gettop(state)));
  return callOwn(state);
}

}  // namespace

void openTables(lua_State* state) {
  static constexpr luaL_Reg kCounted[] = {
      {"concat", concatCounted}, {"insert", shiftCounted}, {"move", rangeCounted<2, 3>},  {"pack", packCounted},
      {"remove", shiftCounted},  {"sort", sortCounted},    {"unpack", rangeCounted<2, 3>}};
  lua_newtable(state);
  lua_pushcfunction(state, luaopen_table);
  lua_call(state, 0, 1);
  for (const luaL_Reg& each : kCounted) {
    lua_getfield(state, -1, each.name);
    lua_pushcclosure(state, each.func, 1);
    lua_setfield(state, -3, each.name);
  }
  lua_pop(state, 1);
  lua_setglobal(state, "table");
}

}  // namespace sluice::filters::lua
