// sha256(text), hmac_sha256(key, text), base64.encode(text), base64.decode(text) and time().
#pragma once

#include <lua.hpp>

namespace sluice::filters::lua {

/// Adds them to the globals.
void openDigests(lua_State* state);

}  // namespace sluice::filters::lua
