// math.random. Each call has numbers of its own, which no script can seed.
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

void openRandom(lua_State* state);

}  // namespace sluice::filters::lua
