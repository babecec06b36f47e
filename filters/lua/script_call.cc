#include "filters/lua/script_call.h"

#include "filters/lua/script_context.h"

namespace sluice::filters::lua {

void ScriptCall::countChange(lua_State* state, std::size_t bytes) {
  changedBytes_ += bytes;
  if (++changes_ > kMostChanges)
    luaL_error(state, "a call must not change more than %d fields", static_cast<int>(kMostChanges));
  if (changedBytes_ > kMostChangedBytes) {
    luaL_error(state, "a call must not write more than %d bytes of fields", static_cast<int>(kMostChangedBytes));
  }
}

ScriptCall& runningCall(lua_State* state) {
  ScriptCall* const call = contextOf(state).call;
  if (call == nullptr) luaL_error(state, "there is no message while the script loads");
  return *call;
}

}  // namespace sluice::filters::lua
