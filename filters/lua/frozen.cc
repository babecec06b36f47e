#include "filters/lua/frozen.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "filters/lua/script_context.h"

namespace sluice::filters::lua {
namespace {

// Addresses are keys of the registry and of metatables that no script can name.
constexpr char kContent = 0;        // in the metatable of a frozen table: its content
constexpr char kGivenMeta = 0;      // there, too: the metatable that the script gave it
constexpr char kMetaOfContent = 0;  // in the registry: frozen tables by their contents
constexpr char kLibrary = 0;        // in the registry: the functions of the libraries

int refuseWrite(lua_State* state) {
  return luaL_error(state, "the table is read-only: what the script made while it loaded outlives the call");
}

int lengthOfContent(lua_State* state) {
  lua_pushinteger(state, static_cast<lua_Integer>(lua_rawlen(state, lua_upvalueindex(1))));
  return 1;
}

/// Reads a frozen table whose metatable has __index: upvalues are the content and that handler.
int readWithHandler(lua_State* state) {
  lua_settop(state, 2);
  lua_pushvalue(state, 2);
  if (lua_rawget(state, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  lua_pop(state, 1);
  if (lua_isfunction(state, lua_upvalueindex(2))) {
    lua_pushvalue(state, lua_upvalueindex(2));
    lua_insert(state, 1);
    lua_call(state, 2, 1);
  } else {
    lua_gettable(state, lua_upvalueindex(2));
  }
  return 1;
}

/// The most bytes of compiled functions that a script may leave. Each function that it has made counts.
constexpr std::size_t kMostDumped = std::size_t{8} * 1024 * 1024;

class TableFreezer {
 public:
  TableFreezer(lua_State* state, FunctionFacts* facts) : state_(state), facts_(facts) {
    lua_newtable(state_);
    queue_ = lua_gettop(state_);
    lua_newtable(state_);
    seen_ = lua_gettop(state_);
  }

  /// Freezes the value on top of the stack and everything behind it, and removes it.
  void add() { visit(); }
  void freezeAll() {
    for (lua_Integer at = 1; at <= count_; ++at) {
      lua_rawgeti(state_, queue_, at);
      if (lua_istable(state_, -1)) {
        findTable();
      } else {
        findFunction();
      }
      lua_pop(state_, 1);
    }
    eachTable([this] { moveContent(); });
    eachTable([this] { close(); });
    lua_pop(state_, 2);
  }

 private:
  /// Queues the value on top of the stack, once, and removes it.
  void visit() {
    const int type = lua_type(state_, -1);
    if (type == LUA_TUSERDATA || type == LUA_TTHREAD) luaL_error(state_, "an object is kept that is no value of Lua");
    if (type != LUA_TTABLE && type != LUA_TFUNCTION) return lua_pop(state_, 1);
    lua_pushvalue(state_, -1);
    const bool isNew = lua_rawget(state_, seen_) == LUA_TNIL;
    lua_pop(state_, 1);
    if (!isNew || (type == LUA_TTABLE && isFrozen(-1))) return lua_pop(state_, 1);
    lua_pushvalue(state_, -1);
    lua_pushboolean(state_, 1);
    lua_rawset(state_, seen_);
    lua_rawseti(state_, queue_, ++count_);
  }

  bool isFrozen(int index) {
    if (!pushContent(state_, index)) return false;
    lua_pop(state_, 1);
    return true;
  }

  void findTable() {
    luaL_checkstack(state_, 8, nullptr);
    if (lua_getmetatable(state_, -1) != 0) visit();
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      visit();
      lua_pushvalue(state_, -1);
      visit();
    }
  }

  void findFunction() {
    const bool isC = lua_iscfunction(state_, -1) != 0;
    if (isC && lua_getupvalue(state_, -1, 1) == nullptr) return;
    if (isC) {
      lua_pop(state_, 1);
      lua_rawgetp(state_, LUA_REGISTRYINDEX, &kLibrary);
      lua_pushvalue(state_, -2);
      const bool isKnown = lua_rawget(state_, -2) != LUA_TNIL;
      lua_pop(state_, 2);
      if (!isKnown) luaL_error(state_, "an iterator is kept while the script loads; it would outlive the call");
      return;
    }
    judge();
    for (int i = 1; lua_getupvalue(state_, -1, i) != nullptr; ++i) visit();
  }

  /// Refuses a function of the script that would keep something from one call to the next.
  void judge() {
    std::string dumped;
    const auto write = [](lua_State*, const void* bytes, std::size_t size, void* to) {
      static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
      return 0;
    };
    lua_dump(state_, write, &dumped, 0);
    dumped_ += dumped.size();
    if (dumped_ > kMostDumped) luaL_error(state_, "the script leaves too many functions, or too large ones");
    std::optional<ChunkFacts> read = readChunk(dumped);
    lua_Debug where;
    lua_pushvalue(state_, -1);
    lua_getinfo(state_, ">S", &where);
    if (!read) luaL_error(state_, "%s:%d: the function cannot be examined", where.short_src, where.linedefined);
    if (!read->assigned.empty()) {
      const AssignedUpvalue& first = read->assigned.front();
      luaL_error(state_, "%s:%d: assigns '%s', a variable outside of the function, which would outlive the call",
                 where.short_src, first.line, first.name.c_str());
    }
    if (facts_ != nullptr) facts_->emplace(lua_topointer(state_, -1), *std::move(read));
  }

  template <typename Visit>
  void eachTable(Visit&& visitor) {
    for (lua_Integer at = 1; at <= count_; ++at) {
      lua_rawgeti(state_, queue_, at);
      if (lua_istable(state_, -1)) visitor();
      lua_pop(state_, 1);
    }
  }

  /// Moves the content of the table on top of the stack to a table of its own, which `seen_` then has for it.
  void moveContent() {
    const int table = lua_gettop(state_);
    lua_newtable(state_);
    const int content = lua_gettop(state_);
    lua_pushnil(state_);
    while (lua_next(state_, table) != 0) {
      lua_pushvalue(state_, -2);
      lua_insert(state_, -2);
      lua_rawset(state_, content);
    }
    lua_pushnil(state_);
    while (lua_next(state_, content) != 0) {
      lua_pop(state_, 1);
      lua_pushvalue(state_, -1);
      lua_pushnil(state_);
      lua_rawset(state_, table);
    }
    lua_pushvalue(state_, table);
    lua_insert(state_, content);
    lua_rawset(state_, seen_);
  }

  /// Gives the emptied table on top of the stack the metatable through which it is read.
  void close() {
    const int table = lua_gettop(state_);
    lua_pushvalue(state_, table);
    lua_rawget(state_, seen_);
    const int content = lua_gettop(state_);
    lua_newtable(state_);
    const int meta = lua_gettop(state_);
    lua_pushvalue(state_, content);
    lua_rawsetp(state_, meta, &kContent);
    lua_pushvalue(state_, content);
    lua_setfield(state_, meta, "__index");
    lua_pushvalue(state_, content);
    lua_pushcclosure(state_, lengthOfContent, 1);
    lua_setfield(state_, meta, "__len");
    if (lua_getmetatable(state_, table) != 0) adopt(content, meta);
    lua_settop(state_, meta);
    lua_pushcfunction(state_, refuseWrite);
    lua_setfield(state_, meta, "__newindex");
    lua_setmetatable(state_, table);
    lua_settop(state_, table);
  }

  /// Takes the handlers of the metatable on top of the stack, which the script gave the table.
  void adopt(int content, int meta) {
    const int given = lua_gettop(state_);
    lua_pushvalue(state_, given);
    lua_rawsetp(state_, meta, &kGivenMeta);
    if (!pushContent(state_, given)) {
      lua_pushvalue(state_, given);
      if (lua_rawget(state_, seen_) != LUA_TTABLE) return;  // a table of the libraries, which has no handlers
    }
    const int handlers = lua_gettop(state_);
    static constexpr std::array kKept = {"__add",  "__sub",  "__mul",    "__div",      "__mod",   "__pow",
                                         "__unm",  "__idiv", "__band",   "__bor",      "__bxor",  "__shl",
                                         "__shr",  "__bnot", "__concat", "__eq",       "__lt",    "__le",
                                         "__call", "__len",  "__name",   "__tostring", "__pairs", "__metatable"};
    for (const char* const name : kKept) {
      lua_pushstring(state_, name);
      if (lua_rawget(state_, handlers) != LUA_TNIL) {
        lua_setfield(state_, meta, name);
      } else {
        lua_pop(state_, 1);
      }
    }
    lua_pushliteral(state_, "__index");
    const int handler = lua_rawget(state_, handlers);
    if (handler != LUA_TTABLE && handler != LUA_TFUNCTION) return;
    lua_pushvalue(state_, content);
    lua_insert(state_, -2);
    lua_pushcclosure(state_, readWithHandler, 2);
    lua_setfield(state_, meta, "__index");
  }

  lua_State* const state_;
  FunctionFacts* const facts_;
  int queue_ = 0;
  int seen_ = 0;
  lua_Integer count_ = 0;
  std::size_t dumped_ = 0;
};

/// Pushes the table whose content is on top of the stack, in its place; leaves other tables.
void replaceContent(lua_State* state) {
  lua_rawgetp(state, LUA_REGISTRYINDEX, &kMetaOfContent);
  lua_pushvalue(state, -2);
  if (lua_rawget(state, -2) == LUA_TTABLE) {
    lua_replace(state, -3);
    lua_pop(state, 1);
  } else {
    lua_pop(state, 2);
  }
}

int giveMetatable(lua_State* state) {
  luaL_checkany(state, 1);
  if (!lua_istable(state, 1) || lua_getmetatable(state, 1) == 0) return 0;
  lua_pushliteral(state, "__metatable");
  if (lua_rawget(state, -2) != LUA_TNIL) return 1;
  lua_pop(state, 1);
  lua_rawgetp(state, -1, &kContent);
  const bool isFrozen = !lua_isnil(state, -1);
  lua_pop(state, 1);
  if (isFrozen) {
    lua_rawgetp(state, -1, &kGivenMeta);
  } else {
    replaceContent(state);
  }
  return 1;
}

int takeMetatable(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_argexpected(state, lua_isnil(state, 2) || lua_istable(state, 2), 2, "nil or table");
  if (pushContent(state, 1)) return refuseWrite(state);
  if (luaL_getmetafield(state, 1, "__metatable") != LUA_TNIL)
    return luaL_error(state, "cannot change a protected metatable");
  lua_settop(state, 2);
  if (lua_istable(state, 2)) {
    if (pushContent(state, 2)) {
      const PaidByState shared(contextOf(state).meter);
      lua_rawgetp(state, LUA_REGISTRYINDEX, &kMetaOfContent);
      lua_pushvalue(state, -2);
      lua_pushvalue(state, 2);
      lua_rawset(state, -3);
      lua_pop(state, 1);
      lua_replace(state, 2);
    }
    for (const char* const name : {"__gc", "__mode"}) {
      lua_pushstring(state, name);
      if (lua_rawget(state, 2) != LUA_TNIL) return luaL_error(state, "a metatable must not have %s", name);
      lua_pop(state, 1);
    }
  }
  lua_setmetatable(state, 1);
  return 1;
}

int nextOf(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  // A table whose keys are gone is searched all the same, and that work cannot be counted.
  contextOf(state).meter.checkTime(state);
  if (pushContent(state, 1)) lua_replace(state, 1);
  if (lua_next(state, 1) != 0) return 2;
  lua_pushnil(state);
  return 1;
}

int pairsOf(lua_State* state) {
  luaL_checkany(state, 1);
  if (luaL_getmetafield(state, 1, "__pairs") != LUA_TNIL) {
    lua_pushvalue(state, 1);
    lua_call(state, 1, 3);
    return 3;
  }
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_pushcfunction(state, nextOf);
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

int rawGet(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  lua_settop(state, 2);
  if (pushContent(state, 1)) lua_replace(state, 1);
  lua_rawget(state, 1);
  return 1;
}

int rawLength(lua_State* state) {
  const int type = lua_type(state, 1);
  luaL_argexpected(state, type == LUA_TTABLE || type == LUA_TSTRING, 1, "table or string");
  if (type == LUA_TTABLE && pushContent(state, 1)) lua_replace(state, 1);
  lua_pushinteger(state, static_cast<lua_Integer>(lua_rawlen(state, 1)));
  return 1;
}

int rawSet(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  luaL_checkany(state, 3);
  lua_settop(state, 3);
  if (pushContent(state, 1)) return refuseWrite(state);
  lua_rawset(state, 1);
  return 1;
}

void knowFunctions(lua_State* state, int table, int known) {
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    if (lua_iscfunction(state, -1) != 0) {
      lua_pushvalue(state, -1);
      lua_pushboolean(state, 1);
      lua_rawset(state, known);
    } else if (lua_istable(state, -1) && lua_rawequal(state, -1, table) == 0) {
      knowFunctions(state, lua_gettop(state), known);
    }
    lua_pop(state, 1);
  }
}

}  // namespace

bool pushContent(lua_State* state, int index) {
  if (lua_getmetatable(state, index) == 0) return false;
  lua_rawgetp(state, -1, &kContent);
  lua_remove(state, -2);
  if (!lua_isnil(state, -1)) return true;
  lua_pop(state, 1);
  return false;
}

void knowLibrary(lua_State* state) {
  lua_newtable(state);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kMetaOfContent);
  lua_newtable(state);
  const int known = lua_gettop(state);
  lua_pushglobaltable(state);
  knowFunctions(state, lua_gettop(state), known);
  lua_pop(state, 1);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kLibrary);
}

void freezeGlobals(lua_State* state, FunctionFacts& facts) {
  TableFreezer freezer(state, &facts);
  lua_pushglobaltable(state);
  freezer.add();
  lua_pushliteral(state, "");
  luaL_getmetafield(state, -1, "__index");
  freezer.add();
  lua_pop(state, 1);
  freezer.freezeAll();
}

void freezeValue(lua_State* state) {
  const int value = lua_gettop(state);
  TableFreezer freezer(state, nullptr);
  lua_pushvalue(state, value);
  freezer.add();
  freezer.freezeAll();
}

void addTableAccess(lua_State* state) {
  static constexpr luaL_Reg kFunctions[] = {{"getmetatable", giveMetatable},
                                            {"next", nextOf},
                                            {"pairs", pairsOf},
                                            {"rawget", rawGet},
                                            {"rawlen", rawLength},
                                            {"rawset", rawSet},
                                            {"setmetatable", takeMetatable},
                                            {nullptr, nullptr}};
  luaL_setfuncs(state, kFunctions, 0);
}

}  // namespace sluice::filters::lua
