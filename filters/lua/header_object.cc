#include "filters/lua/header_object.h"

#include <string>

#include "filters/lua/lua_object.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "proxy/base/text.h"
#include "proxy/http/field_grammar.h"
#include "proxy/http/hygiene.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters::lua {
namespace {

constexpr char kTrailersKey = 0;

/// The fields of a head, of the request or the response.
struct HeadFields {
  static const http::Headers& of(lua_State* state) { return runningCall(state).headers(); }
  static void change(lua_State* state) {
    if (runningCall(state).call().phase == processing::Phase::kConnect) {
      luaL_error(state, "in the phase connect no field can be changed");
    }
  }
  static void remove(lua_State* state, std::string_view name) {
    processing::Call& call = runningCall(state).call();
    if (call.response != nullptr) {
      call.response->headers.removeTwins(name);
    } else {
      call.edit.removeTwins(name);
    }
  }
  static void add(lua_State* state, std::string_view name, std::string_view value) {
    processing::Call& call = runningCall(state).call();
    if (call.response != nullptr) {
      call.response->headers.add(call.arena, name, value);
    } else {
      call.edit.add(name, value);
    }
  }
};

/// The fields behind a body.
struct TrailerFields {
  static http::Trailers& trailers(lua_State* state) {
    processing::Body* const body = runningCall(state).call().body;
    if (body == nullptr || body->trailers() == nullptr) luaL_error(state, "there are no trailers");
    return *body->trailers();
  }
  static const http::Headers& of(lua_State* state) { return trailers(state).fields; }
  static void change(lua_State* /*state*/) {}
  static void remove(lua_State* state, std::string_view name) { trailers(state).fields.removeTwins(name); }
  static void add(lua_State* state, std::string_view name, std::string_view value) {
    http::Trailers& to = trailers(state);
    to.fields.add(to.arena, to.arena.copy(name), to.arena.copy(value));
    http::checkTrailers(to.fields);  // removes fields that only a head may have
  }
};

/// Credentials that the gateway has put in for the Backend are not shown.
bool isShown(const http::Field& field) { return !http::isInjected(field.care); }

bool isNamed(const http::Field& field, std::string_view name) {
  return base::equalsIgnoringCase(field.name, name) && isShown(field);
}

template <typename Fields>
int getField(lua_State* state) {
  const std::string_view name = textArgument(state, 2);
  for (const http::Field& field : Fields::of(state)) {
    if (!isNamed(field, name)) continue;
    pushText(state, field.value);
    return 1;
  }
  lua_pushnil(state);
  return 1;
}

template <typename Fields>
int allFields(lua_State* state) {
  const std::string_view name = textArgument(state, 2);
  lua_newtable(state);
  lua_Integer count = 0;
  for (const http::Field& field : Fields::of(state)) {
    if (!isNamed(field, name)) continue;
    pushText(state, field.value);
    lua_rawseti(state, -2, ++count);
  }
  return 1;
}

template <typename Fields, bool kReplaces>
int putField(lua_State* state) {
  Fields::change(state);
  const std::string_view name = nameArgument(state, 2);
  const std::string_view value = fieldValue(state, 3);
  if (kReplaces) Fields::remove(state, name);
  Fields::add(state, name, value);
  return 0;
}

template <typename Fields>
int dropField(lua_State* state) {
  Fields::change(state);
  Fields::remove(state, nameArgument(state, 2));
  return 0;
}

/// The iterator of each(): the upvalue is the place of the next field.
template <typename Fields>
int nextField(lua_State* state) {
  const auto fields = Fields::of(state).all();
  auto at = static_cast<std::size_t>(lua_tointeger(state, lua_upvalueindex(1)));
  while (at < fields.size() && !isShown(fields[at])) ++at;
  lua_pushinteger(state, static_cast<lua_Integer>(at + 1));
  lua_replace(state, lua_upvalueindex(1));
  if (at >= fields.size()) {
    lua_pushnil(state);
    return 1;
  }
  pushText(state, fields[at].name);
  pushText(state, fields[at].value);
  return 2;
}

template <typename Fields>
int eachField(lua_State* state) {
  Fields::of(state);
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, nextField<Fields>, 1);
  return 1;
}

template <typename Fields>
void pushFields(lua_State* state, const char* name) {
  static constexpr luaL_Reg kMethods[] = {{"get", getField<Fields>},
                                          {"all", allFields<Fields>},
                                          {"set", putField<Fields, true>},
                                          {"add", putField<Fields, false>},
                                          {"remove", dropField<Fields>},
                                          {"each", eachField<Fields>},
                                          {nullptr, nullptr}};
  pushObject(state, name, kMethods);
}

}  // namespace

void pushHeaderObject(lua_State* state) { pushFields<HeadFields>(state, "m.headers"); }

void makeTrailerObject(lua_State* state) {
  pushFields<TrailerFields>(state, "m.trailers");
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kTrailersKey);
}

void pushTrailers(lua_State* state) {
  const processing::Body* const body = runningCall(state).call().body;
  if (body != nullptr && body->trailers() != nullptr) {
    lua_rawgetp(state, LUA_REGISTRYINDEX, &kTrailersKey);
  } else {
    lua_pushnil(state);
  }
}

std::string_view nameArgument(lua_State* state, int index) {
  const std::string_view given = textArgument(state, index);
  ScriptCall& call = runningCall(state);
  call.countChange(state, given.size());
  const std::string_view name = processing::editableField(given, call.call().arena);
  if (name.empty()) {
    pushText(state, processing::editableField(given).error().detail);
    luaL_argerror(state, index, lua_tostring(state, -1));
  }
  return name;
}

std::string_view fieldValue(lua_State* state, int index) {
  const std::string_view given = textArgument(state, index);
  if (!http::isFieldValue(given)) luaL_argerror(state, index, "is no value of a header field");
  ScriptCall& call = runningCall(state);
  call.countChange(state, given.size());
  return call.call().arena.copy(given);
}

}  // namespace sluice::filters::lua
