#include "filters/lua/lua_object.h"

namespace sluice::filters::lua {

void addLibrary(lua_State* state, const char* name, const luaL_Reg* functions) {
  lua_newtable(state);
  luaL_setfuncs(state, functions, 0);
  lua_setglobal(state, name);
}

void pushObject(lua_State* state, const char* name, lua_CFunction write) {
  lua_newuserdatauv(state, 0, 0);
  // A table that has room for all of its keys does not move them, so __index, the first one, is found at the first
  // look.
  lua_createtable(state, 0, 4);
  lua_rotate(state, -3, 2);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, write);
  lua_setfield(state, -2, "__newindex");
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_pushstring(state, name);
  lua_setfield(state, -2, "__name");
  lua_setmetatable(state, -2);
}

void pushObject(lua_State* state, const char* name, const luaL_Reg* methods) {
  lua_createtable(state, 0, 8);  // it grows if there are more
  luaL_setfuncs(state, methods, 0);
  pushObject(state, name, refuseField);
}

int refuseField(lua_State* state) {
  return luaL_error(state, "the field '%s' cannot be changed", luaL_tolstring(state, 2, nullptr));
}

}  // namespace sluice::filters::lua
