#include "filters/lua/message_object.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "filters/lua/body_object.h"
#include "filters/lua/header_object.h"
#include "filters/lua/lua_object.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "filters/lua/value_conversion.h"
#include "proxy/http/grammar.h"
#include "proxy/http/hygiene.h"

namespace sluice::filters::lua {
namespace {

using processing::Phase;

constexpr std::size_t kMostAnswerBytes = std::size_t{1024} * 1024;
constexpr char kDestinationKey = 0;

/// Pushes nil for an empty text.
void pushKnown(lua_State* state, std::string_view text) {
  if (text.empty()) {
    lua_pushnil(state);
  } else {
    pushText(state, text);
  }
}

// Each member of an object is read by such a function. Its argument is the state; it pushes the value.
using ReadMember = void (*)(lua_State* state);
struct ObjectMember {
  std::string_view name;
  ReadMember read;
};

template <const auto& kMembers>
int readMember(lua_State* state) {
  const std::string_view name = textArgument(state, 2);
  const auto found = std::find_if(std::begin(kMembers), std::end(kMembers),
                                  [&](const ObjectMember& each) { return each.name == name; });
  if (found == std::end(kMembers)) return luaL_error(state, "there is no field '%s'", lua_tostring(state, 2));
  found->read(state);
  return 1;
}

constexpr ObjectMember kSourceMembers[] = {
    {"address", [](lua_State* state) { pushKnown(state, runningCall(state).peer().address); }},
    {"namespace", [](lua_State* state) { pushKnown(state, runningCall(state).peer().nameSpace); }},
    {"principal", [](lua_State* state) { pushKnown(state, runningCall(state).peer().principal); }},
    {"assurance", [](lua_State* state) { pushKnown(state, processing::shownAssurance(runningCall(state).peer())); }},
    {"serviceAccount", [](lua_State* state) { pushKnown(state, runningCall(state).peer().serviceAccount); }},
};

void pushSourceObject(lua_State* state) {
  lua_pushcfunction(state, readMember<kSourceMembers>);
  pushObject(state, "m.source", refuseField);
}

const processing::Destination& destinationOf(lua_State* state) { return *runningCall(state).call().destination; }

constexpr ObjectMember kDestinationMembers[] = {
    {"host", [](lua_State* state) { pushKnown(state, destinationOf(state).host()); }},
    {"port", [](lua_State* state) { lua_pushinteger(state, destinationOf(state).port()); }},
    {"sni", [](lua_State* state) { pushKnown(state, destinationOf(state).serverName()); }},
    {"address",
     [](lua_State* state) {
       const auto addresses = destinationOf(state).addresses();
       pushKnown(state, addresses.empty() ? std::string_view() : addresses.front().ip);
     }},
};

int answerClient(lua_State* state) {
  ScriptCall& script = runningCall(state);
  const lua_Integer status = luaL_checkinteger(state, 2);
  luaL_argcheck(state, status >= 200 && status <= 599, 2, "is no final status");
  base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                    "a processor has answered this request");
  error.status = static_cast<std::uint16_t>(status);
  processing::Reply reply{std::move(error)};
  if (!lua_isnoneornil(state, 3)) {
    eachText(state, 3, [&](int name, int value) {
      const std::string_view lower = nameArgument(state, name);
      reply.fields.emplace_back(lower, fieldValue(state, value));
    });
  }
  if (!lua_isnoneornil(state, 4)) {
    const std::string_view body = textArgument(state, 4);
    luaL_argcheck(state, body.size() <= kMostAnswerBytes, 4, "is longer than 1 MiB");
    reply.body = std::string(body);
  }
  script.reply = std::move(reply);
  contextOf(state).meter.stop(state, ScriptEnd::kAnswered, {});
}

processing::Destination& narrowable(lua_State* state) {
  ScriptCall& script = runningCall(state);
  if (script.call().phase != Phase::kConnect) luaL_error(state, "is possible in the phase connect only");
  script.countChange(state,
                     script.call().destination->addresses().size() * sizeof(processing::Destination::ResolvedAddress));
  return *script.call().destination;
}

int denyDestination(lua_State* state) {
  narrowable(state).narrow(runningCall(state).call().arena, [](const auto&) { return false; });
  return 0;
}

int keepAddresses(lua_State* state) {
  luaL_checktype(state, 2, LUA_TTABLE);
  const lua_Integer count = luaL_len(state, 2);
  luaL_argcheck(state, count >= 0 && count <= 256, 2, "has too many addresses");
  std::vector<std::string> kept;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_geti(state, 2, i);
    kept.emplace_back(textArgument(state, -1));
    lua_pop(state, 1);
  }
  narrowable(state).narrow(runningCall(state).call().arena, [&](const processing::Destination::ResolvedAddress& each) {
    return std::find(kept.begin(), kept.end(), each.ip) != kept.end();
  });
  return 0;
}

processing::RouteWish& wishOf(lua_State* state) {
  processing::RouteWish* const wish = runningCall(state).call().wish;
  if (wish == nullptr) luaL_error(state, "the route cannot be matched again in this phase or scope");
  return *wish;
}

int matchAgain(lua_State* state) {
  wishOf(state).matchAgain = true;
  return 0;
}

int addHint(lua_State* state) {
  processing::RouteWish& wish = wishOf(state);
  const std::string_view name = nameArgument(state, 2);
  const std::string_view value = fieldValue(state, 3);
  wish.hints.removeTwins(name);
  wish.hints.add(runningCall(state).call().arena, name, value);
  return 0;
}

constexpr luaL_Reg kMessageMethods[] = {{"respond", answerClient}, {"deny", denyDestination}, {"keep", keepAddresses},
                                        {"rematch", matchAgain},   {"hint", addHint},         {nullptr, nullptr}};

const http::RequestHead& requestOf(lua_State* state) { return runningCall(state).call().request; }

constexpr ObjectMember kMessageMembers[] = {
    {"method", [](lua_State* state) { pushText(state, requestOf(state).methodText); }},
    {"path", [](lua_State* state) { pushText(state, requestOf(state).openTarget()); }},
    {"authority", [](lua_State* state) { pushText(state, requestOf(state).authority); }},
    {"scheme",
     [](lua_State* state) { pushText(state, requestOf(state).scheme == http::Scheme::kHttps ? "https" : "http"); }},
    {"status",
     [](lua_State* state) {
       const http::ResponseHead* const response = runningCall(state).call().response;
       if (response != nullptr) {
         lua_pushinteger(state, response->status);
       } else {
         lua_pushnil(state);
       }
     }},
    {"body", pushBody},
    {"trailers", pushTrailers},
    {"config", pushConfig},
    {"destination",
     [](lua_State* state) {
       if (runningCall(state).call().destination != nullptr) {
         lua_rawgetp(state, LUA_REGISTRYINDEX, &kDestinationKey);
       } else {
         lua_pushnil(state);
       }
     }},
};

/// The members whose object is the same for every message.
constexpr ObjectMember kLastingMembers[] = {{"headers", pushHeaderObject}, {"source", pushSourceObject}};

/// Raises an error unless the member can be changed in this phase.
void checkChangeable(lua_State* state, const ScriptCall& script, const char* member) {
  if (script.isOfRequest() && script.call().phase != Phase::kConnect) return;
  luaL_error(state, "%s can be changed in phases of the request only, and not in connect", member);
}

/// Returns true for methods that decide whether a message has a body.
bool isFraming(http::Method method) { return method == http::Method::kConnect || method == http::Method::kHead; }

void writeMethod(lua_State* state, ScriptCall& script) {
  constexpr std::size_t kLongestMethod = 32;
  checkChangeable(state, script, "m.method");
  processing::Call& call = script.call();
  const std::string_view given = textArgument(state, 3);
  if (given.size() > kLongestMethod || !http::isToken(given)) luaL_error(state, "m.method must be a method of HTTP");
  const http::Method method = http::methodFrom(given);
  const bool isBound = call.request.body == http::Body::kTunnel || !call.request.target.starts_with('/');
  if (isBound || isFraming(call.request.method) || isFraming(method)) {
    luaL_error(state, "m.method can be changed neither from nor to CONNECT or HEAD, nor for a tunnel or the target *");
  }
  // The request as the client's side knows it decides whether a failed attempt may be made once more.
  const bool isOfAttempt = call.wish == nullptr || call.phase == Phase::kBackendRequest;
  if (isOfAttempt && http::isIdempotent(call.request.method) && !http::isIdempotent(method)) {
    luaL_error(state, "m.method of an attempt must stay one that may be sent again");
  }
  script.countChange(state, given.size());
  call.edit.setMethod(call.arena.copy(given));
}

void writePath(lua_State* state, ScriptCall& script) {
  checkChangeable(state, script, "m.path");
  processing::Call& call = script.call();
  const std::string_view given = textArgument(state, 3);
  script.countChange(state, given.size());
  auto target = http::normalizeTarget(call.arena, call.arena.copy(given));
  if (!given.starts_with('/') || !target) luaL_error(state, "m.path must be a path");
  call.edit.setTarget(target->text);
}

void writeStatus(lua_State* state, ScriptCall& script) {
  http::ResponseHead* const response = script.call().response;
  const lua_Integer status = luaL_checkinteger(state, 3);
  if (response == nullptr) luaL_error(state, "m.status can be changed in phases of the response only");
  const bool isFinal = status >= 200 && status <= 599;
  if (!isFinal || http::statusForbidsBody(static_cast<std::uint16_t>(status)) ||
      http::statusForbidsBody(response->status)) {
    luaL_error(state, "m.status must be a final status with a body, in the place of another one");
  }
  response->status = static_cast<std::uint16_t>(status);
}

int writeMessage(lua_State* state) {
  const std::string_view name = textArgument(state, 2);
  ScriptCall& script = runningCall(state);
  if (name == "method") {
    writeMethod(state, script);
  } else if (name == "path") {
    writePath(state, script);
  } else if (name == "status") {
    writeStatus(state, script);
  } else {
    return refuseField(state);
  }
  return 0;
}

}  // namespace

void pushMessage(lua_State* state) {
  lua_pushcfunction(state, readMember<kDestinationMembers>);
  pushObject(state, "m.destination", refuseField);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kDestinationKey);
  makeTrailerObject(state);
  makeBodyObjects(state);
  // Members that are the same for every message are found in a table, without a call of a function.
  // The table has room for all of them, so those that come first are found at the first look.
  lua_createtable(state, 0, static_cast<int>(std::size(kLastingMembers) + std::size(kMessageMethods)));
  for (const ObjectMember& each : kLastingMembers) {
    pushText(state, each.name);
    each.read(state);
    lua_rawset(state, -3);
  }
  luaL_setfuncs(state, kMessageMethods, 0);
  lua_createtable(state, 0, 1);
  lua_pushcfunction(state, readMember<kMessageMembers>);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  pushObject(state, "m", writeMessage);
}

}  // namespace sluice::filters::lua
