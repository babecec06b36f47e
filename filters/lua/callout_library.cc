#include "filters/lua/callout_library.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "filters/lua/header_object.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "filters/lua/value_conversion.h"
#include "proxy/base/duration.h"
#include "proxy/http/grammar.h"
#include "proxy/http/hygiene.h"

namespace sluice::filters::lua {
namespace {

/// The number of bytes that are given to a callout at a time; limits.exchangeBuffer is never smaller.
constexpr std::size_t kCalloutPiece = std::size_t{16} * 1024;
/// The cost of a look at an answer that has not come.
constexpr std::uint64_t kLook = 200;
// Places on the stack of the function.
constexpr int kOptions = 2;
constexpr int kBody = 3;
constexpr int kUnsent = 4;  // the place in the body of the first byte that is not sent

/// Pushes a member of the options, and returns it as a text; `otherwise` if it is absent.
std::string_view optionText(lua_State* state, const char* name, std::string_view otherwise) {
  const int type = lua_getfield(state, kOptions, name);
  if (type == LUA_TNIL) return otherwise;
  if (type != LUA_TSTRING && type != LUA_TNUMBER) luaL_error(state, "%s must be a string", name);
  return textArgument(state, -1);
}

/// Returns nullptr if there is no such Backend.
std::shared_ptr<const processing::CalloutTarget> findBackend(const ScriptUse& use, std::string_view name) {
  for (const ScriptBackend& each : use.backends) {
    if (each.name == name || each.qualifiedName == name) return each.target;
  }
  return nullptr;
}

base::Duration timeoutOption(lua_State* state, base::Duration most) {
  const int type = lua_getfield(state, kOptions, "timeout");
  base::Duration timeout = most;
  if (type == LUA_TNUMBER) {
    const std::chrono::duration<double> seconds(lua_tonumber(state, -1));
    if (!(seconds.count() > 0)) luaL_error(state, "timeout must be longer than zero");
    if (seconds < most) timeout = std::chrono::duration_cast<base::Duration>(seconds);
  } else if (type != LUA_TNIL) {
    const auto read = base::parseDuration(textArgument(state, -1));
    if (!read || *read <= base::Duration::zero()) luaL_error(state, "timeout must be a duration, such as \"100ms\"");
    timeout = *read;
  }
  lua_pop(state, 1);
  return std::clamp(timeout, base::Duration(1), most);
}

void addOptionFields(lua_State* state, http::RequestHead& head) {
  if (lua_getfield(state, kOptions, "headers") != LUA_TNIL) {
    eachText(state, lua_gettop(state), [&](int name, int value) {
      const std::string_view lower = nameArgument(state, name);
      head.headers.add(runningCall(state).call().arena, lower, fieldValue(state, value));
    });
  }
  lua_pop(state, 1);
}

http::RequestHead headOf(lua_State* state) {
  ScriptCall& script = runningCall(state);
  base::Arena& arena = script.call().arena;
  http::RequestHead head;
  const std::string_view method = arena.copy(optionText(state, "method", "GET"));
  if (method.size() > 32 || !http::isToken(method) || method == "CONNECT")
    luaL_error(state, "method must be a method of HTTP");
  head.methodText = method;
  head.method = http::methodFrom(method);
  const std::string_view path = optionText(state, "path", "/");
  script.countChange(state, path.size());
  const auto target = http::normalizeTarget(arena, arena.copy(path));
  if (!path.starts_with('/') || !target) luaL_error(state, "path must be a path");
  head.target = target->text;
  addOptionFields(state, head);
  return head;
}

/// Pushes the answer as a table.
int giveAnswer(lua_State* state, const processing::Callout& callout) {
  lua_createtable(state, 0, 3);
  lua_pushinteger(state, callout.head()->status);
  lua_setfield(state, -2, "status");
  lua_newtable(state);
  for (const http::Field& field : callout.head()->headers) {
    pushText(state, field.name);
    lua_pushvalue(state, -1);
    if (lua_rawget(state, -3) == LUA_TNIL) {
      lua_pop(state, 1);
      pushText(state, field.value);
    } else {
      pushText(state, ", ");
      pushText(state, field.value);
      lua_concat(state, 3);
    }
    lua_rawset(state, -3);
  }
  lua_setfield(state, -2, "headers");
  pushText(state, callout.received().text());
  lua_setfield(state, -2, "body");
  return 1;
}

int giveFault(lua_State* state, ScriptCall& script, std::string_view why) {
  if (script.callout != nullptr) script.callout->cancel();
  script.callout = nullptr;
  lua_pushnil(state);
  pushText(state, why);
  return 2;
}

/// Sends more of the body, and returns the answer or waits for it.
int goOnWithCallout(lua_State* state, int /*status*/, lua_KContext /*context*/) {
  ScriptCall& script = runningCall(state);
  processing::Callout& callout = *script.callout;
  contextOf(state).meter.charge(state, kLook);
  const std::string_view body = lua_isnil(state, kBody) ? std::string_view() : textArgument(state, kBody);
  auto sent = static_cast<std::size_t>(lua_tointeger(state, kUnsent));
  while (sent < body.size() && callout.unsent() < kCalloutPiece && !callout.over()) {
    const std::string_view piece = body.substr(sent, kCalloutPiece - callout.unsent());
    callout.send(piece);
    sent += piece.size();
    if (sent == body.size()) callout.end();
  }
  lua_pushinteger(state, static_cast<lua_Integer>(sent));
  lua_replace(state, kUnsent);
  if (callout.error()) return giveFault(state, script, callout.error()->message());
  if (callout.received().size() > kMostCalloutBytes) return giveFault(state, script, "the answer is too long");
  if (callout.over() && callout.head() != nullptr) {
    script.callout = nullptr;
    return giveAnswer(state, callout);
  }
  return lua_yieldk(state, 0, 0, goOnWithCallout);
}

int callBackend(lua_State* state) {
  ScriptCall& script = runningCall(state);
  const std::string_view name = textArgument(state, 1);
  if (lua_isnoneornil(state, kOptions)) {
    lua_settop(state, 1);
    lua_newtable(state);
  }
  luaL_checktype(state, kOptions, LUA_TTABLE);
  lua_settop(state, kOptions);
  std::shared_ptr<const processing::CalloutTarget> target = findBackend(script.use(), name);
  if (target == nullptr) {
    return luaL_error(state, "the entry of the catalog names no Backend '%s'", lua_tostring(state, 1));
  }
  if (lua_isyieldable(state) == 0) return luaL_error(state, "call() cannot wait inside of this function");
  if (++script.callouts > kMostCallouts)
    return luaL_error(state, "at most %d calls of Backends", static_cast<int>(kMostCallouts));
  lua_getfield(state, kOptions, "body");
  const std::string_view body = lua_isnil(state, kBody) ? std::string_view() : textArgument(state, kBody);
  if (body.size() > kMostCalloutBytes) return luaL_error(state, "the body is longer than 1 MiB");
  lua_pushinteger(state, 0);  // kUnsent
  http::RequestHead head = headOf(state);
  head.body = body.empty() ? http::Body::kNone : http::Body::kLength;
  head.contentLength = body.size();
  const base::Duration timeout = timeoutOption(state, script.call().timeout);
  lua_settop(state, kUnsent);
  script.callout = &script.call().callout({.target = std::move(target), .head = head, .timeout = timeout});
  return goOnWithCallout(state, LUA_OK, 0);
}

}  // namespace

void openCallouts(lua_State* state) { lua_register(state, "call", callBackend); }

}  // namespace sluice::filters::lua
