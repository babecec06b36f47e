// call(backend, {method, path, headers, body, timeout}): a request of the script's own, for whose answer it waits.
#pragma once

#include <cstddef>
#include <lua.hpp>

namespace sluice::filters::lua {

inline constexpr unsigned kMostCallouts = 4;
inline constexpr std::size_t kMostCalloutBytes = std::size_t{1} * 1024 * 1024;

/// Adds it to the globals.
void openCallouts(lua_State* state);

}  // namespace sluice::filters::lua
