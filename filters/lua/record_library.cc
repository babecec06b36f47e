#include "filters/lua/record_library.h"

#include <algorithm>
#include <string_view>

#include "filters/lua/lua_object.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"

namespace sluice::filters::lua {
namespace {

constexpr std::size_t kLongestCounterName = 64;

template <observe::LogLevel kLevel>
int writeLine(lua_State* state) {
  const std::string_view text = textArgument(state, 1);
  ScriptCall& script = runningCall(state);
  contextOf(state).meter.charge(state, 100);
  if (!script.mayRecord()) return 0;
  script.call().services.record({kLevel, script.use().type, script.use().name, text, script.call().place});
  return 0;
}

bool isCounterName(std::string_view name) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && name.size() <= kLongestCounterName && isLetter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

int addToMetric(lua_State* state) {
  const std::string_view name = textArgument(state, 1);
  const lua_Integer count = luaL_optinteger(state, 2, 1);
  luaL_argcheck(state, isCounterName(name), 1, "must be lower-case letters, digits and '_'");
  luaL_argcheck(state, count >= 0, 2, "must not be negative");
  ScriptCall& script = runningCall(state);
  contextOf(state).meter.charge(state, 50);
  if (!script.call().services.count(script.use().type, name, static_cast<std::uint64_t>(count))) {
    return luaL_error(state, "the type has too many metrics");
  }
  return 0;
}

}  // namespace

void openRecords(lua_State* state) {
  static constexpr luaL_Reg kLog[] = {{"debug", writeLine<observe::LogLevel::kDebug>},
                                      {"info", writeLine<observe::LogLevel::kInfo>},
                                      {"warn", writeLine<observe::LogLevel::kWarn>},
                                      {nullptr, nullptr}};
  static constexpr luaL_Reg kMetric[] = {{"add", addToMetric}, {nullptr, nullptr}};
  addLibrary(state, "log", kLog);
  addLibrary(state, "metric", kMetric);
}

}  // namespace sluice::filters::lua
