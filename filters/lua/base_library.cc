#include "filters/lua/base_library.h"

#include <span>
#include <string_view>

#include "filters/lua/frozen.h"
#include "filters/lua/script_context.h"
#include "filters/lua/table_library.h"
#include "filters/lua/text_library.h"

namespace sluice::filters::lua {
namespace {

/// The cost of an argument or result, besides the bytes of a string.
constexpr std::uint64_t kOneValue = 1;

/// Calls the function of Lua's own library in the upvalue, and counts its arguments and results.
int callCounted(lua_State* state) {
  ScriptMeter& meter = contextOf(state).meter;
  std::uint64_t bytes = 0;
  const int given = lua_gettop(state);
  for (int i = 1; i <= given; ++i) {
    if (lua_type(state, i) == LUA_TSTRING) bytes += lua_rawlen(state, i);
  }
  meter.charge(state, static_cast<std::uint64_t>(given) * kOneValue);
  meter.chargeBytes(state, bytes);
  const int results = lua_tocfunction(state, lua_upvalueindex(1))(state);
  meter.charge(state, static_cast<std::uint64_t>(results) * kOneValue);
  return results;
}

/// Ends the call for good if it has ended inside of a function that was protected.
void passEnd(lua_State* state, int status) {
  ScriptMeter& meter = contextOf(state).meter;
  if (status == LUA_ERRMEM) meter.endByMemory();
  if (status > LUA_YIELD && meter.end() != ScriptEnd::kNone) lua_error(state);
}

/// Returns from pcall(). `handlers` is 1 if the first value is the handler of xpcall().
int finishProtected(lua_State* state, int status, lua_KContext handlers) {
  passEnd(state, status);
  if (status == LUA_OK || status == LUA_YIELD) {
    const int first = static_cast<int>(handlers) + 1;  // `true`, which is there already
    return lua_gettop(state) - first + 1;
  }
  if (handlers != 0) {
    lua_pushvalue(state, 1);
    lua_insert(state, -2);
    lua_call(state, 1, 1);
  }
  lua_pushboolean(state, 0);
  lua_insert(state, -2);
  return 2;
}

int protectedCall(lua_State* state) {
  luaL_checkany(state, 1);
  lua_pushboolean(state, 1);
  lua_insert(state, 1);
  const int status = lua_pcallk(state, lua_gettop(state) - 2, LUA_MULTRET, 0, 0, finishProtected);
  return finishProtected(state, status, 0);
}

/// Unlike Lua's own, calls the handler when the error has been caught: without the library `debug` that is the same,
/// and the handler cannot swallow the end of the call.
int handledCall(lua_State* state) {
  luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_pushvalue(state, 2);
  lua_insert(state, 1);  // handler, function, handler, arguments
  lua_remove(state, 3);  // handler, function, arguments
  lua_pushboolean(state, 1);
  lua_insert(state, 2);  // handler, true, function, arguments
  const int status = lua_pcallk(state, lua_gettop(state) - 3, LUA_MULTRET, 0, 1, finishProtected);
  return finishProtected(state, status, 1);
}

struct OwnLibrary {
  const char* name;  // of the global; empty for the globals themselves
  lua_CFunction open;
  std::span<const std::string_view> functions;  // those that a script gets
};

constexpr std::string_view kBase[] = {"assert",   "error",    "ipairs", "rawequal", "select",
                                      "tonumber", "tostring", "type",   "_VERSION"};
constexpr std::string_view kMath[] = {"abs", "acos",       "asin", "atan", "ceil", "cos", "deg",
                                      "exp", "floor",      "fmod", "huge", "log",  "max", "maxinteger",
                                      "min", "mininteger", "modf", "pi",   "rad",  "sin", "sqrt",
                                      "tan", "tointeger",  "type", "ult"};
constexpr std::string_view kText[] = {"byte",     "char",    "format", "len",    "lower", "pack",
                                      "packsize", "reverse", "sub",    "unpack", "upper"};
constexpr std::string_view kUtf8[] = {"char", "charpattern", "codepoint", "codes", "len", "offset"};

/// Copies the permitted members of a library, which is on top of the stack, into the table below it, and removes it.
void copyCounted(lua_State* state, std::span<const std::string_view> functions) {
  for (const std::string_view name : functions) {
    pushText(state, name);
    pushText(state, name);
    lua_rawget(state, -3);
    if (lua_iscfunction(state, -1) != 0) lua_pushcclosure(state, callCounted, 1);
    lua_rawset(state, -4);
  }
  lua_pop(state, 1);
}

}  // namespace

void openLibraries(lua_State* state) {
  static constexpr luaL_Reg kProtected[] = {{"pcall", protectedCall}, {"xpcall", handledCall}, {nullptr, nullptr}};
  static constexpr OwnLibrary kLibraries[] = {
      {"math", luaopen_math, kMath}, {"string", luaopen_string, kText}, {"utf8", luaopen_utf8, kUtf8}};
  lua_newtable(state);
  const int globals = lua_gettop(state);
  lua_pushcfunction(state, luaopen_base);
  lua_call(state, 0, 1);
  copyCounted(state, kBase);
  luaL_setfuncs(state, kProtected, 0);
  addTableAccess(state);
  for (const OwnLibrary& each : kLibraries) {
    lua_newtable(state);
    lua_pushcfunction(state, each.open);
    lua_call(state, 0, 1);
    copyCounted(state, each.functions);
    lua_setfield(state, globals, each.name);
  }
  lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  openTables(state);
  openTexts(state);
}

}  // namespace sluice::filters::lua
