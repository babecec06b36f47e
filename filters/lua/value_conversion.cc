#include "filters/lua/value_conversion.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "filters/expression/json_part.h"
#include "filters/lua/frozen.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "proxy/content/json_cursor.h"

namespace sluice::filters::lua {
namespace {

using content::Value;

constexpr int kMostDepth = 64;
constexpr lua_Integer kMostConfigs = 64;  // that a state keeps; beyond them it forgets all
constexpr char kConfigs = 0;

void pushNumber(lua_State* state, std::string_view text) {
  const char* const end = text.data() + text.size();
  lua_Integer integer = 0;
  const auto read = std::from_chars(text.data(), end, integer);
  if (read.ec == std::errc() && read.ptr == end) return lua_pushinteger(state, integer);
  lua_Number number = 0;
  if (std::from_chars(text.data(), end, number).ec == std::errc::result_out_of_range) number = HUGE_VAL;
  lua_pushnumber(state, number);
}

Value scalar(Value::Kind kind, std::string text) {
  Value value;
  value.kind = kind;
  value.text = std::move(text);
  return value;
}

Value takeNumber(lua_State* state, int index) {
  char digits[32];
  if (lua_isinteger(state, index) != 0) {
    const auto written = std::to_chars(std::begin(digits), std::end(digits), lua_tointeger(state, index));
    return scalar(Value::Kind::kNumber, std::string(digits, written.ptr));
  }
  const lua_Number number = lua_tonumber(state, index);
  if (!std::isfinite(number)) luaL_error(state, "JSON has no such number");
  const auto written = std::to_chars(std::begin(digits), std::end(digits), number);
  return scalar(Value::Kind::kNumber, std::string(digits, written.ptr));
}

/// Makes a value of JSON of one of Lua, whose size it bounds: it is no memory of the script.
class ValueTaker {
 public:
  explicit ValueTaker(lua_State* state) : state_(state) {}

  Value take(int index, int depth) {
    count(1);
    switch (lua_type(state_, index)) {
      case LUA_TNIL:
        return {};
      case LUA_TBOOLEAN:
        return scalar(Value::Kind::kBool, lua_toboolean(state_, index) != 0 ? "true" : "false");
      case LUA_TNUMBER:
        return takeNumber(state_, index);
      case LUA_TSTRING:
        return scalar(Value::Kind::kString, text(index));
      case LUA_TTABLE:
        return table(index, depth);
      default:
        luaL_error(state_, "a %s is no value of JSON", luaL_typename(state_, index));
        return {};
    }
  }

 private:
  static constexpr std::size_t kMostValues = 16 * 1024;
  static constexpr std::size_t kMostBytes = std::size_t{2} * 1024 * 1024;

  void count(std::size_t bytes) {
    bytes_ += bytes;
    contextOf(state_).meter.charge(state_, 2);
    contextOf(state_).meter.chargeBytes(state_, bytes);
    if (++values_ > kMostValues || bytes_ > kMostBytes) luaL_error(state_, "the value is too large");
  }
  std::string text(int index) {
    const std::string_view text = textArgument(state_, index);
    count(text.size());
    return std::string(text);
  }

  Value table(int index, int depth) {
    if (depth > kMostDepth) luaL_error(state_, "the value is too deep");
    luaL_checkstack(state_, 6, nullptr);
    lua_pushvalue(state_, index);
    if (pushContent(state_, -1)) lua_replace(state_, -2);
    const int table = lua_gettop(state_);
    const auto length = static_cast<lua_Integer>(lua_rawlen(state_, table));
    Value value;
    value.kind = length > 0 ? Value::Kind::kList : Value::Kind::kMap;
    for (lua_Integer i = 1; i <= length; ++i) {
      lua_rawgeti(state_, table, i);
      value.items.push_back(take(lua_gettop(state_), depth + 1));
      lua_pop(state_, 1);
    }
    lua_pushnil(state_);
    while (length == 0 && lua_next(state_, table) != 0) {
      if (lua_type(state_, -2) != LUA_TSTRING) luaL_error(state_, "the names of a map must be strings");
      content::Member member;
      member.key = text(lua_gettop(state_) - 1);
      member.value = take(lua_gettop(state_), depth + 1);
      value.members.push_back(std::move(member));
      lua_pop(state_, 1);
    }
    lua_settop(state_, table - 1);
    return value;
  }

  lua_State* const state_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

void pushJsonDeep(lua_State* state, std::string_view text, int depth) {
  if (depth > kMostDepth) luaL_error(state, "the value is too deep");
  luaL_checkstack(state, 4, nullptr);
  contextOf(state).meter.charge(state, 2);
  contextOf(state).meter.chargeBytes(state, text.size());
  switch (text.front()) {
    case '{':
    case '[': {
      lua_newtable(state);
      const bool isMap = text.front() == '{';
      lua_Integer at = 0;
      for (JsonParts parts(text); parts.next();) {
        if (isMap) {
          pushText(state, parts.name());
        } else {
          lua_pushinteger(state, ++at);
        }
        pushJsonDeep(state, parts.value(), depth + 1);
        lua_rawset(state, -3);
      }
      return;
    }
    case '"':
      return pushText(state, content::JsonCursor(text, 0).takeString().value_or(std::string()));
    case 't':
    case 'f':
      return lua_pushboolean(state, text.front() == 't' ? 1 : 0);
    case 'n':
      return lua_pushnil(state);
    default:
      return pushNumber(state, text);
  }
}

}  // namespace

void pushValue(lua_State* state, const Value& value) {
  luaL_checkstack(state, 4, "the value is too deep");
  contextOf(state).meter.charge(state, 2);
  switch (value.kind) {
    case Value::Kind::kNull:
      return lua_pushnil(state);
    case Value::Kind::kBool:
      return lua_pushboolean(state, value.text == "true" ? 1 : 0);
    case Value::Kind::kNumber:
      return pushNumber(state, value.text);
    case Value::Kind::kString:
      return pushText(state, value.text);
    case Value::Kind::kList: {
      lua_createtable(state, 0, 0);
      lua_Integer at = 0;
      for (const Value& item : value.items) {
        pushValue(state, item);
        lua_rawseti(state, -2, ++at);
      }
      return;
    }
    case Value::Kind::kMap:
      lua_createtable(state, 0, 0);
      for (const content::Member& member : value.members) {
        pushText(state, member.key);
        pushValue(state, member.value);
        lua_rawset(state, -3);
      }
      return;
  }
}

void pushJson(lua_State* state, std::string_view text) { pushJsonDeep(state, text, 0); }

Value takeValue(lua_State* state, int index) { return ValueTaker(state).take(lua_absindex(state, index), 0); }

void pushConfig(lua_State* state) {
  const ScriptUse& use = runningCall(state).use();
  const PaidByState shared(contextOf(state).meter);
  const auto number = static_cast<lua_Integer>(use.number);
  if (lua_rawgetp(state, LUA_REGISTRYINDEX, &kConfigs) == LUA_TTABLE) {
    if (lua_rawgeti(state, -1, number) != LUA_TNIL) return lua_remove(state, -2);
    lua_pop(state, 1);
    lua_rawgeti(state, -1, 0);  // how many there are
    const lua_Integer count = lua_tointeger(state, -1) + 1;
    lua_pop(state, 1);
    if (count <= kMostConfigs) {
      lua_pushinteger(state, count);
      lua_rawseti(state, -2, 0);
    } else {
      lua_pop(state, 1);
      lua_pushnil(state);
    }
  }
  if (lua_isnil(state, -1)) {
    lua_pop(state, 1);
    lua_newtable(state);
    lua_pushvalue(state, -1);
    lua_rawsetp(state, LUA_REGISTRYINDEX, &kConfigs);
  }
  pushValue(state, use.config.unpacked());
  if (!lua_istable(state, -1)) {
    lua_pop(state, 1);
    lua_newtable(state);
  }
  freezeValue(state);
  lua_pushvalue(state, -1);
  lua_rawseti(state, -3, number);
  lua_remove(state, -2);
}

void eachText(lua_State* state, int index, const std::function<void(int, int)>& visit) {
  luaL_checktype(state, index, LUA_TTABLE);
  lua_pushvalue(state, index);
  if (pushContent(state, -1)) lua_replace(state, -2);
  const int table = lua_gettop(state);
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    contextOf(state).meter.charge(state, 2);
    if (lua_type(state, -2) != LUA_TSTRING) luaL_error(state, "the names must be strings");
    visit(table + 1, table + 2);
    lua_settop(state, table + 1);
  }
  lua_settop(state, table - 1);
}

}  // namespace sluice::filters::lua
